// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>

#include <set>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// The replicas of each node in the order of a rank that follows from a policy's state of each: what eviction policies
/// that rank replicas share. Changes are only marked, O(1); `order` costs O(log replicas) for each replica that changed
/// since it was last asked for.
template <class Rank, class State>
class RankedReplicas {
 public:
  using Order = std::set<std::pair<Rank, DataId>>;

  explicit RankedReplicas(std::size_t nodes = 0) : m_nodes(nodes) {}

  /// The state of a replica, null when there is none.
  [[nodiscard]] State* find(DataId data, NodeId node) {
    auto& replicas = m_nodes[node.index()].replicas;
    return data.index() < replicas.size() && replicas[data.index()].present ? &replicas[data.index()].state : nullptr;
  }
  /// A new replica, with this state.
  void add(DataId data, NodeId node, State state) {
    auto& replicas = m_nodes[node.index()].replicas;
    if (data.index() >= replicas.size()) replicas.resize(data.index() + 1);
    auto& replica = replicas[data.index()];
    replica.present = true;
    replica.state = std::move(state);
    mark_changed(data, node);
  }
  /// The replica is gone, if it was there.
  void drop(DataId data, NodeId node) {
    if (find(data, node) == nullptr) return;
    auto& replica = m_nodes[node.index()].replicas[data.index()];
    replica.present = false;
    replica.state = State{};
    mark_changed(data, node);
  }
  /// The replica, which is there, may have another rank.
  void mark_changed(DataId data, NodeId node) {
    auto& replica = m_nodes[node.index()].replicas[data.index()];
    if (std::exchange(replica.changed, true)) return;
    m_nodes[node.index()].changed.push_back(data);
  }

  /// The node's replicas, smallest rank first, of equal ones the smallest datum; `rank_of(data, state)` is one's rank.
  template <class RankOf>
  [[nodiscard]] Order const& order(NodeId id, RankOf&& rank_of) {
    auto& node = m_nodes[id.index()];
    for (DataId const data : node.changed) {
      auto& replica = node.replicas[data.index()];
      replica.changed = false;
      auto place = replica.ranked ? node.order.extract({replica.rank, data}) : typename Order::node_type{};
      replica.ranked = replica.present;
      if (!replica.present) continue;
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
  struct Replica {
    Rank rank{};
    State state{};
    bool present = false;
    bool ranked = false;   // stands in `order` under `rank`
    bool changed = false;  // stands in `changed`: `order` may be out of date
  };
  struct Node {
    std::vector<Replica> replicas;  // by datum
    Order order;
    std::vector<DataId> changed;
  };
  std::vector<Node> m_nodes;
};

}  // namespace granary

#pragma GCC visibility pop
