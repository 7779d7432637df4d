// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/policy/plan_board.hpp>

#include <string>
#include <utility>

namespace granary {
namespace {

[[noreturn]] void refuse(TaskId task, char const* why) {
  throw InvalidArgument("the task with the id " + std::to_string(task.value()) + why);
}

}  // namespace

void PlanBoard::append(GroupId group, TaskId task, detail::AccessList const& accesses) {
  check(group, task);
  auto const& order = m_plans[group.index()].order;
  put(group, task, accesses, {order.empty() ? 0 : order.rbegin()->first.rank, m_put++}, true);
}

void PlanBoard::insert(GroupId group, TaskId task, detail::AccessList const& accesses, std::int64_t rank) {
  check(group, task);
  put(group, task, accesses, {rank, m_put++}, false);
}

void PlanBoard::check(GroupId group, TaskId task) const {
  if (group.index() >= m_plans.size()) refuse(task, " cannot be planned for a group that does not exist");
  if (!task.valid() || m_entries.contains(task)) refuse(task, task.valid() ? " is on a plan already" : " is none");
}

void PlanBoard::put(GroupId group, TaskId task, detail::AccessList const& accesses, detail::PlanPosition position,
                    bool at_end) {
  auto& order = m_plans[group.index()].order;
  auto const place = at_end ? order.emplace_hint(order.end(), position, task) : order.emplace(position, task).first;
  auto const entry = m_entries.insert(task, {group, place, none, false});
  for (auto const& access : accesses) {
    if (!access.repeated) link(entry, access.data);
  }
}

void PlanBoard::link(std::uint32_t entry, DataId data) {
  auto& placed = m_entries[entry];
  auto& uses = m_plans[placed.group.index()].uses;
  if (data.index() >= uses.size()) uses.resize(data.index() + 1);
  auto& of_data = uses[data.index()];
  std::uint32_t use = m_free_use;
  if (use == none) {
    use = static_cast<std::uint32_t>(m_uses.size());
    m_uses.emplace_back();
  } else {
    m_free_use = m_uses[use].next;
  }
  m_uses[use] = {data, entry, none, of_data.first, placed.first_use};
  if (of_data.first != none) m_uses[of_data.first].previous = use;
  of_data.first = use;
  ++of_data.count;
  placed.first_use = use;
  if (m_observer) m_observer->planned_uses_changed(data, placed.group);
}

void PlanBoard::remove(TaskId task) {
  if (!m_entries.contains(task)) return;
  Entry const entry = m_entries.take(task);
  if (entry.wanted && m_observer) m_observer->inputs_given_up(task, entry.group, entry.place->first);
  auto& plan = m_plans[entry.group.index()];
  plan.order.erase(entry.place);
  for (auto use = entry.first_use; use != none;) {
    auto const [data, owner, previous, next, next_of_task] = m_uses[use];
    auto& of_data = plan.uses[data.index()];
    (previous == none ? of_data.first : m_uses[previous].next) = next;
    if (next != none) m_uses[next].previous = previous;
    --of_data.count;
    m_uses[use].next = m_free_use;
    m_free_use = use;
    use = next_of_task;
    if (m_observer) m_observer->planned_uses_changed(data, entry.group);
  }
}

void PlanBoard::want_inputs(TaskId task) {
  if (!m_entries.contains(task)) refuse(task, " is on no plan, so that its inputs cannot be wanted");
  auto& entry = m_entries[m_entries.slot(task)];
  if (std::exchange(entry.wanted, true) || !m_observer) return;
  m_observer->inputs_wanted(task, entry.group, entry.place->first);
}

std::vector<TaskId> PlanBoard::users(DataId data, GroupId group) const {
  std::vector<TaskId> tasks;
  tasks.reserve(uses(data, group));
  for_each_user(data, group, [&](TaskId task, detail::PlanPosition) { tasks.push_back(task); });
  return tasks;
}

}  // namespace granary
