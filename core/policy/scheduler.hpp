// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/policy/plan_board.hpp>
#include <granary/core/policy/system_view.hpp>

#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// Decides which task runs on which group and in which order. It is told what happens, looks at the system through a
/// const view, and owns no thread, lock, clock or environment variable. Commit of a task is final; what a group will
/// run after its committed tasks may be published on the board, where eviction policies see it.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  /// Called once, before anything else; the view and the board outlive the scheduler.
  virtual void attach(SystemView const& view, PlanBoard& board) = 0;

  /// The task may run now: its predecessors have finished. Between `finished(t)` and the next `submitted` or `finished`
  /// the tasks that become ready are those that t released.
  virtual void ready(TaskId task) = 0;
  /// The next task to commit for the group, one that was reported ready and is allowed on the group; invalid when there
  /// is none for it. The scheduler forgets the task and takes it off the board.
  virtual TaskId next(GroupId group) = 0;
  /// The task, which the scheduler still has, was cancelled: forget it and take it off the board.
  virtual void cancelled(TaskId task) = 0;

  /// All that the task still waits for is the last task that a device lane of the group was given, and all of its data
  /// are on the lane's node or being written there: whether it may be given to the lane at once. If so, the scheduler
  /// forgets the task, which it is not told to be ready, and takes it off the board.
  [[nodiscard]] virtual bool follows(TaskId, GroupId) { return false; }

  /// Whether a planned task stays in its plan when one of its inputs is evicted; otherwise it is withdrawn.
  [[nodiscard]] virtual bool keeps_plans() const { return false; }

  /// Whether the priorities of tasks make a difference; where they do not, a run with some is warned of it.
  [[nodiscard]] virtual bool heeds_priorities() const { return true; }

  /// What the scheduler counted, by name, for reports.
  [[nodiscard]] virtual std::vector<std::pair<std::string, double>> counters() const { return {}; }

  /// The task was submitted; its predecessors may still run.
  virtual void submitted(TaskId) {}
  /// The task was cancelled before it became ready. It is still live during the call.
  virtual void abandoned(TaskId) {}
  /// The planned task was taken off the group's plan because one of its inputs was evicted; the scheduler has it again.
  virtual void withdrawn(TaskId, GroupId) {}
  /// The task was handed to a worker.
  virtual void issued(TaskId) {}
  /// A task that `next` gave, or that follows one, has ended: it ran, failed or was cancelled. It still lives now.
  virtual void finished(TaskId) {}
  /// The datum got a place on the node: a transfer to it was asked for, or a task will write it there.
  virtual void replica_expected(DataId, NodeId) {}
  /// The datum's present value can be read on the node.
  virtual void replica_valid(DataId, NodeId) {}
  /// The datum has lost its place on the node: evicted, or overwritten elsewhere.
  virtual void replica_dropped(DataId, NodeId) {}
};

}  // namespace granary

#pragma GCC visibility pop
