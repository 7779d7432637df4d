// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/eviction_policy.hpp>
#include <granary/detail/policies/eviction/ranked_replicas.hpp>

#include <compare>
#include <cstdint>
#include <vector>

namespace granary::detail {

/// Belady's rule, restricted to the known future: evicts the replica whose next use is furthest away. Order of
/// eviction: (1) replicas that no committed or planned task of the node's groups uses; among these first those that no
/// submitted task uses, then the least recently used. (2) Replicas that only planned tasks use, of any scheduler's
/// plans, furthest next use first. (3) Replicas that committed tasks use, furthest next use first. Clean replicas are
/// not preferred, although they are cheaper to evict.
///
/// Planned uses are compared by position (rank, then order of insertion), not by the number of tasks before them. With
/// several groups on a node, positions in different plans are compared; a datum's next use is the smallest position.
///
/// `planned_uses_changed` costs O(log planned uses of the datum), amortised, and O(1) for a datum without replica on
/// the node; `replica_added` O(planned uses of the datum); the other notifications O(1). `victim` costs O(log replicas)
/// for each replica that changed since the last call, one step for each earlier replica that cannot be evicted, and
/// O(accesses of the committed tasks) if these use all evictable replicas.
class GRANARY_EXPORT BeladyEviction final : public EvictionPolicy {
 public:
  void attach(SystemView const& view, PlanBoard const& board) override;
  [[nodiscard]] DataId victim(NodeId node) override;
  void replica_added(DataId data, NodeId node) override;
  void replica_used(DataId data, NodeId node) override;
  void replica_dropped(DataId data, NodeId node) override;
  void last_use_ended(DataId data) override;
  void planned_uses_changed(DataId data, GroupId group) override;

 private:
  // The known uses of a datum after the committed tasks.
  enum class Known : std::uint8_t { Nothing, Submitted, Planned };
  // Smaller ranks are evicted first.
  struct Rank {
    Known known = Known::Nothing;
    PlanPosition next_use{};
    std::uint64_t last_use = 0;
    friend std::strong_ordering operator<=>(Rank const& a, Rank const& b) {
      if (auto const order = a.known <=> b.known; std::is_neq(order)) return order;
      if (auto const order = b.next_use <=> a.next_use; std::is_neq(order)) return order;
      return a.last_use <=> b.last_use;
    }
    friend bool operator==(Rank const&, Rank const&) = default;
  };
  struct PlannedUse {
    PlanPosition position;
    TaskId task;
    friend bool operator<(PlannedUse const& a, PlannedUse const& b) { return b.position < a.position; }
  };
  struct Replica {
    std::uint64_t last_use = 0;
    std::uint64_t uses_seen = 0;   // planned uses of smaller number are in `uses` while they are planned
    std::vector<PlannedUse> uses;  // a heap, nearest first; uses that are not planned any more are dropped lazily
  };
  using Replicas = RankedReplicas<Rank, Replica>;

  [[nodiscard]] bool live(PlannedUse const& use) const;
  [[nodiscard]] Rank rank(DataId data, Replica& replica) const;
  void add_use(Replica& replica, DataId data, NodeId node, PlannedUse use) const;

  SystemView const* m_view = nullptr;
  PlanBoard const* m_board = nullptr;
  Replicas m_replicas;
  std::uint64_t m_clock = 0;  // counts uses
};

}  // namespace granary::detail
