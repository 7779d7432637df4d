// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/trace/html_report.hpp>
#include <granary/detail/trace/load_bounds.hpp>

#include <vector>

namespace granary {

double add_shares_of_loads(Trace& trace, std::uint64_t tasks, double bound) {
  std::vector<double> flops(trace.machine.nodes.size(), 0);
  double all = 0;
  for (auto const& task : trace.tasks) {
    if (task.task.value() >= tasks) continue;
    flops[trace.machine[task.worker].node.index()] += task.flops;
    all += task.flops;
  }
  if (!(bound > 0) || !(all > 0)) return 0;
  double sum = 0;
  for (std::size_t node = 0; node < flops.size(); ++node) {
    if (trace.machine.nodes[node].kind != detail::NodeKind::Device || flops[node] == 0) continue;
    double const least = bound * flops[node] / all;
    trace.totals.emplace_back(least_bytes_loaded_into + trace.machine.nodes[node].name, least);
    sum += least;
  }
  return sum;
}

}  // namespace granary
