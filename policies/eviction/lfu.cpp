// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/policy/eviction_policy.hpp>
#include <granary/detail/policies/eviction/ranked_replicas.hpp>
#include <granary/detail/policies/registry.hpp>

#include <compare>
#include <cstdint>
#include <memory>

namespace granary::detail {
namespace {

/// Least frequently used: evicts the replica that the fewest committed tasks have used since it was allocated on the
/// node; among equals the least recently used.
///
/// Notifications are O(1); `victim` costs O(log replicas) for each replica that changed since the last call, and one
/// step for each earlier replica that cannot be evicted.
class LfuEviction final : public EvictionPolicy {
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