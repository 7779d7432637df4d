// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/policy/eviction_policy.hpp>
#include <granary/policies/eviction/ranked_replicas.hpp>

#include <compare>
#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// Belady's rule on what is known of the future: evicts the replica whose next use is furthest away. First come those
/// that no committed and no planned task of the node's groups uses, of these the ones that no submitted task uses
/// either, then the least recently used; then those that only planned tasks use, whoever published the plans, furthest
/// next use first; last those that committed tasks use, furthest next use first. That a replica is clean, and so
/// cheaper to evict, counts for nothing.
///
/// Planned uses are compared by their positions (rank, then the order in which tasks were put into plans) and not by
/// how many tasks stand before them. With several groups on a node that compares positions in different plans; the
/// smallest position is a datum's next use.
///
/// `planned_uses_changed` costs O(log planned uses of the datum), amortised, and for a datum without replica on the
/// node O(1); `replica_added` O(planned uses of the datum); the other notifications O(1). `victim` costs
/// O(log replicas) for each replica that changed since the last call, one step for each that comes first and cannot be
/// evicted, and O(accesses of the committed tasks) when those use all that can be evicted.
class BeladyEviction final : public EvictionPolicy {
 public:
  void attach(SystemView const& view, PlanBoard const& board) override;
  [[nodiscard]] DataId victim(NodeId node) override;
  void replica_added(DataId data, NodeId node) override;
  void replica_used(DataId data, NodeId node) override;
  void replica_dropped(DataId data, NodeId node) override;
  void last_use_ended(DataId data) override;
  void planned_uses_changed(DataId data, GroupId group) override;

 private:
  // What is known of a datum's uses after the committed tasks.
  enum class Known : std::uint8_t { Nothing, Submitted, Planned };
  // The smaller, the sooner it is evicted.
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
    std::uint64_t uses_seen = 0;   // planned uses of smaller number are in `uses`, if they still are planned
    std::vector<PlannedUse> uses;  // a heap, nearest first; those that are not planned any more are dropped on the way
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

}  // namespace granary

#pragma GCC visibility pop
