// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/policy/plan_board.hpp>
#include <granary/detail/core/policy/policy.hpp>
#include <granary/detail/core/policy/system_view.hpp>

#include <cstdint>
#include <string>
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
/// A scheduler that needs more derives from a further interface of scheduler_extensions.hpp as well: SystemEvents,
/// SchedulerLimits, TaskAborter, MetaScheduler.
///
/// If it throws, or answers what it must not, the run fails with an Error that names the scheduler, the task and what
/// it did, and it is not called any more; `attach` may refuse with any Error of its own.
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
class GRANARY_EXPORT Scheduler : public detail::Policy {
 public:
  /// What the planner does for the scheduler.
  struct Traits {
    /// A planned task stays in its plan when one of its inputs is evicted; otherwise it is withdrawn.
    bool keeps_plans = false;
    /// The scheduler chooses which task has the next turn on data on which tasks commute. Then these are ready without
    /// their turns, and have them from the call of `next` that returns them until they are finished: it may return only
    /// one for which `SystemView::may_take_turn`. All groups are asked again when a turn has ended.
    bool chooses_turns = false;
    /// The scheduler uses priorities; if not, a run whose tasks have priorities prints a warning.
    bool heeds_priorities = true;
  };

  /// Constants of the scheduler. Only a scheduler that uses others may change `keeps_plans`, which is asked for at each
  /// eviction.
  [[nodiscard]] virtual Traits traits() const { return {}; }

  /// Called once, before anything else but `traits`; the view and the board outlive the scheduler.
  virtual void attach(SystemView const& view, PlanBoard& board) = 0;

  /// The task was submitted; its predecessors may still run.
  virtual void submitted(TaskId) {}
  /// The task may run now: its predecessors have finished, and it has its turn on data on which it commutes, unless the
  /// scheduler chooses turns.
  /// Tasks that become ready between `finished(t)` or `SystemEvents::external_finished(t)` and the next call of these
  /// or of `submitted` were released by t.
  virtual void ready(TaskId task) = 0;
  /// The next task to commit for the group: one that was reported ready and is allowed on the group; invalid when there
  /// is none. The scheduler forgets the task and takes it off the board.
  virtual TaskId next(GroupId group) = 0;
  /// The task waits only for the last task given to a device lane of the group, and all of its data are on the lane's
  /// node or being written there. Returns whether the scheduler hands the task over to the lane at once: then it
  /// forgets the task, takes it off the board, and gets no `ready` for it.
  [[nodiscard]] virtual bool hand_over(TaskId, GroupId) { return false; }
  /// A cancelled task must be forgotten and taken off the board; it exists until the call returns. One whose input was
  /// evicted is off the board of `group` already, and the scheduler holds it again; not with `Traits::keeps_plans`.
  /// `group` is invalid for the other reasons.
  virtual void withdrawn(TaskId task, Withdrawal why, GroupId group) = 0;
  /// The task was handed to a worker.
  virtual void issued(TaskId) {}
  /// A task returned by `next` or handed over has left its group: it ran, failed, was cancelled, or was given back by
  /// its worker. It exists until the call returns. After a give-back, `submitted` and `ready` of the same task follow.
  virtual void finished(TaskId) {}

  /// One line for summaries: what the scheduler decided for the whole run; empty: nothing to say.
  [[nodiscard]] virtual std::string remark() const { return {}; }
  /// Named counters of the scheduler, for reports.
  [[nodiscard]] virtual std::vector<std::pair<std::string, double>> counters() const { return {}; }
};

}  // namespace granary
