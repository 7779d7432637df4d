// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/policy/eviction_policy.hpp>

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// Least recently used: evicts the replica that no committed task took or left for the longest time.
///
/// Every notification is O(1). `victim` is O(1) and one step for each replica that is older and cannot be evicted now:
/// those in use were used last, so that only the few that are moving stand before the answer.
class LruEviction final : public EvictionPolicy {
 public:
  void attach(SystemView const& view, PlanBoard const& board) override;
  [[nodiscard]] DataId victim(NodeId node) override;
  void replica_added(DataId data, NodeId node) override;
  void replica_used(DataId data, NodeId node) override;
  void replica_dropped(DataId data, NodeId node) override;

 private:
  // A circular list, oldest first; cell 0 is its head and cell i + 1 belongs to datum i. A cell outside the list links
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

}  // namespace granary

#pragma GCC visibility pop
