// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/policy/scheduler.hpp>
#include <granary/policies/schedulers/darts_index.hpp>
#include <granary/policies/schedulers/slower_groups.hpp>

#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)

namespace granary {

/// DARTS (Gonthier, Thibault, Marchal: Algorithm 3 and sections 5.3, 5.4): when a group has no planned task left, finds
/// the datum that, once loaded, frees the most computation for the time that it takes to load, and plans all the tasks
/// that it frees.
///
/// Data are compared by transfer_duration / computation_time, |S0|, max_prio, |S1|, task_left and at last by the lowest
/// id, so that the choice does not depend on chance. S0(D_opt) is planned by priority, then in the order of submission.
/// Workers that share a node and a kind share a plan (section 7.3).
///
/// Departures: tasks that are free without D_opt having been chosen (section 5.1: a unit is assigned all the free
/// tasks), because a transfer for another task or a withdrawal made them so, are planned before a datum is searched
/// for; a group that finds no ready task takes one from the end of the longest plan, so that no group idles while
/// another has a queue. Where kinds of workers differ, Algorithm 3 plans a task only for groups that are nearly as fast
/// on it as the fastest (the paper assumes equal units); for slower ones see SlowerGroups.
///
/// A decision costs O(log ready tasks) amortised over the tasks that a load frees, beyond the O(readers) of the datum
/// itself.
class DartsScheduler final : public Scheduler {
 public:
  void attach(SystemView const& view, PlanBoard& board) override;
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  void cancelled(TaskId task) override;
  /// A task that is free there (section 5.1) once its predecessor has ended, where that is fast.
  [[nodiscard]] bool follows(TaskId task, GroupId group) override {
    return m_slower.is_fast(m_view->task(task), group);
  }
  void withdrawn(TaskId task, GroupId group) override;
  void replica_expected(DataId data, NodeId node) override;
  void replica_valid(DataId data, NodeId node) override;
  void replica_dropped(DataId data, NodeId node) override;

 private:
  void forget(Task const& task);
  void refresh_inputs(Task const& task, GroupId group);
  void refresh_on(DataId data, NodeId node);
  void plan(TaskId task, GroupId group);
  void plan_free_tasks();
  [[nodiscard]] TaskId given(TaskId task);
  [[nodiscard]] TaskId take_slowly(GroupId group);
  void fill(GroupId group);
  [[nodiscard]] TaskId steal(GroupId group);
  /// Of the groups for which `free(group)` holds, the one with the fewest planned and committed tasks; invalid when
  /// there is none.
  template <class Free>
  [[nodiscard]] GroupId least_queued(Free&& free) const;

  SystemView const* m_view = nullptr;
  PlanBoard* m_board = nullptr;
  DartsIndex m_index;
  SlowerGroups m_slower;
};

}  // namespace granary

#pragma GCC visibility pop
