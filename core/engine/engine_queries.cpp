// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries of the engine's state.
#include <granary/core/engine/engine.hpp>
#include <granary/core/engine/engine_section.hpp>

#include <algorithm>
#include <mutex>

namespace granary {

// The task was accepted; no task with a device kernel has fitted a device so far.
void Engine::note_device_need(TaskSubmission const& submission) {
  if (!m_planner.codelet(submission.codelet).runs_on(WorkerKind::Device)) return;
  auto const& device = topology().machine()[m_unfit_device];
  Bytes need = 0;
  for (auto const& access : AccessList(submission.accesses)) {
    if (!access.repeated) need += round_up(m_planner.description(access.data).bytes, device.alignment);
  }
  m_device_need = std::max(m_device_need, need);
  if (need > device.capacity) return;
  m_unfit_device = {};
  m_device_need = 0;
}

// Not const, because every holder of the lock drains the events posted meanwhile.
EngineStatistics Engine::statistics() {
  EngineStatistics statistics;
  auto const elapsed = std::chrono::duration_cast<Duration>(Clock::now() - m_start);
  for (auto const& lane : m_lanes) {
    Duration const busy(lane->busy_nanoseconds.load(std::memory_order_relaxed));
    Duration const blocked(lane->blocked_nanoseconds.load(std::memory_order_relaxed));
    statistics.workers.push_back({.tasks = lane->tasks.load(std::memory_order_relaxed),
                                  .busy = busy,
                                  .blocked = blocked,
                                  .idle = elapsed - busy - blocked,
                                  .expanded = lane->expanded.load(std::memory_order_relaxed),
                                  .inner_tasks = lane->inner_tasks.load(std::memory_order_relaxed)});
  }
  {
    std::lock_guard const lock(m_lock);
    statistics.planner = m_planner.statistics();
    statistics.idle = m_planner.idle();
    statistics.priorities_ignored = m_prioritised && !m_planner.scheduler().heeds_priorities();
    statistics.device_need = m_device_need;
    statistics.waiting_for_data = m_waited;
    statistics.deciding = m_decided;
  }
  try_drain();
  return statistics;
}

Trace Engine::trace() {
  if (!m_recorder) return {};
  auto trace = [&] {
    std::lock_guard const lock(m_lock);
    return m_recorder->trace();
  }();
  try_drain();
  return trace;
}

std::string Engine::describe() {
  auto text = [&] {
    std::lock_guard const lock(m_lock);
    rethrow_if_broken();
    return m_planner.describe_waiting();
  }();
  try_drain();
  return text;
}

}  // namespace granary
