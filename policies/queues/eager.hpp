// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/policies/queues/queues_by_groups.hpp>

#include <cstdint>

namespace granary::detail {

/// EAGER (DARTS, section 4.1): all groups share one queue; tasks run in the order in which they became ready.
class GRANARY_EXPORT EagerScheduler final : public Scheduler {
 public:
  void attach(SystemView const& view, PlanBoard& board) override;
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override;
  [[nodiscard]] bool heeds_priorities() const override { return false; }
  [[nodiscard]] bool hand_over(TaskId, GroupId) override { return true; }

 private:
  SystemView const* m_view = nullptr;
  QueuesByGroups<FifoQueue> m_queues;
  std::uint64_t m_arrivals = 0;
};

}  // namespace granary::detail
