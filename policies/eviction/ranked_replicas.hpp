// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace granary::detail {

/// The replicas of each node, ordered by a rank that a policy computes from its state of each replica. Changes are only
/// marked, O(1); `order` costs O(log replicas) for each replica that changed since the last call.
template <class Rank, class State>
class GRANARY_EXPORT RankedReplicas {
 public:
  using Order = std::set<std::pair<Rank, DataId>>;

  explicit RankedReplicas(std::size_t nodes = 0) : m_nodes(nodes) {}

  /// The state of a replica, null when there is none.
  [[nodiscard]] State* find(DataId data, NodeId node) {
    auto* const replica = m_nodes[node.index()].find(data);
    return replica != nullptr && replica->present ? &replica->state : nullptr;
  }
  /// A new replica, with this state.
  void add(DataId data, NodeId node, State state) {
    auto& replica = m_nodes[node.index()].take(data);
    replica.present = true;
    replica.state = std::move(state);
    mark_changed(data, node);
  }
  /// Removes the replica, if it exists.
  void drop(DataId data, NodeId node) {
    if (find(data, node) == nullptr) return;
    auto& replica = *m_nodes[node.index()].find(data);
    replica.present = false;
    replica.state = State{};
    mark_changed(data, node);
  }
  /// Marks that the rank of an existing replica may have changed.
  void mark_changed(DataId data, NodeId node) {
    auto& replica = *m_nodes[node.index()].find(data);
    if (std::exchange(replica.changed, true)) return;
    m_nodes[node.index()].changed.push_back(data);
  }

  /// The node's replicas by rank, equal ranks by datum; `rank_of(data, state)` computes a rank.
  template <class RankOf>
  [[nodiscard]] Order const& order(NodeId id, RankOf&& rank_of) {
    auto& node = m_nodes[id.index()];
    for (DataId const data : node.changed) {
      auto& replica = *node.find(data);
      replica.changed = false;
      auto place = replica.ranked ? node.order.extract({replica.rank, data}) : typename Order::node_type{};
      replica.ranked = replica.present;
      if (!replica.present) {
        node.give_back(data);
        continue;
      }
      replica.rank = rank_of(data, replica.state);
      if (place.empty()) {
        node.order.emplace(replica.rank, data);
      } else {
        place.value().first = replica.rank;
        node.order.insert(std::move(place));
      }
    }
    node.changed.clear();
    return node.order;
  }

 private:
  static constexpr std::uint32_t none = 0xffffffffU;
  struct Replica {
    Rank rank{};
    State state{};
    bool present = false;
    bool ranked = false;   // is in `order` under `rank`
    bool changed = false;  // is in `changed`: `order` may be out of date
  };
  // A node holds few of all data: these have a slot each, the others take four bytes.
  struct Node {
    std::vector<std::uint32_t> slots;  // by datum, into `replicas`
    std::vector<Replica> replicas;
    std::vector<std::uint32_t> free;
    Order order;
    std::vector<DataId> changed;

    [[nodiscard]] Replica* find(DataId data) {
      return data.index() < slots.size() && slots[data.index()] != none ? &replicas[slots[data.index()]] : nullptr;
    }
    Replica& take(DataId data) {
      if (data.index() >= slots.size()) slots.resize(data.index() + 1, none);
      auto& slot = slots[data.index()];
      if (slot != none) return replicas[slot];
      if (free.empty()) {
        slot = static_cast<std::uint32_t>(replicas.size());
        return replicas.emplace_back();
      }
      slot = free.back();
      free.pop_back();
      return replicas[slot];
    }
    void give_back(DataId data) {
      auto& slot = slots[data.index()];
      replicas[slot] = {};
      free.push_back(std::exchange(slot, none));
    }
  };
  std::vector<Node> m_nodes;
};

}  // namespace granary::detail
