// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/trace.hpp>
#include <granary/detail/core/planner/context.hpp>
#include <granary/detail/core/planner/movement/data_table.hpp>
#include <granary/detail/core/planner/movement/eviction_calls.hpp>
#include <granary/detail/core/planner/movement/ledger.hpp>
#include <granary/detail/core/planner/movement/links.hpp>
#include <granary/detail/core/planner/movement/replica_listener.hpp>

#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace granary::detail {

/// The memories of all nodes: which replicas stand where, and what is evicted to make room.
class GRANARY_EXPORT Memories {
 public:
  struct WriteBack {
    DataId data;
    NodeId from;
  };
  /// A place that a holder lacks.
  struct Lacking {
    DataId data;
    Bytes bytes;
    bool result;  ///< beside the datum's place, for the value that a task makes
  };
  struct Node {
    Ledger ledger;
    Bytes reserve = 0;                       // reserved for write-backs that pass through
    Bytes evicting = 0;                      // of replicas that are written back before they are dropped
    std::deque<DataId> transits = {};        // data that wait for room on their way to a holder
    std::deque<WriteBack> write_backs = {};  // data that wait for room on their way home
    std::uint32_t waiting = 0;               // holders that wait for room
    std::uint32_t unsent = 0;                // values that wait for room to be sent from here
    std::uint32_t holders = 0;               // those that got it
    std::uint64_t changes = 1;               // counts what room_may_have_changed was told
  };

  Memories(PlannerContext& context, EvictionCalls& eviction, ReplicaListener& listener, DataTable& data,
           Links const& links);

  [[nodiscard]] Node& operator[](NodeId node) { return m_nodes[node.index()]; }
  [[nodiscard]] Node const& operator[](NodeId node) const { return m_nodes[node.index()]; }

  /// The datum may have to pass through nodes between others: it must find room there.
  void reserve_for(DataId data);
  /// The bytes that holders may use: all but the reserve.
  [[nodiscard]] Bytes room_for_holders(NodeId node) const;
  /// The same for `bytes` of something that was accepted already: the whole capacity if the reserve has grown too large
  /// since.
  [[nodiscard]] Bytes room_for_accepted(Bytes bytes, NodeId node) const;
  /// The most bytes that the data of the list take in the node's memory: a varying one that is written takes two
  /// places.
  [[nodiscard]] Bytes footprint(AccessList const& accesses, NodeId node) const;
  /// The upper limit for the places of these data.
  [[nodiscard]] Bytes end_of_places(AccessList const& accesses, NodeId node) const;

  /// Takes bytes in [low, high) of the node's memory, if there are enough.
  [[nodiscard]] std::optional<Bytes> take(NodeId node, DataId data, Bytes bytes, Bytes low, Bytes high);
  /// The same for a datum on its way home: anywhere, or only in the reserve while others wait for room.
  [[nodiscard]] std::optional<Bytes> take_to_pass(NodeId node, DataId data);
  /// Takes bytes for these places, all or none; `taken`: their offsets.
  bool take_all(std::span<Lacking const> places, NodeId node, Bytes high, std::vector<Bytes>& taken);
  /// True if the datum may be in the node's reserve now; others that are in its way move on first.
  bool may_enter_reserve(NodeId node, DataId data);
  /// True if data of the list stand above `high`, in the reserve, where holders must not keep them.
  [[nodiscard]] bool stands_in_reserve(AccessList const& accesses, NodeId node, Bytes high) const;
  /// Evicts those that do; false if some of them have to be written back first.
  bool leave_reserve(AccessList const& accesses, NodeId node, Bytes high);

  /// Bytes of the node were taken or freed.
  void count_used(NodeId node);
  /// A replica at bytes that were taken; it holds no value yet.
  void add(DataId data, NodeId node, Bytes offset) { add(data, node, offset, m_data[data].bytes); }
  void add(DataId data, NodeId node, Bytes offset, Bytes bytes);
  /// The replica of a varying datum, which a task wrote, is now at `offset`, where bytes were taken, and has only the
  /// bytes of the value.
  void settle_at(DataId data, Replica& replica, Bytes offset);
  /// The replica is needed after all, if it was being evicted.
  void keep(DataId data, NodeId node);
  [[nodiscard]] bool evictable(DataId data, NodeId node) const;
  /// Drops the replica, or posts that its value is written back first.
  void evict(DataId data, NodeId node, EvictionReason reason);
  /// A transfer that read the replica has ended: if it is being evicted, drops it or posts that it is written back.
  void continue_eviction(DataId data, NodeId node, Slot slot);
  void drop(DataId data, NodeId node, bool evicted);
  void drop_if_useless(DataId data, NodeId node);
  /// Drops the datum's replicas and frees its id.
  void forget(DataId data);
  void set_valid(DataId data, Replica& replica, std::uint32_t version);
  void invalidate(DataId data, Replica& replica);
  /// A valid replica is outdated while a write goes on, and its value is kept; the write ended; it was reverted.
  void supersede(DataId data, Replica& replica);
  void drop_superseded(DataId data);
  void restore(DataId data, Replica& replica);
  /// Evicts until `take_all` may succeed below `high` for these places; false if the caller has to wait.
  bool make_room(NodeId node, std::span<Lacking const> places, Bytes high);
  /// True if `bytes` for a holder are free nowhere in one piece, and what is being evicted has fewer.
  [[nodiscard]] bool lacks_room(NodeId node, Bytes bytes) const;
  /// Makes room in the reserve alone, for a datum on its way home.
  void clear_reserve(NodeId node, Bytes bytes);
  /// Evicts all that can be evicted; posts if something was dropped.
  void clear(NodeId node);
  /// Something on the node changed: whatever waits for room there is tried again.
  void room_may_have_changed(NodeId node);

  /// The holders that use their places now; while there are some, more room will be free.
  void begin_work() { ++m_working; }
  void end_work() { --m_working; }
  [[nodiscard]] std::uint32_t working() const { return m_working; }
  /// If `any`, data that the eviction policy would keep are evicted, too, although something works or moves.
  void evict_whatever(bool any) { m_evict_whatever = any; }

  /// The value's destination if it is evicted from `from`: its home, or the storage of temporaries; may be invalid.
  [[nodiscard]] NodeId storage_of(DataId data, NodeId from) const;
  [[nodiscard]] NodeId storage_of_temporaries(NodeId from) const { return m_storage[from.index()]; }

 private:
  [[nodiscard]] std::vector<NodeId> find_storage() const;
  [[nodiscard]] bool continues_beyond(DataId data, NodeId node) const;
  [[nodiscard]] bool stands_above(DataId data, NodeId node, Bytes high) const;
  [[nodiscard]] DataId any_victim(NodeId node) const;
  void give_back(NodeId node, std::vector<Bytes>& taken);
  bool clear_range(NodeId node, std::span<Lacking const> places, Bytes high);

  PlannerContext& m_context;
  EvictionCalls& m_eviction;
  ReplicaListener& m_listener;
  DataTable& m_data;
  Links const& m_links;
  std::vector<Node> m_nodes;
  std::vector<NodeId> m_storage;            // by node: storage of temporaries from there
  std::vector<NodeId> m_wait_for_reserves;  // with write-backs that may not enter a reserve until something changes
  std::uint32_t m_working = 0;
  bool m_evict_whatever = false;
};

}  // namespace granary::detail
