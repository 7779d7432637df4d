// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks that run as inner graphs, without the planner's lock.
#include <granary/core/base/error.hpp>
#include <granary/core/engine/engine.hpp>
#include <granary/core/engine/engine_section.hpp>
#include <granary/core/planner/driver_rules.hpp>

#include <algorithm>
#include <utility>

namespace granary {

void Engine::make_inner_pools() {
  for (auto const& group : m_planner.topology().groups()) {
    auto& pool = m_inner.emplace_back();
    if (group.kind != WorkerKind::Cpu || group.workers.size() < 2) continue;
    std::vector<WorkerLane*> lanes;
    for (auto const worker : group.workers) lanes.push_back(m_lanes[worker.index()].get());
    pool = std::make_unique<InnerPool>(std::move(lanes));
    for (auto* lane : pool->lanes()) lane->inner = pool.get();
  }
}

void Engine::count_tasks_of(InnerPool& pool) {
  auto const group = m_planner.topology().group_of(pool.lanes().front()->id);
  auto const* const least = *std::ranges::min_element(pool.lanes(), {}, &WorkerLane::outstanding);
  pool.set_scarce(tasks_are_scarce(least->outstanding, m_planner.ahead(group)));
}

bool Engine::run_as_graph(WorkerLane& lane, LaneEntry& entry, TaskEnd& end) {
  if (entry.expand == nullptr || lane.inner == nullptr || !lane.inner->scarce()) return false;
  InnerRun run(*entry.accesses, entry.addresses(), entry.pitches(), lane);
  entry.expand(entry.parameters->get(), run.graph);
  if (run.graph.submitted() == 0) return false;
  if (lane.unannounced > 0) {
    announce(static_cast<std::uint32_t>(std::exchange(lane.unannounced, 0)));
    try_drain();
  }
  lane.inner->publish(run);
  while (!run.finished.load()) {
    if (help(lane, &run)) continue;
    wait_for(lane.bell, [&] { return run.finished.load() || lane.inner->has_ready(); });
  }
  lane.inner->withdraw(run);
  lane.expanded.store(lane.expanded.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  end.duration = run.busy;
  end.error = run.graph.error();
  return true;
}

// Runs one inner task, of the preferred graph if it has one ready; false when there is none.
bool Engine::help(WorkerLane& lane, InnerRun* preferred) {
  auto const taken = lane.inner->take(preferred);
  if (taken.run == nullptr) return false;
  auto const& graph = taken.run->graph;
  auto const& codelet = graph.codelet(*taken.task);
  auto const start = Clock::now();
  std::exception_ptr error;
  Duration blocked{0};
  try {
    auto const kernel = codelet.kernels[static_cast<std::size_t>(WorkerKind::Cpu)];
    if (kernel == nullptr) throw InvalidArgument("inner task " + codelet.name + " has no kernel for CPU workers");
    lane.inner_addresses.clear();
    for (auto const& access : taken.task->accesses) lane.inner_addresses.push_back(graph.address(access.data));
    blocked = m_backends.workers->run(kernel, codelet.launches_kokkos_kernels,
                                      {.data = lane.inner_addresses,
                                       .parameters = graph.parameters(taken.task->id).get(),
                                       .instance = lane.instance,
                                       .worker = lane.id,
                                       .name = codelet.name.c_str()});
  } catch (...) {
    error = std::current_exception();
  }
  auto const duration = std::chrono::duration_cast<Duration>(Clock::now() - start) - blocked;
  lane.count_busy(duration, blocked);
  lane.inner_tasks.store(lane.inner_tasks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  lane.inner->ended(taken, duration, std::move(error), lane);
  return true;
}

}  // namespace granary
