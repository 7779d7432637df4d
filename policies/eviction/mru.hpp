// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/policy/eviction_policy.hpp>
#include <granary/policies/eviction/ranked_replicas.hpp>

#include <cstdint>

#pragma GCC visibility push(default)

namespace granary {

/// Most recently used: evicts the replica that a committed task took or left last. For tasks that go through more data
/// than fit again and again, of which LRU evicts each just before it is used.
///
/// Notifications are O(1); `victim` costs O(log replicas) for each replica that changed since the last call, and one
/// step for each that was used later and cannot be evicted.
class MruEviction final : public EvictionPolicy {
 public:
  void attach(SystemView const& view, PlanBoard const& board) override;
  [[nodiscard]] DataId victim(NodeId node) override;
  void replica_added(DataId data, NodeId node) override;
  void replica_used(DataId data, NodeId node) override;
  void replica_dropped(DataId data, NodeId node) override;

 private:
  SystemView const* m_view = nullptr;
  RankedReplicas<std::uint64_t, std::uint64_t> m_replicas;  // both: the last use, the later the smaller
  std::uint64_t m_clock = 0;                                // counts uses, downwards
};

}  // namespace granary

#pragma GCC visibility pop
