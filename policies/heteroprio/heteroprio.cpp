// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/heteroprio/heteroprio.hpp>
#include <granary/detail/policies/heteroprio/heteroprio_spoliation.hpp>
#include <granary/detail/policies/registry.hpp>

#include <algorithm>
#include <memory>

namespace granary::detail {
namespace {
SchedulerRegistration const heteroprio_registration("heteroprio", [](PolicyOptions& options) {
  using Spoliating = SpoliatingHeteroprio;
  std::vector<std::string> const rules{"sp", "pp", "pc", "pcep", "pcept"};
  auto const chosen = options.choice("spoliation", "none", {"none", "sp", "pp", "pc", "pcep", "pcept"});
  if (chosen == "none") {
    return std::unique_ptr<Scheduler>(std::make_unique<HeteroprioScheduler>(HeteroprioOptions::read(options)));
  }
  auto const rule = static_cast<Spoliating::Rules>(std::ranges::find(rules, chosen) - rules.begin());
  return std::unique_ptr<Scheduler>(
      std::make_unique<Spoliating>(rule, HeteroprioOptions::read(options, Spoliating::defaults(rule))));
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

}  // namespace granary::detail
