// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/policy/plan_board.hpp>

#include <algorithm>

namespace granary {

void PlanBoard::append(GroupId group, TaskId task, AccessList const& accesses) {
  auto& plan = m_plans[group.index()];
  plan.order.push_back(task);
  auto& entry = m_entries[task];
  entry.group = group;
  entry.position = std::prev(plan.order.end());
  for (auto const& access : accesses) {
    if (access.repeated) continue;
    if (access.data.index() >= plan.users.size()) plan.users.resize(access.data.index() + 1);
    plan.users[access.data.index()].push_back(task);
    entry.data.push_back(access.data);
    if (m_observer) m_observer->planned_uses_changed(access.data, group);
  }
}

void PlanBoard::remove(TaskId task) {
  auto const found = m_entries.find(task);
  if (found == m_entries.end()) return;
  Entry const entry = std::move(found->second);
  m_entries.erase(found);
  auto& plan = m_plans[entry.group.index()];
  plan.order.erase(entry.position);
  for (DataId const data : entry.data) {
    auto& users = plan.users[data.index()];
    auto const place = std::ranges::find(users, task);
    *place = users.back();
    users.pop_back();
    if (m_observer) m_observer->planned_uses_changed(data, entry.group);
  }
}

std::vector<TaskId> PlanBoard::users(DataId data, GroupId group) const {
  auto const& users = m_plans[group.index()].users;
  return data.index() < users.size() ? users[data.index()] : std::vector<TaskId>{};
}

}  // namespace granary
