// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/policy/eviction_policy.hpp>
#include <granary/detail/policies/registry.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace granary::detail {
namespace {

/// Least recently used: evicts the replica whose last use by a committed task, begin or end, is the oldest.
///
/// Every notification is O(1). `victim` is O(1) plus one step for each older replica that cannot be evicted now. These
/// are few: replicas in use are recent, so only moving ones precede the result.
class LruEviction final : public EvictionPolicy {
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

EvictionRegistration const lru_registration("lru", [](PolicyOptions&) { return std::make_unique<LruEviction>(); });
}  // namespace

void LruEviction::attach(SystemView const& view, PlanBoard const&) {
  m_view = &view;
  m_nodes.assign(view.topology().machine().nodes.size(), Recency{Cell{0, 0}});
}

DataId LruEviction::victim(NodeId node) {
  auto const& cells = m_nodes[node.index()];
  for (auto cell = cells[0].next; cell != 0; cell = cells[cell].next) {
    DataId const data(cell - 1);
    if (m_view->evictable(data, node)) return data;
  }
  return {};
}

void LruEviction::replica_added(DataId data, NodeId node) {
  auto& cells = m_nodes[node.index()];
  while (cells.size() <= data.index() + 1) {
    auto const cell = static_cast<std::uint32_t>(cells.size());
    cells.push_back({cell, cell});
  }
  auto const cell = data.value() + 1;
  unlink(cells, cell);
  append(cells, cell);
}

void LruEviction::replica_used(DataId data, NodeId node) {
  auto& cells = m_nodes[node.index()];
  auto const cell = data.value() + 1;
  // Data used in place have no replica in the node's memory.
  if (cell >= cells.size() || cells[cell].next == cell) return;
  unlink(cells, cell);
  append(cells, cell);
}

void LruEviction::replica_dropped(DataId data, NodeId node) {
  auto& cells = m_nodes[node.index()];
  if (data.index() + 1 < cells.size()) unlink(cells, data.value() + 1);
}

void LruEviction::unlink(Recency& cells, std::uint32_t cell) {
  auto& links = cells[cell];
  cells[links.previous].next = links.next;
  cells[links.next].previous = links.previous;
  links = {cell, cell};
}

void LruEviction::append(Recency& cells, std::uint32_t cell) {
  auto const last = cells[0].previous;
  cells[cell] = {last, 0};
  cells[last].next = cell;
  cells[0].previous = cell;
}

}  // namespace granary::detail