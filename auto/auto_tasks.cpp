// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/auto/auto_tasks.hpp>

#include <algorithm>

namespace granary::detail {

void AutoTasks::submitted(TaskId task) {
  m_known.insert(task, {.new_in = m_looks});
  // Those that have ended are forgotten when they are the half.
  constexpr std::size_t a_few = 16;
  if (m_tasks.size() >= 2 * m_known_tasks + a_few) m_tasks = all();
  m_tasks.push_back(task);
  ++m_known_tasks;
  ++m_waiting;
  ++m_new;
}

TaskId AutoTasks::give(TaskId task) {
  auto& known = m_known[m_known.slot(task)];
  known.given_by = m_number;
  leave(known);
  return task;
}

void AutoTasks::keep(TaskId task, GroupId group) {
  m_known[m_known.slot(task)].given_by = m_number;
  m_kept[group].push_back(task);
}

TaskId AutoTasks::take_kept(GroupId group, SystemView const& view) {
  auto const waiting = m_kept.find(group);
  if (waiting == m_kept.end()) return {};
  auto& tasks = waiting->second;
  auto const able = std::ranges::find_if(tasks, [&](TaskId task) { return view.may_take_turn(task); });
  if (able == tasks.end()) return {};
  TaskId const task = *able;
  tasks.erase(able);
  return give(task);
}

bool AutoTasks::ended(TaskId task) {
  --m_known_tasks;
  return m_known.take(task).given_by == m_number;
}

bool AutoTasks::withdrawn(TaskId task) {
  auto const known = m_known.take(task);
  --m_known_tasks;
  leave(known);
  if (known.given_by == 0) return false;
  // The present scheduler has forgotten it, and no group had it.
  for (auto& [_, tasks] : m_kept) std::erase(tasks, task);
  return true;
}

void AutoTasks::change_scheduler() {
  for (auto const& [group, tasks] : m_kept) {
    for (TaskId const task : tasks) m_known[m_known.slot(task)].given_by = 0;
  }
  m_kept.clear();
  ++m_number;
}

// A task that a worker gave back was submitted twice.
std::vector<TaskId> AutoTasks::all() const {
  auto tasks = m_tasks;
  std::erase_if(tasks, [&](TaskId task) { return !m_known.contains(task); });
  std::ranges::sort(tasks);
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  return tasks;
}

void AutoTasks::look() {
  m_new = 0;
  ++m_looks;
}

// A task waits no longer.
void AutoTasks::leave(Known const& known) {
  --m_waiting;
  if (known.new_in == m_looks) --m_new;
}

}  // namespace granary::detail
