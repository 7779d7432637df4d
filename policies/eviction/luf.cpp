// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/policies/eviction/luf.hpp>
#include <granary/policies/registry.hpp>

#include <memory>
#include <unordered_map>

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
  return furthest_next_use(id);
}

// A datum's next use is its first in the committed order of a group; of several groups on the node, the nearest one.
DataId LufEviction::furthest_next_use(NodeId node) const {
  std::unordered_map<DataId, std::size_t> next_use;
  std::vector<DataId> data;  // in the order of first sight, for a choice that does not depend on hashing
  for (GroupId const group : m_view->topology().groups_on(node)) {
    std::size_t position = 0;
    for (TaskId const task : m_view->committed(group)) {
      for (auto const& access : m_view->task(task).accesses) {
        auto const [entry, first] = next_use.try_emplace(access.data, position);
        if (first) {
          data.push_back(access.data);
        } else {
          entry->second = std::min(entry->second, position);
        }
      }
      ++position;
    }
  }
  DataId furthest;
  std::size_t furthest_use = 0;
  for (DataId const candidate : data) {
    std::size_t const use = next_use[candidate];
    if ((furthest.valid() && use <= furthest_use) || !m_view->evictable(candidate, node)) continue;
    furthest = candidate;
    furthest_use = use;
  }
  return furthest;
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
    replica.rank = {planned_uses, replica.last_use, data};
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

void LufEviction::planned_uses_changed(DataId data, GroupId group) {
  auto& node = m_nodes[m_view->topology().group(group).node.index()];
  if (data.index() < node.replicas.size() && node.replicas[data.index()].present) mark_changed(node, data);
}

}  // namespace granary
