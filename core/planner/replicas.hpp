// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/model/data.hpp>
#include <granary/core/planner/command.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// One datum in one place. Places in a node's pool come and go; origin and home stay as long as the datum.
struct Replica {
  Replica(NodeId where, Slot which, Bytes at, bool holds_value)
      : node(where), slot(which), valid(holds_value), offset(at) {}

  NodeId node;
  Slot slot = Slot::Pool;
  bool valid;                 ///< holds the datum's present value
  bool evicting = false;      ///< is being written back in order to be dropped
  std::uint32_t writers = 0;  ///< tasks that write it and were handed to a worker
  std::uint32_t pins = 0;     ///< tasks that hold it, hops that will read it
  std::uint32_t readers = 0;  ///< transfers in flight that read it
  TransferId incoming;        ///< asked for or in flight
  Bytes offset;               ///< Pool only
};

/// A fetch that passes through another node: `target` is filled once `via` is.
struct Hop {
  NodeId target;
  NodeId via;
  bool pinned = false;  ///< the replica on `via` counts it among its pins; before, the datum waits for room there
};

/// A live datum.
struct DataRecord {
  static constexpr std::uint32_t no_cause = 0xffffffffU;

  DataDescription description;
  std::vector<Replica> replicas;
  std::vector<Hop> hops;
  std::uint32_t transfers = 0;  ///< asked for or in flight
  std::uint32_t active = 0;     ///< in flight
  bool defined = false;   ///< has an origin, or a task that writes it was submitted and no failure of it was reported
  bool poisoned = false;  ///< a failure left it without a value
  bool stale = false;     ///< its last writer was cancelled: those who depend on that are cancelled too
  std::uint32_t cause = no_cause;   ///< of either: which of the failures that were not reported yet
  bool accessed = false;            ///< by a task that was submitted
  bool written = false;             ///< by such a task
  std::uint32_t registrations = 1;  ///< that were not released
  bool write_failed = false;        ///< the way home failed; not tried again before failures are cleared
  NodeId lost_on;                   ///< a device that was gone when its value was to be written home from there
  bool going_home = false;          ///< is on its way home because of a flush or of its release

  [[nodiscard]] bool released() const { return registrations == 0; }
  /// The replica in that place, or null.
  [[nodiscard]] Replica* find(NodeId node, Slot slot) {
    for (auto& replica : replicas) {
      if (replica.node == node && replica.slot == slot) return &replica;
    }
    return nullptr;
  }
  [[nodiscard]] Replica const* find(NodeId node, Slot slot) const {
    return const_cast<DataRecord*>(this)->find(node, slot);
  }
  /// The slot that stands for the datum on `node`: its home, where that is the home's node, else the pool.
  [[nodiscard]] Slot slot_on(NodeId node) const { return description.home == node ? Slot::Home : Slot::Pool; }
  [[nodiscard]] Replica* on(NodeId node) { return find(node, slot_on(node)); }
  [[nodiscard]] Replica const* on(NodeId node) const { return const_cast<DataRecord*>(this)->on(node); }
  [[nodiscard]] bool valid_besides(Replica const& replica) const {
    for (auto const& other : replicas) {
      if (&other != &replica && other.valid) return true;
    }
    return false;
  }
  /// Whether the hops that fill `node` lead through `through`.
  [[nodiscard]] bool waits_for(NodeId node, NodeId through) const {
    for (std::size_t steps = 0; steps < hops.size() && node != through; ++steps) {
      auto const hop = std::ranges::find(hops, node, &Hop::target);
      if (hop == hops.end()) return false;
      node = hop->via;
    }
    return node == through;
  }
  [[nodiscard]] bool has_value() const {
    for (auto const& replica : replicas) {
      if (replica.valid) return true;
    }
    return false;
  }
  /// Whether its home, if it has one, lacks the present value. A datum that nobody wrote stays at its origin.
  [[nodiscard]] bool away_from_home() const {
    if (!description.home.valid()) return false;
    if (auto const* origin = find(description.origin, Slot::Origin); origin != nullptr && origin->valid) return false;
    return !find(description.home, Slot::Home)->valid;
  }
};

}  // namespace granary

#pragma GCC visibility pop
