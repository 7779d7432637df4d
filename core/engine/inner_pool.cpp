// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/inner_pool.hpp>
#include <granary/detail/core/planner/driver_rules.hpp>

#include <utility>

namespace granary::detail {

void InnerPool::publish(InnerRun& run) {
  {
    std::lock_guard const lock(m_mutex);
    m_runs.push_back(&run);
    count_ready();
  }
  wake(m_ready.load(), run.parent);
}

InnerPool::Taken InnerPool::take(InnerRun* preferred) {
  if (!has_ready()) return {};
  std::lock_guard const lock(m_mutex);
  auto const [run, task] = take_inner_task(preferred, m_runs);
  if (task == nullptr) return {};
  count_ready();
  return {run, task};
}

void InnerPool::ended(Taken const& taken, Duration duration, std::exception_ptr error, WorkerLane const& by) {
  auto& parent = taken.run->parent;
  bool finished = false;
  {
    std::lock_guard const lock(m_mutex);
    auto& graph = taken.run->graph;
    taken.run->busy += duration;
    if (error) {
      graph.failed(taken.task->id, std::move(error));
    } else {
      graph.done(taken.task->id);
    }
    count_ready();
    finished = graph.finished();
    if (finished) taken.run->finished.store(true);
  }
  if (finished && &parent != &by) parent.bell.ring();
  wake(m_ready.load(), by);
}

void InnerPool::withdraw(InnerRun& run) {
  std::lock_guard const lock(m_mutex);
  std::erase(m_runs, &run);
}

void InnerPool::count_ready() {
  std::size_t ready = 0;
  for (auto const* run : m_runs) ready += run->graph.ready();
  m_ready.store(ready);
}

void InnerPool::wake(std::size_t most, WorkerLane const& but) {
  for (std::size_t l = 0; most > 0 && l < m_lanes.size(); ++l) {
    if (m_lanes[l] != &but && m_lanes[l]->bell.ring()) --most;
  }
}

}  // namespace granary::detail
