// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/policies/registry.hpp>
#include <granary/policies/schedulers/prio.hpp>

#include <memory>

namespace granary {
namespace {
SchedulerRegistration const registration("prio", [](PolicyOptions&) { return std::make_unique<PrioScheduler>(); });
}  // namespace

void PrioScheduler::attach(SystemView const& view, PlanBoard&) { m_view = &view; }

void PrioScheduler::ready(TaskId task) {
  auto const& ready_task = m_view->task(task);
  m_queues.push(ready_task.allowed_groups, {ready_task.priority, task});
}

TaskId PrioScheduler::next(GroupId group) { return m_queues.take(group); }

void PrioScheduler::cancelled(TaskId task) { m_queues.cancel(task); }

}  // namespace granary
