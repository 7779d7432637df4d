// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/data.hpp>
#include <granary/detail/core/planner/movement/replica_list.hpp>
#include <granary/detail/core/planner/movement/value.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace granary::detail {

/// A fetch through another node: `target` is filled once `via` is.
struct GRANARY_EXPORT Hop {
  NodeId target;
  NodeId via;
  bool pinned = false;  ///< the replica on `via` counts it as a pin; before, the datum waits for room there
};

/// A registered datum.
struct GRANARY_EXPORT Datum {
  // Members that each task needs come first: their order matters, since data are many.
  Bytes bytes = 0;  ///< of the present value; before the first one, what is expected
  Bytes bound = 0;  ///< of any value; 0: no datum is registered here
  NodeId home;
  std::uint32_t users = 0;          ///< submitted tasks that access it and have not ended
  std::uint32_t writers = 0;        ///< of these, the ones that write it
  std::uint32_t version = 0;        ///< the writes of all submitted tasks
  std::uint32_t transfers = 0;      ///< requested or in flight
  std::uint32_t active = 0;         ///< in flight
  std::uint32_t registrations = 1;  ///< that were not released
  Value value;
  WayHome way_home;
  bool varies = false;     ///< values differ in size
  bool accessed = false;   ///< by a task that was submitted
  bool mirrored = false;   ///< there are mirrors
  bool read_only = false;  ///< one of them is read-only
  Bytes result = 0;        ///< a varying one: of the value that a task makes now, or of its place until that is known
  ReplicaList replicas;
  std::vector<Hop> hops;
  DataDescription description;

  /// The bytes that a copy of the value moves, at least 1: the value of a varying datum may be empty, a copy may not.
  [[nodiscard]] Bytes moved_bytes() const { return std::max<Bytes>(bytes, 1); }
  [[nodiscard]] bool released() const { return registrations == 0; }
  /// True if the next task that is submitted may read it.
  [[nodiscard]] bool defined() const { return writers > 0 || value.may_be_read(); }
  /// The replica in that place, or null.
  [[nodiscard]] Replica* find(NodeId node, Slot slot) {
    for (auto& replica : replicas) {
      if (replica.node == node && replica.slot == slot) return &replica;
    }
    return nullptr;
  }
  [[nodiscard]] Replica const* find(NodeId node, Slot slot) const { return const_cast<Datum*>(this)->find(node, slot); }
  /// The datum's slot on `node`: its home or its mirror there, else the pool.
  [[nodiscard]] Slot slot_on(NodeId node) const {
    if (home == node) return Slot::Home;
    return mirrored && find(node, Slot::Mirror) != nullptr ? Slot::Mirror : Slot::Pool;
  }
  [[nodiscard]] Replica* on(NodeId node) { return find(node, slot_on(node)); }
  [[nodiscard]] Replica const* on(NodeId node) const { return const_cast<Datum*>(this)->on(node); }
  [[nodiscard]] bool valid_besides(Replica const& replica) const {
    for (auto const& other : replicas) {
      if (&other != &replica && other.valid) return true;
    }
    return false;
  }
  /// True if the hops that fill `node` pass `through`.
  [[nodiscard]] bool waits_for(NodeId node, NodeId through) const {
    for (std::size_t steps = 0; steps < hops.size() && node != through; ++steps) {
      auto const hop = std::ranges::find(hops, node, &Hop::target);
      if (hop == hops.end()) return false;
      node = hop->via;
    }
    return node == through;
  }
  /// True if its user provides places besides origin and home.
  [[nodiscard]] bool has_further_places() const {
    return std::ranges::any_of(replicas, [this](Replica const& replica) {
      return replica.slot == Slot::Mirror || (replica.slot == Slot::Origin && replica.node != description.origin);
    });
  }
  [[nodiscard]] bool being_written() const {
    return std::ranges::any_of(replicas, [](Replica const& replica) { return replica.writers > 0; });
  }
  [[nodiscard]] bool has_value() const {
    return std::ranges::any_of(replicas, [](Replica const& replica) { return replica.valid; });
  }
  /// The version of the value that the next task reads.
  [[nodiscard]] std::uint32_t next_read() const {
    auto const held = std::ranges::find_if(replicas, &Replica::valid);
    return writers > 0 || held == replicas.end() ? version : held->version;
  }
  /// True if it has a home that lacks the current value. A datum that no task wrote stays at its origin.
  [[nodiscard]] bool away_from_home() const {
    if (!home.valid()) return false;
    return std::ranges::none_of(replicas, [](Replica const& replica) {
      return replica.valid && (replica.slot == Slot::Home || replica.slot == Slot::Origin);
    });
  }
};

}  // namespace granary::detail
