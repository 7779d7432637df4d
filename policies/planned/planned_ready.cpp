// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/planned/planned_ready.hpp>

namespace granary::detail {

template <class Change>
void PlannedReady::change_turns(AccessList const& accesses, Change&& change) {
  auto concerned = m_turns.firsts(accesses);
  change();
  for (TaskId const task : m_turns.firsts(accesses)) concerned.push_back(task);
  for (TaskId const task : concerned) {
    if (!m_state.tasks.contains(task)) continue;
    bool const first = m_turns.first(task, m_state.view->task(task).accesses);
    if (first != m_state.tasks.at(task).offered) change_offer(task, first);
  }
}

// A task that no worker runs may have the turn, and slower groups are not told of turns.
bool PlannedReady::take_turn(TaskId task) {
  auto const& accesses = m_state.view->task(task).accesses;
  if (!Turns::needed(accesses)) return true;
  if (!m_turns.first(task, accesses) || !m_state.view->may_take_turn(task)) return false;
  change_turns(accesses, [&] { m_turns.take(task, accesses); });
  return true;
}

void PlannedReady::end_turn(TaskId task) {
  auto const& accesses = m_state.view->task(task).accesses;
  if (Turns::needed(accesses)) change_turns(accesses, [&] { m_turns.end(task, accesses); });
}

// The groups of the owner of the task's block, if they are fast enough on it. A block that has not begun only gives
// away the tasks that its owner will not run; one that needs no owner gives away all, for estimates may change after
// the plan.
GroupSet PlannedReady::groups_for(Task const& task) const {
  auto const fast = m_state.slower.fast_groups(task);
  auto const* const block = m_state.tasks.block_of(m_state.tasks.at(task.id));
  if (block == nullptr) return fast;
  if (!block->owner.valid()) {
    auto const others = fast - m_state.groups;
    return block->begun && others.empty() ? fast : others;
  }
  auto const own = fast & m_state.groups_on(block->owner);
  return own.empty() ? fast : own;
}

void PlannedReady::insert(TaskId task) {
  auto const& entry = m_state.tasks.at(task);
  if (!entry.ready) return;
  auto const& accesses = m_state.view->task(task).accesses;
  if (!Turns::needed(accesses)) return change_offer(task, true);
  change_turns(accesses, [&] { m_turns.enter(task, entry.rank, accesses); });
}

void PlannedReady::erase(TaskId task) {
  auto const& entry = m_state.tasks.at(task);
  if (!entry.ready) return;
  auto const& accesses = m_state.view->task(task).accesses;
  if (entry.offered) change_offer(task, false);
  if (!Turns::needed(accesses)) return;
  change_turns(accesses, [&] { m_turns.leave(task, entry.rank, accesses); });
}

void PlannedReady::change_offer(TaskId id, bool offered) {
  auto& entry = m_state.tasks[id];
  entry.offered = offered;
  auto const& task = m_state.view->task(id);
  auto const* const block = m_state.tasks.block_of(entry);
  auto const groups = groups_for(task);
  auto const change = [&](ReadyByRank& ready, std::int64_t rank) {
    offered ? ready.insert(id, rank, groups) : static_cast<void>(ready.erase(id, rank, groups));
  };
  bool const owned = block != nullptr && block->owner.valid() && !(groups & m_state.groups).empty();
  change(owned ? m_own : m_others, entry.rank);
  if (m_state.one_node() || block == nullptr) return;
  if (owned) change(m_urgent, -entry.chain);
  bool const for_owner = !(m_state.slower.fast_groups(task) & m_state.groups).empty();
  if (!block->owner.valid() && for_owner) m_state.tasks.count_ready(entry.block, offered);
}

}  // namespace granary::detail
