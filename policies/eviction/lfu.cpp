// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/eviction/lfu.hpp>
#include <granary/detail/policies/registry.hpp>

#include <memory>

namespace granary::detail {
namespace {
EvictionRegistration const lfu_registration("lfu", [](PolicyOptions&) { return std::make_unique<LfuEviction>(); });
}  // namespace

void LfuEviction::attach(SystemView const& view, PlanBoard const&) {
  m_view = &view;
  m_replicas = Replicas(view.topology().machine().nodes.size());
}

DataId LfuEviction::victim(NodeId node) {
  for (auto const& [rank, data] : m_replicas.order(node, [](DataId, Use const& use) { return use; })) {
    if (m_view->evictable(data, node)) return data;
  }
  return {};
}

void LfuEviction::replica_added(DataId data, NodeId node) { m_replicas.add(data, node, {0, ++m_clock}); }

void LfuEviction::replica_used(DataId data, NodeId node) {
  auto* const use = m_replicas.find(data, node);
  if (use == nullptr) return;  // used in place
  ++use->count;
  use->last = ++m_clock;
  m_replicas.mark_changed(data, node);
}

void LfuEviction::replica_dropped(DataId data, NodeId node) { m_replicas.drop(data, node); }

}  // namespace granary::detail
