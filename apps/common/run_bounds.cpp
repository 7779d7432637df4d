// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/run_bounds.hpp"

#include <granary/detail/bounds/bounds.hpp>
#include <granary/detail/trace/html_report.hpp>
#include <granary/detail/trace/load_bounds.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace granary::app {
namespace {

// Mean times of the run's tasks, by codelet, operations and kind of worker.
class MeasuredTimes {
 public:
  explicit MeasuredTimes(Trace const& trace) {
    for (auto const& task : trace.tasks) {
      if (task.failed || task.stopped) continue;
      auto const kind = trace.machine[task.worker].kind;
      auto& [time, tasks] = m_sums[{trace.codelets[task.codelet.index()], task.flops, kind}];
      time += task.end - task.begin;
      ++tasks;
    }
  }

  [[nodiscard]] std::optional<Duration> mean(std::string const& codelet, double flops, detail::WorkerKind kind) const {
    auto const found = m_sums.find({codelet, flops, kind});
    if (found == m_sums.end()) return std::nullopt;
    return found->second.first / found->second.second;
  }
  [[nodiscard]] bool has(std::string const& codelet, double flops) const {
    return mean(codelet, flops, detail::WorkerKind::Cpu) || mean(codelet, flops, detail::WorkerKind::Device);
  }

 private:
  std::map<std::tuple<std::string, double, detail::WorkerKind>, std::pair<Duration, std::int64_t>> m_sums;
};

void add_time_bounds(Trace& trace, detail::GraphRecorder const& graph) {
  MeasuredTimes const times(trace);
  auto const known = [&](auto const& task) {
    return times.has(graph.codelets()[task.codelet.index()].name, task.flops);
  };
  if (graph.tasks().empty() || !std::ranges::all_of(graph.tasks(), known)) return;
  auto const bounds = time_bounds(graph, trace.machine,
                                  [&](detail::Codelet const& codelet, double flops, detail::Worker const& worker) {
                                    return times.mean(codelet.name, flops, worker.kind);
                                  });
  trace.totals.emplace_back(least_seconds_measured, seconds(bounds.mixed));
  trace.totals.emplace_back("area seconds", seconds(bounds.area));
  trace.totals.emplace_back("critical path seconds", seconds(bounds.critical_path));
}

void add_load_bounds(Trace& trace, std::size_t operations, Operations const& known) {
  Bytes memory = 0;
  for (auto const& worker : trace.machine.workers) {
    if (worker.kind == detail::WorkerKind::Device) memory = std::max(memory, trace.machine[worker.node].capacity);
  }
  if (memory == 0) return;
  bool only_devices = true;
  for (auto const& task : trace.tasks) only_devices &= trace.machine[task.worker].kind == detail::WorkerKind::Device;
  auto const bound = known.compulsory > memory ? static_cast<double>(known.io_bound(memory)) : 0.0;
  double const all = add_shares_of_loads(trace, operations, bound);
  double const least = std::max(all, only_devices ? static_cast<double>(known.compulsory) : 0.0);
  if (least > 0) trace.totals.emplace_back(least_bytes_loaded, least);
}

}  // namespace

void add_bounds(Trace& trace, Operations const& operations) {
  if (trace.dropped > 0) return;  // not all tasks were recorded
  detail::GraphRecorder graph;
  DryRun tasks(graph);
  operations.emit(tasks);
  add_time_bounds(trace, graph);
  add_load_bounds(trace, graph.tasks().size(), operations);
}

}  // namespace granary::app
