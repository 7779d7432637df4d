// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/policy/eviction_policy.hpp>

#include <cstdint>
#include <set>
#include <vector>

namespace granary {

/// LUF, the eviction policy of DARTS (section 5.4): first a replica that no committed task uses, of these the one with
/// the fewest planned uses, of these first one that no submitted task uses, then the one used least recently; when
/// committed tasks use all that can be evicted, Belady's rule over them: the replica whose next use is furthest away.
///
/// Notifications are O(1); `victim` costs O(log replicas) for each replica that changed since the last call, one step
/// for each that comes first and cannot be evicted, and, for Belady's rule alone, O(accesses of the committed tasks).
class LufEviction final : public EvictionPolicy {
 public:
  void attach(SystemView const& view, PlanBoard const& board) override;
  [[nodiscard]] DataId victim(NodeId node) override;
  void replica_added(DataId data, NodeId node) override;
  void replica_used(DataId data, NodeId node) override;
  void replica_dropped(DataId data, NodeId node) override;
  void last_use_ended(DataId data) override;
  void planned_uses_changed(DataId data, GroupId group) override;

 private:
  struct Rank {
    std::uint64_t planned_uses;
    bool needed;  // by some unfinished task
    std::uint64_t last_use;
    DataId data;
    friend auto operator<=>(Rank const&, Rank const&) = default;
  };
  struct Replica {
    Rank rank{};
    std::uint64_t last_use = 0;
    bool present = false;
    bool ranked = false;   // stands in `order` under `rank`
    bool changed = false;  // stands in `changed`: `order` may be out of date
  };
  struct Node {
    std::vector<Replica> replicas;  // by datum
    std::set<Rank> order;
    std::vector<DataId> changed;
  };

  void mark_changed(Node& node, DataId data);
  void update_order(NodeId id);

  SystemView const* m_view = nullptr;
  PlanBoard const* m_board = nullptr;
  std::vector<Node> m_nodes;
  std::uint64_t m_clock = 0;  // counts uses
};

}  // namespace granary
