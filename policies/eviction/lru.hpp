// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/eviction_policy.hpp>

#include <cstdint>
#include <vector>

namespace granary::detail {

/// Least recently used: evicts the replica whose last use by a committed task, begin or end, is the oldest.
///
/// Every notification is O(1). `victim` is O(1) plus one step for each older replica that cannot be evicted now. These
/// are few: replicas in use are recent, so only moving ones precede the result.
class GRANARY_EXPORT LruEviction final : public EvictionPolicy {
 public:
  void attach(SystemView const& view, PlanBoard const& board) override;
  [[nodiscard]] DataId victim(NodeId node) override;
  void replica_added(DataId data, NodeId node) override;
  void replica_used(DataId data, NodeId node) override;
  void replica_dropped(DataId data, NodeId node) override;

 private:
  // A circular list, oldest first; cell 0 is its head, and cell i + 1 belongs to datum i. A cell outside the list links
  // to itself.
  struct Cell {
    std::uint32_t previous;
    std::uint32_t next;
  };
  using Recency = std::vector<Cell>;

  static void unlink(Recency& cells, std::uint32_t cell);
  static void append(Recency& cells, std::uint32_t cell);

  SystemView const* m_view = nullptr;
  std::vector<Recency> m_nodes;
};

}  // namespace granary::detail
