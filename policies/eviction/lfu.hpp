// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/eviction_policy.hpp>
#include <granary/detail/policies/eviction/ranked_replicas.hpp>

#include <compare>
#include <cstdint>

namespace granary::detail {

/// Least frequently used: evicts the replica that the fewest committed tasks have used since it was allocated on the
/// node; among equals the least recently used.
///
/// Notifications are O(1); `victim` costs O(log replicas) for each replica that changed since the last call, and one
/// step for each earlier replica that cannot be evicted.
class GRANARY_EXPORT LfuEviction final : public EvictionPolicy {
 public:
  void attach(SystemView const& view, PlanBoard const& board) override;
  [[nodiscard]] DataId victim(NodeId node) override;
  void replica_added(DataId data, NodeId node) override;
  void replica_used(DataId data, NodeId node) override;
  void replica_dropped(DataId data, NodeId node) override;

 private:
  struct Use {
    std::uint64_t count = 0;  // counts a task that has ended twice
    std::uint64_t last = 0;
    auto operator<=>(Use const&) const = default;
  };
  using Replicas = RankedReplicas<Use, Use>;

  SystemView const* m_view = nullptr;
  Replicas m_replicas;
  std::uint64_t m_clock = 0;  // counts uses
};

}  // namespace granary::detail
