// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/eviction/lru.hpp>
#include <granary/detail/policies/registry.hpp>

#include <memory>

namespace granary::detail {
namespace {
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
