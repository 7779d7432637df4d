// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/planner/context.hpp>

#include <cstdint>
#include <vector>

namespace granary::detail {

/// The tasks that each worker was handed: how many, and how long they are expected to take.
class Workers {
 public:
  explicit Workers(PlannerContext const& context)
      : m_context(context), m_workers(context.topology.machine().workers.size()) {}

  /// The worker of the group that gets the next task, which takes `estimate`: an idle one, or the one with the least
  /// work among those that take more; invalid if there is none. An absent one comes after all others.
  [[nodiscard]] WorkerId find(WorkerGroup const& group, Duration estimate) const;
  /// True if the worker gets another task behind those that it holds.
  [[nodiscard]] bool takes_more(WorkerId worker, WorkerKind kind, Duration estimate) const;
  /// The last task that the worker was handed; it may have ended.
  [[nodiscard]] TaskId last(WorkerId worker) const { return m_workers[worker.index()].last; }

  /// The workers of the group that hold no task. O(workers).
  [[nodiscard]] std::uint32_t idle(WorkerGroup const& group) const;

  void hand(WorkerId worker, TaskId task, Duration estimate);
  void ended(WorkerId worker, TaskId task, Duration estimate);
  /// The worker was told to stop the task, one of those that it holds; and the one of which that was not answered, or
  /// an invalid id.
  void abort(WorkerId worker, TaskId task) { m_workers[worker.index()].aborted = task; }
  [[nodiscard]] TaskId aborted(WorkerId worker) const { return m_workers[worker.index()].aborted; }
  /// The task does not run: nothing follows it. If nobody asked for that, the worker is absent until one of its tasks
  /// ends, it is back, or no task is left.
  void returned(WorkerId worker, TaskId task, Duration estimate);
  [[nodiscard]] bool absent(WorkerId worker) const { return m_workers[worker.index()].absent; }
  void back(WorkerId worker) { m_workers[worker.index()].absent = false; }
  void all_back() {
    for (auto& worker : m_workers) worker.absent = false;
  }

 private:
  struct State {
    std::uint32_t held = 0;
    Duration held_time{0};
    TaskId last;
    TaskId aborted;
    bool absent = false;
  };

  PlannerContext const& m_context;
  std::vector<State> m_workers;
};

}  // namespace granary::detail
