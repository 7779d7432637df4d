// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/policies/eviction/furthest_committed.hpp>
#include <granary/policies/eviction/luf.hpp>
#include <granary/policies/registry.hpp>

#include <memory>

namespace granary {
namespace {
EvictionRegistration const registration("luf", [](PolicyOptions&) { return std::make_unique<LufEviction>(); });
}  // namespace

void LufEviction::attach(SystemView const& view, PlanBoard const& board) {
  m_view = &view;
  m_board = &board;
  m_nodes.resize(view.topology().machine().nodes.size());
}

DataId LufEviction::victim(NodeId id) {
  update_order(id);
  for (auto const& rank : m_nodes[id.index()].order) {
    if (m_view->committed_uses(rank.data, id) == 0 && m_view->evictable(rank.data, id)) return rank.data;
  }
  return furthest_committed_use(*m_view, id);
}

void LufEviction::update_order(NodeId id) {
  auto& node = m_nodes[id.index()];
  for (DataId const data : node.changed) {
    auto& replica = node.replicas[data.index()];
    replica.changed = false;
    if (replica.ranked) node.order.erase(replica.rank);
    replica.ranked = replica.present;
    if (!replica.present) continue;
    std::uint64_t planned_uses = 0;
    for (GroupId const group : m_view->topology().groups_on(id)) planned_uses += m_board->uses(data, group);
    replica.rank = {planned_uses, m_view->unfinished_uses(data) > 0, replica.last_use, data};
    node.order.insert(replica.rank);
  }
  node.changed.clear();
}

void LufEviction::mark_changed(Node& node, DataId data) {
  auto& replica = node.replicas[data.index()];
  if (replica.changed) return;
  replica.changed = true;
  node.changed.push_back(data);
}

void LufEviction::replica_added(DataId data, NodeId id) {
  auto& node = m_nodes[id.index()];
  if (data.index() >= node.replicas.size()) node.replicas.resize(data.index() + 1);
  node.replicas[data.index()].present = true;
  node.replicas[data.index()].last_use = ++m_clock;
  mark_changed(node, data);
}

void LufEviction::replica_used(DataId data, NodeId id) {
  auto& node = m_nodes[id.index()];
  if (data.index() >= node.replicas.size() || !node.replicas[data.index()].present) return;
  node.replicas[data.index()].last_use = ++m_clock;
  mark_changed(node, data);
}

void LufEviction::replica_dropped(DataId data, NodeId id) {
  auto& node = m_nodes[id.index()];
  if (data.index() >= node.replicas.size() || !node.replicas[data.index()].present) return;
  node.replicas[data.index()].present = false;
  mark_changed(node, data);
}

void LufEviction::last_use_ended(DataId data) {
  for (auto& node : m_nodes) {
    if (data.index() < node.replicas.size() && node.replicas[data.index()].present) mark_changed(node, data);
  }
}

void LufEviction::planned_uses_changed(DataId data, GroupId group) {
  auto& node = m_nodes[m_view->topology().group(group).node.index()];
  if (data.index() < node.replicas.size() && node.replicas[data.index()].present) mark_changed(node, data);
}

}  // namespace granary
