// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/submitter.hpp>
#include <granary/detail/core/policy/eviction_policy.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

// Interfaces for schedulers that need more than Scheduler: a scheduler derives from those that it needs as well, and
// the planner finds them.
namespace granary {

/// Events beside those of the scheduler's own tasks.
///
/// ```cpp
/// #include <granary/policy.hpp>
/// struct CountsArrivals : granary::Scheduler, granary::SystemEvents {
///   std::size_t arrived = 0;
///   std::vector<granary::TaskId> tasks;
///
///   void attach(granary::SystemView const&, granary::PlanBoard&) override {}
///   void replica_valid(granary::DataId, granary::NodeId) override { ++arrived; }
///   void ready(granary::TaskId task) override { tasks.push_back(task); }
///   void withdrawn(granary::TaskId task, granary::Withdrawal, granary::GroupId) override { std::erase(tasks, task); }
///   granary::TaskId next(granary::GroupId) override {  // all workers are alike
///     if (tasks.empty()) return {};
///     auto const task = tasks.back();
///     tasks.pop_back();
///     return task;
///   }
/// };
/// ```
class GRANARY_EXPORT SystemEvents {
 public:
  virtual ~SystemEvents() = default;

  /// A task that no worker runs has ended. It is not reported otherwise.
  virtual void external_finished(TaskId) {}
  /// Nothing is under way, and no group took one of the ready tasks: all groups are asked once more.
  virtual void stalled() {}
  /// The last registration of the datum was released: only tasks that were submitted already use it. Later tasks use
  /// other data, or a new registration of this datum.
  virtual void released(DataId) {}
  /// The datum was allocated on the node: a transfer to it was requested, a task will write it there, or it was kept
  /// there for a task that came back.
  virtual void replica_expected(DataId, NodeId) {}
  /// The datum's current value can be read on the node.
  virtual void replica_valid(DataId, NodeId) {}
  /// The datum was removed from the node: evicted, overwritten elsewhere, lost or forgotten.
  virtual void replica_dropped(DataId, NodeId) {}
  /// The scheduler was attached in the middle of a run, by a MetaScheduler: all tasks that no group has were submitted
  /// to it, those that can run were reported ready, and it was told of all replicas.
  virtual void caught_up() {}
};

/// Limits of the tasks that a scheduler takes.
class GRANARY_EXPORT SchedulerLimits {
 public:
  virtual ~SchedulerLimits() = default;

  /// A task that workers run is about to be submitted: throws InvalidArgument, or any other Error, if the scheduler
  /// cannot have it, and nothing has changed then. The list holds the submission's accesses, merged.
  virtual void check(TaskSubmission const&, detail::AccessList const&) const {}
  /// The limit of committed tasks of the group beyond those that its workers have, where `depth` is the one that the
  /// user chose (PlannerOptions::depth), not 0. A scheduler that leaves room for more may raise it.
  [[nodiscard]] virtual std::uint32_t most_ahead(GroupId, std::uint32_t depth) const { return depth; }
};

/// For schedulers that have running tasks stopped. Then values that restartable tasks overwrite on CPU workers are kept
/// aside where there is room, which costs a copy for each.
class GRANARY_EXPORT TaskAborter {
 public:
  virtual ~TaskAborter() = default;

  /// Returns a running task to stop, or an invalid id: the group may then run that task, or its worker another one. The
  /// task must satisfy `SystemView::may_abort`. Called after `next`, when all tasks that the group has were handed to
  /// workers, whether or not one of these is idle; and again after each task that it returned.
  ///
  /// A stopped task is reported as given back: `finished`, `submitted`, `ready`. If it ended before it was stopped,
  /// only `finished` is called. For such a scheduler every group is asked again, first by `next`, then by `abort_for`,
  /// when a group got a task, when a task that may be stopped was handed to its worker, and when a worker has answered
  /// a request to stop.
  [[nodiscard]] virtual TaskId abort_for(GroupId group) = 0;
};

/// For schedulers that choose among other schedulers, as `auto` does.
class GRANARY_EXPORT MetaScheduler {
 public:
  /// Does the long computations of the scheduler, for which a call of the planner has no time.
  class Background {
   public:
    virtual ~Background() = default;
    /// Work that asks every few milliseconds whether its result is still wanted, and ends if it is not. The question
    /// may not return, if the process ends.
    using Work = std::function<void(std::function<bool()> const& wanted)>;
    /// Another thread calls `work`, at most once and outside of the planner's lock; if the system has no thread for
    /// that, `start` calls it. So `work` must not use the system view, the board or the scheduler, which may be gone.
    /// It does not throw.
    virtual void start(Work work) = 0;
  };

  virtual ~MetaScheduler() = default;

  /// The eviction policy of this name, if it belongs to the scheduler; null: one of the registry is meant. Asked at
  /// most once, before `attach`.
  [[nodiscard]] virtual std::unique_ptr<EvictionPolicy> own_eviction(std::string_view) { return nullptr; }
  /// Called at most once, before `attach`, by a driver that has one, which outlives the scheduler. In the simulator
  /// nothing calls it: the scheduler computes at once, so that results can be reproduced.
  virtual void compute_in(Background&) {}
};

}  // namespace granary
