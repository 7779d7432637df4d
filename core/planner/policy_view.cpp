// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/policy_view.hpp>

#include <algorithm>

namespace granary::detail {

bool PolicyView::valid(DataId data, NodeId node) const {
  auto const* const replica = m_movement.data()[data].on(node);
  return replica != nullptr && replica->valid;
}

bool PolicyView::expected(DataId data, NodeId node) const {
  auto const* const replica = m_movement.data()[data].on(node);
  return replica != nullptr && (replica->valid || replica->incoming.valid() || replica->pins > 0);
}

Duration PolicyView::transfer_time(DataId data, NodeId node) const {
  auto const& datum = m_movement.data()[data];
  Duration best = Duration::max();
  for (auto const& replica : datum.replicas) {
    if (!replica.valid) continue;
    if (replica.node == node && replica.slot == datum.slot_on(node)) return Duration{0};
    best = std::min(best, m_context.topology.route_time(replica.node, node, datum.bytes));
  }
  return best == Duration::max() ? Duration{0} : best;
}

Duration PolicyView::reload_time(DataId data, NodeId node) const {
  auto const& topology = m_context.topology;
  auto const& datum = m_movement.data()[data];
  Duration best = Duration::max();
  for (auto const& replica : datum.replicas) {
    bool const evicted = replica.node == node && replica.slot == Slot::Pool;
    if (replica.valid && !evicted) best = std::min(best, topology.route_time(replica.node, node, datum.bytes));
  }
  if (best != Duration::max()) return best;
  NodeId const storage = m_movement.memories().storage_of(data, node);
  if (!storage.valid() || storage == node) return Duration{0};
  // The value stays on the next node of the way, as far as there is room.
  NodeId const next = topology.machine()[topology.next_hop(node, storage)].to;
  return topology.route_time(node, next, datum.bytes) + topology.route_time(next, node, datum.bytes);
}

}  // namespace granary::detail
