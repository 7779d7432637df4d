// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/dispatch/prefetches.hpp>

#include <algorithm>

namespace granary::detail {
namespace {

template <class Function>
void for_each_input(AccessList const& accesses, Function&& function) {
  for (auto const& access : accesses) {
    if (!access.repeated && reads(access.mode)) function(access.data);
  }
}

}  // namespace

Prefetches::Prefetches(PlannerContext const& context, PlanBoard const& board, Dispatch const& dispatch,
                       Movement& movement)
    : m_context(context), m_board(board), m_dispatch(dispatch), m_movement(movement) {
  auto const& machine = context.topology.machine();
  m_inputs.resize(machine.links.size());
  m_links_to.resize(machine.nodes.size());
  m_full.resize(machine.nodes.size());
  for (std::uint32_t l = 0; l < machine.links.size(); ++l) m_links_to[machine.links[l].to.index()].emplace_back(l);
}

void Prefetches::want(TaskId task, GroupId group, PlanPosition position) {
  NodeId const node = m_context.topology.group(group).node;
  m_movement.early_fetch().remember_idle();
  for_each_input(m_dispatch.tasks()[task].accesses, [&](DataId data) {
    LinkId const way = m_movement.early_fetch().way(data, node);
    if (way.valid() && m_inputs[way.index()].insert({position, data, task}).second) ++m_wanted;
  });
}

void Prefetches::give_up(TaskId task, GroupId group, PlanPosition position) {
  if (m_wanted == 0) return;
  NodeId const node = m_context.topology.group(group).node;
  auto const* const live = m_dispatch.tasks().find(task);
  if (live == nullptr) {  // the scheduler should have taken it off its plan
    for (auto& inputs : m_inputs) m_wanted -= std::erase_if(inputs, [&](Input const& of) { return of.task == task; });
    return;
  }
  for_each_input(live->accesses, [&](DataId data) {
    for (LinkId const link : m_links_to[node.index()]) m_wanted -= m_inputs[link.index()].erase({position, data, task});
  });
}

bool Prefetches::start() {
  if (m_wanted == 0 || m_dispatch.exclusive().valid()) return false;
  bool started = false;
  for (std::uint32_t l = 0; l < m_inputs.size(); ++l) {
    LinkId const link(l);
    if (!m_inputs[l].empty() && free(link)) started = start_on(link) || started;
  }
  return started;
}

bool Prefetches::free(LinkId link) const {
  auto const& links = m_movement.links();
  return links.waiting(link) == 0 &&
         links.active(link) < std::min(most_at_once, m_context.topology.machine()[link].width);
}

bool Prefetches::start_on(LinkId link) {
  auto& inputs = m_inputs[link.index()];
  NodeId const node = m_context.topology.machine()[link].to;
  auto const& memory = m_movement.memories()[node];
  if (m_full[node.index()] == memory.changes || !m_movement.early_fetch().room_to_spare(node)) return false;
  // The value may have come, or be nearer elsewhere, since it was wanted.
  for (LinkId way; !inputs.empty() && (way = m_movement.early_fetch().way(inputs.begin()->data, node)) != link;) {
    if (way.valid()) {
      m_inputs[way.index()].insert(inputs.extract(inputs.begin()));
    } else {
      inputs.erase(inputs.begin());
      --m_wanted;
    }
  }
  if (inputs.empty()) return false;
  DataId const data = inputs.begin()->data;
  if (m_movement.early_fetch().bring(data, node)) {
    inputs.erase(inputs.begin());
    --m_wanted;
    return true;
  }
  if (m_movement.early_fetch().make_room(data, node, [&](DataId other) { return used(other, node); })) return true;
  m_full[node.index()] = memory.changes;
  return false;
}

bool Prefetches::used(DataId data, NodeId node) const {
  return m_dispatch.committed_uses(data, node) > 0 ||
         std::ranges::any_of(m_context.topology.groups_on(node),
                             [&](GroupId group) { return m_board.uses(data, group) > 0; });
}

void Prefetches::check_invariants() const {
  std::size_t wanted = 0;
  for (auto const& inputs : m_inputs) {
    for (auto const& input : inputs) {
      if (!m_board.planned(input.task) || m_board.position(input.task) != input.position)
        throw InternalError("broken invariant: an input is brought ahead for a task that is not planned");
      ++wanted;
    }
  }
  if (wanted != m_wanted) throw InternalError("broken invariant: the inputs that are brought ahead are miscounted");
}

}  // namespace granary::detail
