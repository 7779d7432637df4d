// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/planner/context.hpp>
#include <granary/detail/core/planner/dispatch/booking.hpp>
#include <granary/detail/core/planner/dispatch/live_task.hpp>
#include <granary/detail/core/planner/dispatch/prefetches.hpp>
#include <granary/detail/core/planner/dispatch/scheduler_calls.hpp>
#include <granary/detail/core/planner/movement/eviction_calls.hpp>
#include <granary/detail/core/planner/movement/replica_listener.hpp>

namespace granary::detail {

/// Tells the policies what happens to replicas and to plans. A planned task of which an input was evicted is taken off
/// its plan, unless the scheduler keeps plans: its position there is no longer justified.
class PolicyNews final : public ReplicaListener, public PlanBoard::Observer {
 public:
  PolicyNews(PlannerContext& context, SchedulerCalls& scheduler, EvictionCalls& eviction, PlanBoard& board,
             LiveTasks& tasks);
  /// It is told which data are forgotten.
  void tell(Booking& booking) { m_booking = &booking; }
  /// These are told which inputs are wanted, before any is.
  void tell(Prefetches& prefetches) { m_prefetches = &prefetches; }

  void allocated(DataId data, NodeId node) override { m_scheduler.replica_expected(data, node); }
  void arrived(DataId data, NodeId node) override { m_scheduler.replica_valid(data, node); }
  void dropped(DataId data, NodeId node, bool evicted) override;
  void forgotten(DataId data) override {
    m_tasks.forget(data);
    m_booking->forgotten(data);
  }
  void planned_uses_changed(DataId data, GroupId group) override { m_eviction.planned_uses_changed(data, group); }
  void inputs_wanted(TaskId task, GroupId group, PlanPosition position) override {
    if (m_scheduler.may_be_planned(task)) m_prefetches->want(task, group, position);
  }
  void inputs_given_up(TaskId task, GroupId group, PlanPosition position) override {
    m_prefetches->give_up(task, group, position);
  }
  void all_groups_asked() override;

 private:
  void withdraw(TaskId task, GroupId group, DataId lost);

  PlannerContext& m_context;
  SchedulerCalls& m_scheduler;
  EvictionCalls& m_eviction;
  PlanBoard& m_board;
  LiveTasks& m_tasks;
  Prefetches* m_prefetches = nullptr;
  Booking* m_booking = nullptr;
};

}  // namespace granary::detail
