// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/schedules/schedule.hpp>
#include <granary/detail/schedules/signatures.hpp>

#include <granary/detail/core/base/stable_hash.hpp>

#include <array>

namespace granary {

std::uint64_t Schedule::graph_hash() const {
  std::uint64_t hash = stable_hash("");
  for (auto const& task : tasks) {
    std::array<char, 8> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(task.signature >> (8 * i));
    hash = stable_hash({bytes.data(), bytes.size()}, hash);
  }
  return hash;
}

Schedule unplaced_schedule(detail::Machine const& machine, detail::GraphRecorder const& graph) {
  Schedule schedule;
  for (auto const& worker : machine.workers) {
    schedule.workers.push_back({worker.name, worker.kind, machine[worker.node].name});
  }
  for (auto const& codelet : graph.codelets()) schedule.codelets.push_back(codelet.name);
  detail::TaskSignatures signatures;
  auto const bytes = [&](DataId data) { return graph.data()[data.index()].bytes; };
  for (auto const& task : graph.tasks()) {
    auto const& codelet = graph.codelets()[task.codelet.index()];
    if (codelet.external) continue;
    detail::AccessList const accesses(graph.accesses_of(task));
    schedule.tasks.push_back(
        {.codelet = task.codelet.value(), .signature = signatures.add(codelet, task.flops, accesses, bytes)});
  }
  return schedule;
}

}  // namespace granary
