// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/eviction/mru.hpp>
#include <granary/detail/policies/registry.hpp>

#include <memory>

namespace granary::detail {
namespace {
EvictionRegistration const mru_registration("mru", [](PolicyOptions&) { return std::make_unique<MruEviction>(); });
}  // namespace

void MruEviction::attach(SystemView const& view, PlanBoard const&) {
  m_view = &view;
  m_replicas = RankedReplicas<std::uint64_t, std::uint64_t>(view.topology().machine().nodes.size());
}

DataId MruEviction::victim(NodeId node) {
  for (auto const& [rank, data] : m_replicas.order(node, [](DataId, std::uint64_t last_use) { return last_use; })) {
    if (m_view->evictable(data, node)) return data;
  }
  return {};
}

void MruEviction::replica_added(DataId data, NodeId node) { m_replicas.add(data, node, --m_clock); }

void MruEviction::replica_used(DataId data, NodeId node) {
  auto* const last_use = m_replicas.find(data, node);
  if (last_use == nullptr) return;  // used in place
  *last_use = --m_clock;
  m_replicas.mark_changed(data, node);
}

void MruEviction::replica_dropped(DataId data, NodeId node) { m_replicas.drop(data, node); }

}  // namespace granary::detail
