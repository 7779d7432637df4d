// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/dmda/ready_order.hpp>

#include <algorithm>

namespace granary::detail {

void ReadyOrder::attach(SystemView const& view, PlanBoard const& board) {
  m_view = &view;
  m_board = &board;
  m_heaps.resize(view.topology().groups().size());
  m_touched.resize(view.topology().machine().nodes.size());
}

Bytes ReadyOrder::missing(Task const& task, NodeId node) const {
  Bytes total = 0;
  for (auto const& access : task.accesses) {
    if (access.repeated || !reads(access.mode) || m_presence[place(access.data, node)].here) continue;
    total += m_view->bytes(access.data);
  }
  return total;
}

void ReadyOrder::add(Task const& task, GroupId group, std::int64_t rank) {
  NodeId const node = m_view->topology().group(group).node;
  for (auto const& access : task.accesses) {
    auto const needed = (access.data.index() + 1) * m_touched.size();
    if (needed > m_presence.size()) m_presence.resize(needed);
  }
  auto const slot = m_entries.insert(task.id, {task.id, {m_by_bytes ? 0 : rank, m_by_bytes ? rank : 0, m_arrivals++}});
  m_heaps[group.index()].set(slot, m_entries[slot].key);
  for (auto const& access : task.accesses) refresh(access.data, node);
  set_missing(m_entries[slot].key, missing(task, node));
  m_heaps[group.index()].set(slot, m_entries[slot].key);
}

void ReadyOrder::remove(TaskId task, GroupId group) {
  m_heaps[group.index()].erase(m_entries.slot(task));
  m_entries.take(task);
}

TaskId ReadyOrder::first(GroupId group) {
  NodeId const node = m_view->topology().group(group).node;
  auto& touched = m_touched[node.index()];
  for (DataId const data : touched) {
    m_presence[place(data, node)].touched = false;
    refresh(data, node);
  }
  touched.clear();
  return m_entries[m_heaps[group.index()].top()].task;
}

void ReadyOrder::touch(DataId data, NodeId node) {
  bool const used = std::ranges::any_of(m_view->topology().groups_on(node),
                                        [&](GroupId group) { return m_board->uses(data, group) > 0; });
  if (!used) return;
  auto& presence = m_presence[place(data, node)];
  if (presence.touched) return;
  presence.touched = true;
  m_touched[node.index()].push_back(data);
}

void ReadyOrder::touch_all(Task const& task, NodeId node) {
  for (auto const& access : task.accesses) touch(access.data, node);
}

// Inputs of committed tasks count as in transfer: they are allocated before the inputs of any planned task.
void ReadyOrder::refresh(DataId data, NodeId node) {
  auto& presence = m_presence[place(data, node)];
  bool const now = m_view->expected(data, node) || m_view->committed_uses(data, node) > 0;
  if (presence.here == now) return;
  presence.here = now;
  for (GroupId const group : m_view->topology().groups_on(node)) {
    m_board->for_each_user(data, group, [&](TaskId user, PlanPosition) {
      auto const slot = m_entries.slot(user);
      set_missing(m_entries[slot].key, missing(m_view->task(user), node));
      m_heaps[group.index()].set(slot, m_entries[slot].key);
    });
  }
}

}  // namespace granary::detail
