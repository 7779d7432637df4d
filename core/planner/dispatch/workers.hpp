// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/planner/context.hpp>
#include <granary/detail/core/planner/dispatch/issued_places.hpp>
#include <granary/detail/core/planner/dispatch/live_task.hpp>
#include <granary/detail/core/planner/movement/movement.hpp>

#include <cstdint>
#include <vector>

namespace granary::detail {

/// The tasks that each worker was handed: how many, how long they are expected to take, and where they find their data.
class Workers {
 public:
  Workers(PlannerContext const& context, Movement const& movement)
      : m_context(context), m_workers(context.topology.machine().workers.size()), m_places(movement) {}

  /// The worker of the group that gets the next task, which takes `estimate`: an idle one, or the one with the least
  /// work among those that take more; invalid if there is none. An absent one comes after all others.
  [[nodiscard]] WorkerId find(WorkerGroup const& group, Duration estimate) const;
  /// True if the worker gets another task behind those that it holds.
  [[nodiscard]] bool takes_more(WorkerId worker, WorkerKind kind, Duration estimate) const;
  /// The last task that the worker was handed; it may have ended.
  [[nodiscard]] TaskId last(WorkerId worker) const { return m_workers[worker.index()].last; }

  /// The workers of the group that hold no task. O(workers).
  [[nodiscard]] std::uint32_t idle(WorkerGroup const& group) const;

  /// The worker of the task's assignment gets it, by a command that is added to these. `keep`: as in
  /// `Movement::begin_work`, which came before.
  void hand(LiveTask& task, Keep keep, std::vector<Command>& commands);
  void ended(LiveTask& task);
  /// The worker was told to stop the task, one of those that it holds; and the one of which that was not answered, or
  /// an invalid id.
  void abort(WorkerId worker, TaskId task) { m_workers[worker.index()].aborted = task; }
  [[nodiscard]] TaskId aborted(WorkerId worker) const { return m_workers[worker.index()].aborted; }
  /// The task does not run: nothing follows it. If nobody asked for that, the worker is absent until one of its tasks
  /// ends, it is back, or no task is left.
  void returned(LiveTask& task);
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
  IssuedPlaces m_places;
};

}  // namespace granary::detail
