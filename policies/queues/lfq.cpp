// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/common/priority_rank.hpp>
#include <granary/detail/policies/queues/lfq.hpp>
#include <granary/detail/policies/queues/neighbours.hpp>
#include <granary/detail/policies/registry.hpp>

#include <algorithm>
#include <functional>
#include <memory>

namespace granary::detail {
namespace {

SchedulerRegistration const lfq_registration("lfq", [](PolicyOptions& options) {
  return std::make_unique<LfqScheduler>(options);
});

}  // namespace

void LfqScheduler::attach(SystemView const& view, PlanBoard& board) {
  m_view = &view;
  m_board = &board;
  m_room *= view.topology().machine().workers.size();
  m_neighbours = neighbours_of_groups(view.topology());
}

void LfqScheduler::begin_release(GroupId releaser) {
  distribute();
  m_releaser = releaser;
}

void LfqScheduler::distribute() {
  if (m_released.empty()) return;
  GroupId const group = m_releaser.valid() ? m_releaser : GroupId(0);
  auto const room = m_room * m_view->topology().group(group).workers.size();
  std::ranges::stable_sort(m_released, std::greater<>{}, [&](TaskId task) { return m_view->task(task).priority; });
  for (TaskId const id : m_released) {
    auto const& task = m_view->task(id);
    if (task.allowed_on(group) && m_board->plan(group).size() < room) {
      m_board->insert(group, id, task.accesses, priority_rank(task.priority));
    } else {
      m_shared.push(task.allowed_groups, {m_arrivals++, id});
    }
  }
  m_released.clear();
}

TaskId LfqScheduler::first_for(GroupId group, GroupId queue) const {
  for (auto const& [position, task] : m_board->plan(queue)) {
    if (m_view->task(task).allowed_on(group)) return task;
  }
  return {};
}

TaskId LfqScheduler::next(GroupId group) {
  distribute();
  TaskId task = first_for(group, group);
  for (GroupId const victim : m_neighbours[group.index()]) {
    if (task.valid()) break;
    task = first_for(group, victim);
  }
  if (!task.valid()) return m_shared.take(group);
  m_board->remove(task);
  return task;
}

void LfqScheduler::withdrawn(TaskId task, Withdrawal why, GroupId) {
  if (why != Withdrawal::Cancelled || std::erase(m_released, task) > 0) return;
  if (m_board->planned(task)) {
    m_board->remove(task);
  } else {
    m_shared.cancel(task);
  }
}

}  // namespace granary::detail
