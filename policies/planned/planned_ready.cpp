// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ready tasks of PlannedScheduler, and who of those that commute has a turn.
#include <granary/detail/policies/planned/planned.hpp>

#include <utility>

namespace granary::detail {

template <class Change>
void PlannedScheduler::change_turns(AccessList const& accesses, Change&& change) {
  auto concerned = m_turns.firsts(accesses);
  change();
  for (TaskId const task : m_turns.firsts(accesses)) concerned.push_back(task);
  for (TaskId const task : concerned) {
    if (!m_tasks.contains(task)) continue;
    bool const first = m_turns.first(task, m_view->task(task).accesses);
    if (first != m_tasks.at(task).offered) first ? offer(task) : recall(task);
  }
}

void PlannedScheduler::finished(TaskId task) {
  m_bursts.finished();
  auto const& accesses = m_view->task(task).accesses;
  if (Turns::needed(accesses)) change_turns(accesses, [&] { m_turns.end(task, accesses); });
}

// The task if it has its turns: a task that no worker runs may have one, and slower groups are not told of turns.
TaskId PlannedScheduler::give_in_turn(TaskId task) {
  auto const& accesses = m_view->task(task).accesses;
  if (Turns::needed(accesses)) {
    if (!m_turns.first(task, accesses) || !m_view->may_take_turn(task)) return {};
    change_turns(accesses, [&] { m_turns.take(task, accesses); });
  }
  return give(task);
}

// The groups of the owner of the task's block, if they are fast enough on it. A block that has not begun only gives
// away the tasks that its owner will not run; one that needs no owner gives away all, for estimates may change after
// the plan.
GroupSet PlannedScheduler::groups_for(Task const& task, Block const* block) const {
  auto const fast = m_slower.fast_groups(task);
  if (block == nullptr) return fast;
  if (!block->owner.valid()) {
    auto const others = fast - m_planned_groups;
    return block->begun && others.empty() ? fast : others;
  }
  auto const own = fast & groups_on(block->owner);
  return own.empty() ? fast : own;
}

// Tasks that commute are among the ready ones only while they are first.
void PlannedScheduler::insert_ready(TaskId task) {
  auto const& entry = m_tasks.at(task);
  if (!entry.ready) return;
  auto const& accesses = m_view->task(task).accesses;
  if (!Turns::needed(accesses)) return offer(task);
  change_turns(accesses, [&] { m_turns.enter(task, entry.rank, accesses); });
}

void PlannedScheduler::erase_ready(TaskId task) {
  auto const& entry = m_tasks.at(task);
  if (!entry.ready) return;
  auto const& accesses = m_view->task(task).accesses;
  if (entry.offered) recall(task);
  if (!Turns::needed(accesses)) return;
  change_turns(accesses, [&] { m_turns.leave(task, entry.rank, accesses); });
}

void PlannedScheduler::offer(TaskId task) { change_offer(task, true); }

void PlannedScheduler::recall(TaskId task) { change_offer(task, false); }

void PlannedScheduler::change_offer(TaskId task, bool offered) {
  auto& entry = m_tasks[m_tasks.slot(task)];
  entry.offered = offered;
  auto const* const block = block_of(entry);
  auto const groups = groups_for(m_view->task(task), block);
  auto const change = [&](ReadyByRank& ready, std::int64_t rank) {
    offered ? ready.insert(task, rank, groups) : static_cast<void>(ready.erase(task, rank, groups));
  };
  bool const owned = block != nullptr && block->owner.valid() && !(groups & m_planned_groups).empty();
  change(owned ? m_own : m_others, entry.rank);
  if (m_nodes == 1 || block == nullptr) return;
  if (owned) change(m_urgent, -entry.chain);
  bool const for_owner = !(m_slower.fast_groups(m_view->task(task)) & m_planned_groups).empty();
  if (!block->owner.valid() && for_owner) count_ready(entry.block, offered);
}

}  // namespace granary::detail
