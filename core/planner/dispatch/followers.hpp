// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/planner/dispatch/dispatch.hpp>

#include <vector>

namespace granary::detail {

/// Tasks that a device lane gets behind the task that they wait for: the lane continues while the end of that task is
/// reported and the next decision is made.
class Followers {
 public:
  Followers(PlannerContext const& context, SchedulerCalls& scheduler, Dispatch& dispatch, Movement const& movement);

  /// Hands followers to the group's lanes that could hold more, if no task is complete; false if there was none.
  bool issue(GroupId group);
  /// The device group with a lane whose last task writes what a task with these accesses reads, and for which no other
  /// task waits yet: the new one may be issued behind it. Later tasks wait for the group's next event, so that the lane
  /// is checked once per task that it got.
  [[nodiscard]] GroupId group_to_follow(AccessList const& accesses) const;

 private:
  [[nodiscard]] TaskId find(WorkerId worker, GroupId group);
  [[nodiscard]] bool may_follow(LiveTask const& task, LiveTask const& before, NodeId node) const;

  PlannerContext const& m_context;
  SchedulerCalls& m_scheduler;
  Dispatch& m_dispatch;
  Movement const& m_movement;
  bool m_has_devices;
  std::vector<TaskId> m_found;  // scratch of `find`
};

}  // namespace granary::detail
