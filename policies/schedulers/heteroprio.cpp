// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/policies/registry.hpp>
#include <granary/policies/schedulers/heteroprio.hpp>

#include <memory>

namespace granary {
namespace {
SchedulerRegistration const heteroprio_registration("heteroprio", [](PolicyOptions& options) {
  return std::make_unique<HeteroprioScheduler>(HeteroprioOptions::read(options));
});
}  // namespace

void HeteroprioScheduler::attach(SystemView const& view, PlanBoard&) {
  m_view = &view;
  m_buckets.attach(view, 1);
}

TaskId HeteroprioScheduler::next(GroupId group) {
  if (!m_buckets.look_for(group)) return {};
  for (auto const& level : m_buckets.levels(m_view->topology().group(group).kind)) {
    TaskId const task = m_buckets.first(level, 0, group, {});
    if (!task.valid()) continue;
    m_buckets.remove(task);
    return task;
  }
  return {};
}

}  // namespace granary
