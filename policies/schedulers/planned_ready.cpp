// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ready tasks of PlannedScheduler, and who of those that commute has a turn.
#include <granary/policies/schedulers/planned.hpp>

#include <utility>

namespace granary {

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
  m_last_burst = std::exchange(m_burst, 0);
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

// Those of the owner of the task's block, if they are fast enough on it.
GroupSet PlannedScheduler::groups_for(Task const& task, Block const* block) const {
  auto const fast = m_slower.fast_groups(task);
  if (block == nullptr || !block->owner.valid()) return fast;
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

void PlannedScheduler::offer(TaskId task) {
  auto& entry = m_tasks[m_tasks.slot(task)];
  entry.offered = true;
  auto const* const block = block_of(entry);
  ready_of(block).insert(task, entry.rank, groups_for(m_view->task(task), block));
}

void PlannedScheduler::recall(TaskId task) {
  auto& entry = m_tasks[m_tasks.slot(task)];
  entry.offered = false;
  auto const* const block = block_of(entry);
  ready_of(block).erase(task, entry.rank, groups_for(m_view->task(task), block));
}

}  // namespace granary
