// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/policies/queues/queues_by_groups.hpp>
#include <granary/detail/policies/registry.hpp>

#include <cstdint>
#include <memory>

namespace granary::detail {
namespace {

/// EAGER (DARTS, section 4.1): all groups share one queue; tasks run in the order in which they became ready.
class EagerScheduler final : public Scheduler {
 public:
  void attach(SystemView const& view, PlanBoard& board) override;
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override;
  [[nodiscard]] Traits traits() const override { return {.heeds_priorities = false}; }
  [[nodiscard]] bool hand_over(TaskId, GroupId) override { return true; }

 private:
  SystemView const* m_view = nullptr;
  QueuesByGroups<FifoQueue> m_queues;
  std::uint64_t m_arrivals = 0;
};

SchedulerRegistration const eager_registration("eager",
                                               [](PolicyOptions&) { return std::make_unique<EagerScheduler>(); });
}  // namespace

void EagerScheduler::attach(SystemView const& view, PlanBoard&) { m_view = &view; }

void EagerScheduler::ready(TaskId task) { m_queues.push(m_view->task(task).allowed_groups, {m_arrivals++, task}); }

TaskId EagerScheduler::next(GroupId group) { return m_queues.take(group); }

void EagerScheduler::withdrawn(TaskId task, Withdrawal why, GroupId) {
  if (why == Withdrawal::Cancelled) m_queues.cancel(task);
}

}  // namespace granary::detail