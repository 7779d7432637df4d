// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/submitter.hpp>
#include <granary/detail/core/policy/eviction_policy.hpp>
#include <granary/detail/core/policy/plan_board.hpp>
#include <granary/detail/core/policy/policy.hpp>
#include <granary/detail/core/policy/system_view.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace granary {

/// Why a task leaves its place in a scheduler without having been chosen.
enum class GRANARY_EXPORT Withdrawal : std::uint8_t {
  Cancelled,     ///< it was ready, and will not run
  NeverReady,    ///< it was cancelled before it became ready
  InputEvicted,  ///< it was taken off the group's plan because one of its inputs was evicted; it can still run
};

/// Decides which task runs on which group and in which order. It is notified of events, reads the system through a
/// const view, and owns no thread, lock, clock or environment variable. A committed task runs, fails or is cancelled,
/// unless a worker gives it back, by itself or because the scheduler had it stopped. The scheduler may publish on the
/// board what a group will run after its committed tasks; eviction policies read it there.
///
/// If it throws, or answers what it must not, the run fails with an Error that names the scheduler, the task and what
/// it did, and it is not called any more; `attach` and `check` may refuse with any Error of their own.
///
/// ```cpp
/// #include <granary/granary.hpp>
/// #include <granary/policy.hpp>
/// struct LastReady : granary::Scheduler {  // runs the task that became ready last
///   granary::SystemView const* system = nullptr;
///   std::vector<granary::TaskId> tasks;
///
///   void attach(granary::SystemView const& view, granary::PlanBoard&) override { system = &view; }
///   void ready(granary::TaskId task) override { tasks.push_back(task); }
///   void withdrawn(granary::TaskId task, granary::Withdrawal, granary::GroupId) override { std::erase(tasks, task); }
///   granary::TaskId next(granary::GroupId group) override {
///     auto const allowed = [&](granary::TaskId task) { return system->task(task).allowed_on(group); };
///     auto const found = std::find_if(tasks.rbegin(), tasks.rend(), allowed);
///     auto const task = found == tasks.rend() ? granary::TaskId() : *found;
///     std::erase(tasks, task);
///     return task;
///   }
/// };
/// granary::register_scheduler("last-ready", [](granary::PolicyOptions&) { return std::make_unique<LastReady>(); });
/// granary::Runtime runtime({.scheduler = "last-ready"});
/// ```
class GRANARY_EXPORT Scheduler : public Policy {
 public:
  /// Called once, before anything else; the view and the board outlive the scheduler.
  virtual void attach(SystemView const& view, PlanBoard& board) = 0;

  /// The task may run now: its predecessors have finished, and it has its turn on data on which it commutes, unless the
  /// scheduler chooses turns.
  /// Tasks that become ready between `finished(t)` or `external_finished(t)` and the next call of these or of
  /// `submitted` were released by t.
  virtual void ready(TaskId task) = 0;
  /// The next task to commit for the group: one that was reported ready and is allowed on the group; invalid when there
  /// is none. The scheduler forgets the task and takes it off the board.
  virtual TaskId next(GroupId group) = 0;
  /// A cancelled task must be forgotten and taken off the board; it exists until the call returns. One whose input was
  /// evicted is off the board of `group` already, and the scheduler holds it again; not with `keeps_plans`. `group` is
  /// invalid for the other reasons.
  virtual void withdrawn(TaskId task, Withdrawal why, GroupId group) = 0;

  /// The task waits only for the last task given to a device lane of the group, and all of its data are on the lane's
  /// node or being written there. Returns whether the scheduler hands the task over to the lane at once: then it
  /// forgets the task, takes it off the board, and gets no `ready` for it.
  [[nodiscard]] virtual bool hand_over(TaskId, GroupId) { return false; }

  /// True if the scheduler has running tasks stopped by `abort_for`. Then values that restartable tasks overwrite on
  /// CPU workers are kept aside where there is room, which costs a copy for each.
  [[nodiscard]] virtual bool aborts_tasks() const { return false; }
  /// Only with `aborts_tasks`: a task that its worker shall stop, so that the group may run it or its worker another
  /// one; invalid when there is none. Asked when `next` has given the group all that it gives now and all of that was
  /// handed to workers, whether one of them is idle or not; and again after each task that it named. The task must be
  /// one for which `SystemView::may_abort`.
  ///
  /// A task that was stopped is reported as given back: `finished`, `submitted`, `ready`. It may have ended all the
  /// same: then only `finished` is called. Of a scheduler that aborts tasks, every group is asked for its next task
  /// again, and then for one to stop, when one of the groups got a task, when a task that may be stopped was handed to
  /// its worker, and when the worker of one that was to be stopped has answered.
  [[nodiscard]] virtual TaskId abort_for(GroupId) { return {}; }

  /// The limit of committed tasks of the group beyond those that its workers have, where `depth` is the one that the
  /// user chose (PlannerOptions::depth), not 0. A scheduler that leaves room for more may raise it.
  [[nodiscard]] virtual std::uint32_t most_ahead(GroupId, std::uint32_t depth) const { return depth; }

  /// True if the scheduler chooses which task has the next turn on data on which tasks commute. Then these are ready
  /// without their turns, and have them from the call of `next` that returns them until they are finished: it may
  /// return only one for which `SystemView::may_take_turn`. All groups are asked again when a turn has ended.
  [[nodiscard]] virtual bool chooses_turns() const { return false; }

  /// True if a planned task stays in its plan when one of its inputs is evicted; otherwise it is withdrawn.
  [[nodiscard]] virtual bool keeps_plans() const { return false; }

  /// True if the scheduler uses priorities; if not, a run whose tasks have priorities prints a warning.
  [[nodiscard]] virtual bool heeds_priorities() const { return true; }

  /// The eviction policy of this name, if it belongs to the scheduler; null: one of the registry is meant. Asked at
  /// most once, before `attach`.
  [[nodiscard]] virtual std::unique_ptr<EvictionPolicy> own_eviction(std::string_view) { return nullptr; }

  /// The scheduler was attached in the middle of a run: all tasks that no group has were submitted to it, those that
  /// can run were reported ready, and it was told of all replicas.
  virtual void caught_up() {}

  /// One line for summaries: what the scheduler decided for the whole run; empty: nothing to say.
  [[nodiscard]] virtual std::string remark() const { return {}; }
  /// Named counters of the scheduler, for reports.
  [[nodiscard]] virtual std::vector<std::pair<std::string, double>> counters() const { return {}; }

  /// A task that workers run is about to be submitted: throws InvalidArgument if the scheduler cannot have it, and
  /// nothing has changed then. The list holds the submission's accesses, merged.
  virtual void check(TaskSubmission const&, AccessList const&) const {}
  /// The task was submitted; its predecessors may still run.
  virtual void submitted(TaskId) {}
  /// The task was handed to a worker.
  virtual void issued(TaskId) {}
  /// A task returned by `next` or handed over has ended: it ran, failed or was cancelled. It exists until the
  /// call returns. If a worker gave it back, `submitted` of the same task follows, and `ready`.
  virtual void finished(TaskId) {}
  /// A task that no worker runs has ended. It is not reported otherwise.
  virtual void external_finished(TaskId) {}
  /// Nothing is under way, and no group took one of the ready tasks: all groups are asked once more.
  virtual void stalled() {}
  /// The last registration of the datum was released: tasks that were submitted use it, and the next one that does uses
  /// another datum, or a new registration.
  virtual void released(DataId) {}
  /// The datum was allocated on the node: a transfer to it was requested, a task will write it there, or it was kept
  /// there for a task that came back.
  virtual void replica_expected(DataId, NodeId) {}
  /// The datum's current value can be read on the node.
  virtual void replica_valid(DataId, NodeId) {}
  /// The datum was removed from the node: evicted, or overwritten elsewhere.
  virtual void replica_dropped(DataId, NodeId) {}
};

}  // namespace granary
