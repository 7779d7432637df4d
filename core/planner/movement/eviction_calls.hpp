// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/planner/policy_calls.hpp>
#include <granary/detail/core/policy/eviction_policy.hpp>

namespace granary::detail {

/// The calls of the eviction policy, and whether it keeps its contract: see PolicyCalls.
class GRANARY_EXPORT EvictionCalls {
  [[nodiscard]] auto naming(DataId data, NodeId node) const {
    return [this, data, node] { return m_calls.name_of(data, node); };
  }

 public:
  EvictionCalls(PlannerContext& context, EvictionPolicy& eviction)
      : m_eviction(eviction), m_calls(context, "eviction policy", eviction) {}
  void look_into(DataTable const& data) { m_calls.look_into(data); }

  void attach(SystemView const& view, PlanBoard const& board) {
    m_calls.call_to_refuse("attach", [&] { m_eviction.attach(view, board); });
  }
  /// A datum of which `evictable(DataId)` holds, or an invalid id.
  template <class Evictable>
  [[nodiscard]] DataId victim(NodeId node, Evictable&& evictable) {
    DataId const data = m_calls.call(
        "victim", [&] { return m_eviction.victim(node); }, [&] { return m_calls.name_of(node); });
    if (!data.valid() || (m_calls.data().known(data) && evictable(data))) return data;
    blame_for(data, node);
    return {};
  }
  void replica_added(DataId data, NodeId node) {
    m_calls.call(
        "replica_added", [&] { m_eviction.replica_added(data, node); }, naming(data, node));
  }
  void replica_used(DataId data, NodeId node) {
    m_calls.call(
        "replica_used", [&] { m_eviction.replica_used(data, node); }, naming(data, node));
  }
  void replica_dropped(DataId data, NodeId node) {
    m_calls.call(
        "replica_dropped", [&] { m_eviction.replica_dropped(data, node); }, naming(data, node));
  }
  void last_use_ended(DataId data) {
    m_calls.call(
        "last_use_ended", [&] { m_eviction.last_use_ended(data); }, [&] { return m_calls.name_of(data); });
  }
  void planned_uses_changed(DataId data, GroupId group) {
    m_calls.call(
        "planned_uses_changed", [&] { m_eviction.planned_uses_changed(data, group); },
        [&] { return m_calls.name_of(data); });
  }

 private:
  void blame_for(DataId data, NodeId node);

  EvictionPolicy& m_eviction;
  PolicyCalls m_calls;
};

}  // namespace granary::detail
