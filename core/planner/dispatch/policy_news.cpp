// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/dispatch/policy_news.hpp>

#include <algorithm>

namespace granary::detail {

PolicyNews::PolicyNews(PlannerContext& context, SchedulerCalls& scheduler, EvictionCalls& eviction, PlanBoard& board,
                       LiveTasks& tasks)
    : m_context(context), m_scheduler(scheduler), m_eviction(eviction), m_board(board), m_tasks(tasks) {
  board.observe(this);
}

void PolicyNews::dropped(DataId data, NodeId node, bool evicted) {
  if (evicted && !m_scheduler.ended() && !m_scheduler.keeps_plans()) {
    for (GroupId const group : m_context.topology.groups_on(node)) {
      for (TaskId const user : m_board.users(data, group)) withdraw(user, group, data);
    }
  }
  m_scheduler.replica_dropped(data, node);
}

void PolicyNews::all_groups_asked() {
  for (std::uint32_t g = 0; g < m_context.topology.groups().size(); ++g)
    m_context.agenda.post(Agenda::Commit{GroupId(g)});
}

void PolicyNews::withdraw(TaskId task, GroupId group, DataId lost) {
  if (!m_scheduler.may_be_planned(task)) return;
  bool const input = std::ranges::any_of(
      m_tasks[task].accesses, [&](Access const& access) { return access.data == lost && reads(access.mode); });
  if (!input) return;
  m_board.remove(task);
  ++m_context.statistics.tasks_withdrawn;
  m_scheduler.withdrawn(task, Withdrawal::InputEvicted, group);
  m_context.agenda.post(Agenda::Commit{group});
}

}  // namespace granary::detail
