// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/policy/eviction_policy.hpp>
#include <granary/detail/policies/eviction/furthest_committed.hpp>
#include <granary/detail/policies/eviction/ranked_replicas.hpp>
#include <granary/detail/policies/registry.hpp>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <memory>
#include <vector>

namespace granary::detail {
namespace {

/// Belady's rule, restricted to the known future: evicts the replica whose next use is furthest away. Order of
/// eviction: (1) replicas that no committed or planned task of the node's groups uses; among these first those that no
/// submitted task uses, then the least recently used. (2) Replicas that only planned tasks use, of any scheduler's
/// plans, furthest next use first. (3) Replicas that committed tasks use, furthest next use first. Clean replicas are
/// not preferred, although they are cheaper to evict.
///
/// Planned uses are compared by position (rank, then order of insertion), not by the number of tasks before them. With
/// several groups on a node, positions in different plans are compared; a datum's next use is the smallest position.
///
/// `planned_uses_changed` costs O(log planned uses of the datum), amortised, and O(1) for a datum without replica on
/// the node; `replica_added` O(planned uses of the datum); the other notifications O(1). `victim` costs O(log replicas)
/// for each replica that changed since the last call, one step for each earlier replica that cannot be evicted, and
/// O(accesses of the committed tasks) if these use all evictable replicas.
class BeladyEviction final : public EvictionPolicy {
 public:
  void attach(SystemView const& view, PlanBoard const& board) override;
  [[nodiscard]] DataId victim(NodeId node) override;
  void replica_added(DataId data, NodeId node) override;
  void replica_used(DataId data, NodeId node) override;
  void replica_dropped(DataId data, NodeId node) override;
  void last_use_ended(DataId data) override;
  void planned_uses_changed(DataId data, GroupId group) override;

 private:
  // The known uses of a datum after the committed tasks.
  enum class Known : std::uint8_t { Nothing, Submitted, Planned };
  // Smaller ranks are evicted first.
  struct Rank {
    Known known = Known::Nothing;
    PlanPosition next_use{};
    std::uint64_t last_use = 0;
    friend std::strong_ordering operator<=>(Rank const& a, Rank const& b) {
      if (auto const order = a.known <=> b.known; std::is_neq(order)) return order;
      if (auto const order = b.next_use <=> a.next_use; std::is_neq(order)) return order;
      return a.last_use <=> b.last_use;
    }
    friend bool operator==(Rank const&, Rank const&) = default;
  };
  struct PlannedUse {
    PlanPosition position;
    TaskId task;
    friend bool operator<(PlannedUse const& a, PlannedUse const& b) { return b.position < a.position; }
  };
  struct Replica {
    std::uint64_t last_use = 0;
    std::uint64_t uses_seen = 0;   // planned uses of smaller number are in `uses` while they are planned
    std::vector<PlannedUse> uses;  // a heap, nearest first; uses that are not planned any more are dropped lazily
  };
  using Replicas = RankedReplicas<Rank, Replica>;

  [[nodiscard]] bool live(PlannedUse const& use) const;
  [[nodiscard]] Rank rank(DataId data, Replica& replica) const;
  void add_use(Replica& replica, DataId data, NodeId node, PlannedUse use) const;

  SystemView const* m_view = nullptr;
  PlanBoard const* m_board = nullptr;
  Replicas m_replicas;
  std::uint64_t m_clock = 0;  // counts uses
};

EvictionRegistration const belady_registration("belady",
                                               [](PolicyOptions&) { return std::make_unique<BeladyEviction>(); });
}  // namespace

void BeladyEviction::attach(SystemView const& view, PlanBoard const& board) {
  m_view = &view;
  m_board = &board;
  m_replicas = Replicas(view.topology().machine().nodes.size());
}

DataId BeladyEviction::victim(NodeId node) {
  auto const rank_of = [&](DataId data, Replica& replica) { return rank(data, replica); };
  for (auto const& [place, data] : m_replicas.order(node, rank_of)) {
    if (m_view->committed_uses(data, node) == 0 && m_view->evictable(data, node)) return data;
  }
  return furthest_committed_use(*m_view, node);
}

bool BeladyEviction::live(PlannedUse const& use) const {
  return m_board->planned(use.task) && m_board->position(use.task).number == use.position.number;
}

BeladyEviction::Rank BeladyEviction::rank(DataId data, Replica& replica) const {
  auto& uses = replica.uses;
  while (!uses.empty() && !live(uses.front())) {
    std::ranges::pop_heap(uses, std::less{});
    uses.pop_back();
  }
  if (!uses.empty()) return {Known::Planned, uses.front().position, replica.last_use};
  return {m_view->unfinished_uses(data) > 0 ? Known::Submitted : Known::Nothing, {}, replica.last_use};
}

void BeladyEviction::replica_added(DataId data, NodeId node) {
  Replica replica;
  replica.last_use = ++m_clock;
  for (GroupId const group : m_view->topology().groups_on(node)) {
    m_board->for_each_user(data, group, [&](TaskId task, PlanPosition position) {
      replica.uses.push_back({position, task});
      replica.uses_seen = std::max(replica.uses_seen, position.number + 1);
    });
  }
  std::ranges::make_heap(replica.uses, std::less{});
  m_replicas.add(data, node, std::move(replica));
}

void BeladyEviction::replica_used(DataId data, NodeId node) {
  auto* const replica = m_replicas.find(data, node);
  if (replica == nullptr) return;  // used in place
  replica->last_use = ++m_clock;
  m_replicas.mark_changed(data, node);
}

void BeladyEviction::replica_dropped(DataId data, NodeId node) { m_replicas.drop(data, node); }

void BeladyEviction::last_use_ended(DataId data) {
  for (std::uint32_t n = 0; n < m_view->topology().machine().nodes.size(); ++n) {
    if (m_replicas.find(data, NodeId(n)) != nullptr) m_replicas.mark_changed(data, NodeId(n));
  }
}

void BeladyEviction::planned_uses_changed(DataId data, GroupId group) {
  NodeId const node = m_view->topology().group(group).node;
  auto* const replica = m_replicas.find(data, node);
  if (replica == nullptr) return;
  m_replicas.mark_changed(data, node);
  TaskId const newest = m_board->newest_user(data, group);
  if (newest.valid()) add_use(*replica, data, node, {m_board->position(newest), newest});
}

void BeladyEviction::add_use(Replica& replica, DataId data, NodeId node, PlannedUse use) const {
  if (use.position.number < replica.uses_seen) return;  // the change was the removal of another use
  replica.uses_seen = use.position.number + 1;
  std::size_t planned = 0;
  for (GroupId const group : m_view->topology().groups_on(node)) planned += m_board->uses(data, group);
  replica.uses.push_back(use);
  if (replica.uses.size() > 2 * planned + 16) {
    std::erase_if(replica.uses, [&](PlannedUse const& other) { return !live(other); });
    std::ranges::make_heap(replica.uses, std::less{});
  } else {
    std::ranges::push_heap(replica.uses, std::less{});
  }
}

}  // namespace granary::detail