// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/eviction_policy.hpp>
#include <granary/detail/policies/eviction/ranked_replicas.hpp>

#include <cstdint>

namespace granary::detail {

/// Most recently used: evicts the replica whose last use by a committed task, begin or end, is the latest. It suits
/// tasks that repeatedly read more data than fit, where LRU evicts each datum just before its use.
///
/// Notifications are O(1); `victim` costs O(log replicas) for each replica that changed since the last call, and one
/// step for each more recent replica that cannot be evicted.
class GRANARY_EXPORT MruEviction final : public EvictionPolicy {
 public:
  void attach(SystemView const& view, PlanBoard const& board) override;
  [[nodiscard]] DataId victim(NodeId node) override;
  void replica_added(DataId data, NodeId node) override;
  void replica_used(DataId data, NodeId node) override;
  void replica_dropped(DataId data, NodeId node) override;

 private:
  SystemView const* m_view = nullptr;
  RankedReplicas<std::uint64_t, std::uint64_t> m_replicas;  // both: the last use, later ones are smaller
  std::uint64_t m_clock = 0;                                // counts uses, downwards
};

}  // namespace granary::detail
