// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/engine/engine_data.hpp>
#include <granary/detail/core/engine/inner_pool.hpp>
#include <granary/detail/core/engine/worker_lane.hpp>
#include <granary/detail/core/planner/command.hpp>
#include <granary/detail/core/planner/planner.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace granary::detail {

/// The workers' lanes, and their threads: one for each CPU worker, and one that drives all device workers.
class Lanes {
 public:
  /// A lane holds at most `issue_depth` tasks.
  Lanes(Topology const& topology, std::size_t issue_depth);

  /// Starts the threads: of CPU workers with `work`, of the devices with `drive`.
  void start(Machine const& machine, std::function<void(WorkerLane&)> const& work,
             std::function<void(LaneThread&)> const& drive);
  /// Makes `stopping` true, wakes all threads, and waits for their ends.
  void stop();
  [[nodiscard]] std::atomic<bool> const& stopping() const { return m_stopping; }

  /// By worker.
  [[nodiscard]] std::vector<std::unique_ptr<WorkerLane>> const& all() const { return m_lanes; }

  // Under the planner's lock.

  /// Tasks may be inner graphs from now on.
  void expect_expansions() { m_expand = true; }
  /// Hands the task to its worker, who sees it after `publish`. `view`: of the planner.
  void hand_over(RunCommand const& run, SystemView const& view, EngineData& data);
  /// Its worker shall stop the task if it still has it.
  void stop(AbortCommand const& abort) {
    m_lanes[abort.worker.index()]->stop.task.store(abort.task.value(), std::memory_order_relaxed);
  }
  /// Takes tasks from the worker that holds the most in the group of `idle`, unless that is `idle`: of those it has not
  /// started, the ones handed over last, at most half of all that it holds, rounded up. Calls `returned(task)` for
  /// each, the last one first.
  template <class Returned>
  void recall(WorkerLane const& idle, Topology const& topology, Returned&& returned) {
    auto const& workers = topology.group(topology.group_of(idle.id)).workers;
    auto const held = [&](WorkerId worker) { return m_lanes[worker.index()]->outstanding; };
    auto& fullest = *m_lanes[std::ranges::max_element(workers, {}, held)->index()];
    if (&fullest == &idle) return;
    for (auto left = (fullest.outstanding + 1) / 2; left > 0; --left) {
      TaskId const task = fullest.recall_last();
      if (!task.valid()) return;
      returned(task);
    }
  }
  /// Shows the workers what was handed to them; appends the bells of those that must be woken.
  void publish(Planner const& planner, std::vector<Bell*>& to_wake);
  /// Calls `answer` for each result, and `after` between two lanes.
  template <class Answer, class After>
  void take_results(Answer&& answer, After&& after) {
    for (auto& lane : m_lanes) {
      bool any = false;
      while (auto* const end = lane->finished.front()) {
        --lane->outstanding;
        answer(*end);
        lane->finished.pop();
        any = true;
      }
      if (any) after();
    }
  }

 private:
  std::vector<std::unique_ptr<WorkerLane>> m_lanes;  // by worker
  std::vector<std::unique_ptr<LaneThread>> m_threads;
  std::vector<std::unique_ptr<InnerPool>> m_inner;  // by group; null if tasks are not expanded
  std::vector<WorkerLane*> m_touched;               // were handed a task that is not published
  bool m_expand = false;
  alignas(64) std::atomic<bool> m_stopping = false;  // idle workers look at it all the time
};

}  // namespace granary::detail
