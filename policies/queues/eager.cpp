// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/queues/eager.hpp>
#include <granary/detail/policies/registry.hpp>

#include <memory>

namespace granary::detail {
namespace {
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
