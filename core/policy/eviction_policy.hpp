// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/policy/plan_board.hpp>
#include <granary/detail/core/policy/policy.hpp>
#include <granary/detail/core/policy/system_view.hpp>

namespace granary {

/// Chooses among the replicas of a node that may be evicted. It is notified of events; of replicas only on nodes with a
/// limit. It owns no thread, lock, clock or environment variable. If it throws or breaks its contract, the run fails as
/// it does with a Scheduler.
///
/// ```cpp
/// #include <granary/policy.hpp>
/// #include <list>
/// struct Oldest : granary::EvictionPolicy {  // evicts what arrived first
///   granary::SystemView const* system = nullptr;
///   std::list<std::pair<granary::DataId, granary::NodeId>> replicas;
///
///   void attach(granary::SystemView const& view, granary::PlanBoard const&) override { system = &view; }
///   void replica_added(granary::DataId data, granary::NodeId node) override { replicas.emplace_back(data, node); }
///   void replica_dropped(granary::DataId data, granary::NodeId node) override { replicas.remove({data, node}); }
///   granary::DataId victim(granary::NodeId node) override {
///     for (auto const& [data, where] : replicas) {
///       if (where == node && system->evictable(data, node)) return data;
///     }
///     return {};
///   }
/// };
/// granary::register_eviction("oldest", [](granary::PolicyOptions&) { return std::make_unique<Oldest>(); });
/// auto const policies = granary::make_policies("darts", "oldest");
/// ```
class GRANARY_EXPORT EvictionPolicy : public detail::Policy {
 public:
  /// Called once, before anything else; the view and the board outlive the policy.
  virtual void attach(SystemView const& view, PlanBoard const& board) = 0;
  /// The replica to evict from `node`, one for which `view.evictable` holds; invalid when the policy chooses none.
  virtual DataId victim(NodeId node) = 0;

  /// The datum was allocated in the node's memory.
  virtual void replica_added(DataId, NodeId) {}
  /// A committed task began or ended its use of the replica.
  virtual void replica_used(DataId, NodeId) {}
  /// The datum was removed from the node's memory.
  virtual void replica_dropped(DataId, NodeId) {}
  /// No unfinished task accesses the datum any more.
  virtual void last_use_ended(DataId) {}
  /// The number of planned tasks that use the datum on the group's node changed.
  virtual void planned_uses_changed(DataId, GroupId) {}
};

}  // namespace granary
