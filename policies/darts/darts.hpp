// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/policies/common/slower_groups.hpp>
#include <granary/detail/policies/darts/darts_index.hpp>

#include <cstddef>
#include <cstdint>

namespace granary::detail {

/// DARTS (Gonthier, Thibault, Marchal: Algorithm 3 and sections 5.3, 5.4). When a group has no planned task left, it
/// finds the datum that, once loaded, frees the most computation per time to load it, and plans all the tasks that it
/// frees.
///
/// Data are compared by transfer_duration / computation_time, |S0|, max_prio, |S1|, task_left and finally by the lowest
/// id, so that the choice is deterministic. S0(D_opt) is planned by priority, then in the order of submission. Workers
/// of one kind on one node share a plan (section 7.3).
///
/// Departures from the paper: (1) Tasks that became free without a chosen D_opt (section 5.1: a unit is assigned all
/// the free tasks), because of a transfer for another task or a withdrawal, are planned before a datum is searched for.
/// (2) A group that finds no ready task takes one from the end of the longest plan, so that no group idles while
/// another has a queue; unless moving its inputs takes longer than what the other group does before it. (3) If kinds of
/// workers differ, Algorithm 3 plans a task only for groups that are nearly as fast on it as the fastest (the paper
/// assumes equal units); for slower ones see SlowerGroups.
///
/// A decision costs O(log ready tasks) amortised over the tasks that a load frees, plus O(readers) of the datum.
class GRANARY_EXPORT DartsScheduler final : public Scheduler {
 public:
  void attach(SystemView const& view, PlanBoard& board) override;
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  /// A task that will be free there (section 5.1) once its predecessor has ended, if the group is fast on it.
  [[nodiscard]] bool hand_over(TaskId task, GroupId group) override {
    return m_slower.is_fast(m_view->task(task), group);
  }
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override;
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
  [[nodiscard]] bool begins_sooner(Task const& task, GroupId group, GroupId planned) const;
  /// The group with the fewest planned and committed tasks for which `free(group)` holds; invalid when there is none.
  template <class Free>
  [[nodiscard]] GroupId least_queued(Free&& free) const;

  SystemView const* m_view = nullptr;
  PlanBoard* m_board = nullptr;
  DartsIndex m_index;
  SlowerGroups m_slower;
};

}  // namespace granary::detail
