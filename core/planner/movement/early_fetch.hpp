// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/planner/movement/idle_replicas.hpp>
#include <granary/detail/core/planner/movement/overlaps.hpp>
#include <granary/detail/core/planner/movement/routes.hpp>

#include <vector>

namespace granary::detail {

/// Values that come to a node before a holder asks for them.
class GRANARY_EXPORT EarlyFetch {
 public:
  EarlyFetch(PlannerContext const& context, DataTable const& data, Overlaps const& overlaps, Memories& memories,
             Routes& routes)
      : m_context(context), m_data(data), m_overlaps(overlaps), m_memories(memories), m_routes(routes) {}

  /// The link by which the value would come; invalid if it is on the node or on its way there, if its place there is in
  /// use, if it cannot be read now, if it would come through another node, and if it shares bytes with other data: its
  /// home may change under the copy.
  [[nodiscard]] LinkId way(DataId data, NodeId node) const;
  /// True if nobody waits for room on the node.
  [[nodiscard]] bool room_to_spare(NodeId node) const;
  /// Brings a value that has such a way, if enough bytes are free for it; false if not.
  bool bring(DataId data, NodeId node);

  /// From now on replicas that are let go are remembered for `make_room`.
  void remember_idle() { m_idle.resize(m_context.topology.machine().nodes.size()); }
  /// The last holder of a replica in the node's memory let it go.
  void let_go(DataId data, NodeId node) {
    if (!m_idle.empty()) m_idle[node.index()].add(data);
  }
  /// Evicts for the datum an idle replica of which `used(DataId)` does not hold; false if that would not help, or if
  /// there is none.
  template <class Used>
  bool make_room(DataId data, NodeId node, Used&& used) {
    if (!m_memories.lacks_room(node, m_data[data].bytes)) return false;
    DataId const victim = m_idle[node.index()].take(
        [&](DataId other) { return m_data.known(other) && m_memories.evictable(other, node) && !used(other); });
    if (victim.valid()) m_memories.evict(victim, node, EvictionReason::Prefetch);
    return victim.valid();
  }

 private:
  PlannerContext const& m_context;
  DataTable const& m_data;
  Overlaps const& m_overlaps;
  Memories& m_memories;
  Routes& m_routes;
  std::vector<IdleReplicas> m_idle;  // by node; empty unless they are remembered
};

}  // namespace granary::detail
