// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The policies' and drivers' view of the planner.
#include <granary/core/planner/planner.hpp>

#include <algorithm>

namespace granary {

Place Planner::place(DataId data, NodeId node) const {
  auto const* replica = record(data).on(node);
  return {node, replica->slot, replica->offset};
}

bool Planner::idle() const { return m_graph.size() == 0 && m_transfers.size() == 0 && m_going_home == 0; }

bool Planner::valid(DataId data, NodeId node) const {
  auto const* replica = record(data).on(node);
  return replica != nullptr && replica->valid;
}

bool Planner::expected(DataId data, NodeId node) const {
  auto const* replica = record(data).on(node);
  return replica != nullptr && (replica->valid || replica->incoming.valid() || replica->pins > 0);
}

bool Planner::evictable(DataId data, NodeId node) const {
  auto const* replica = record(data).find(node, Slot::Pool);
  return replica != nullptr && replica->valid && !replica->evicting && replica->pins == 0 && !record(data).going_home &&
         (record(data).valid_besides(*replica) || (storage_of(data, node).valid() && !record(data).write_failed));
}

Duration Planner::transfer_time(DataId data, NodeId node) const {
  Duration best = Duration::max();
  for (auto const& replica : record(data).replicas) {
    if (!replica.valid) continue;
    if (replica.node == node && replica.slot == record(data).slot_on(node)) return Duration{0};
    best = std::min(best, m_topology.route_time(replica.node, node, record(data).description.bytes));
  }
  return best == Duration::max() ? Duration{0} : best;
}

Duration Planner::kernel_time(TaskId id, GroupId group) const {
  Task const& task = m_graph[id];
  return m_estimator.kernel_time(task.codelet, task.flops, m_topology.group(group).kind);
}

std::uint32_t Planner::committed_uses(DataId data, NodeId node) const {
  auto const& uses = m_nodes[node.index()].committed_uses;
  return data.index() < uses.size() ? uses[data.index()] : 0;
}

void Planner::planned_uses_changed(DataId data, GroupId group) {
  m_policies.eviction->planned_uses_changed(data, group);
}

}  // namespace granary
