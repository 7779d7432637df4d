// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/policy/eviction_policy.hpp>
#include <granary/detail/policies/eviction/ranked_replicas.hpp>
#include <granary/detail/policies/registry.hpp>

#include <cstdint>
#include <memory>

namespace granary::detail {
namespace {

/// Most recently used: evicts the replica whose last use by a committed task, begin or end, is the latest. It suits
/// tasks that repeatedly read more data than fit, where LRU evicts each datum just before its use.
///
/// Notifications are O(1); `victim` costs O(log replicas) for each replica that changed since the last call, and one
/// step for each more recent replica that cannot be evicted.
class MruEviction final : public EvictionPolicy {
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