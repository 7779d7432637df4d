// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/movement/memories.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace granary::detail {

Memories::Memories(PlannerContext& context, EvictionCalls& eviction, ReplicaListener& listener, DataTable& data,
                   Links const& links)
    : m_context(context), m_eviction(eviction), m_listener(listener), m_data(data), m_links(links) {
  for (auto const& node : context.topology.machine().nodes)
    m_nodes.push_back({.ledger = Ledger(node.capacity, node.alignment)});
  m_context.statistics.nodes.resize(m_nodes.size());
  m_storage = find_storage();
}

// Nothing for data that have a place of their own there, and none for data of more than half of a memory: beside a
// reserve for them there is no room for them, so that no task on them is accepted. Values of other processes never go
// home.
void Memories::reserve_for(DataId data) {
  if (m_context.topology.peers().valid() && m_data[data].home == m_context.topology.peers()) return;
  for (std::size_t n = 0; n < m_nodes.size(); ++n) {
    NodeId const id(static_cast<std::uint32_t>(n));
    if (!m_context.topology.between_others(id) || m_data[data].slot_on(id) != Slot::Pool) continue;
    auto& node = m_nodes[n];
    Bytes const size = node.ledger.rounded(m_data[data].bound);
    if (size <= node.ledger.capacity() / 2) node.reserve = std::max(node.reserve, size);
  }
}

Bytes Memories::room_for_holders(NodeId id) const {
  auto const& node = m_nodes[id.index()];
  return node.ledger.capacity() - std::min(node.reserve, node.ledger.capacity());
}

Bytes Memories::room_for_accepted(Bytes bytes, NodeId id) const {
  Bytes const room = room_for_holders(id);
  return bytes > room ? m_nodes[id.index()].ledger.capacity() : room;
}

Bytes Memories::footprint(AccessList const& accesses, NodeId id) const {
  Bytes total = 0;
  for (auto const& access : accesses) {
    auto const& datum = m_data[access.data];
    if (access.repeated || datum.slot_on(id) != Slot::Pool) continue;
    Bytes const size = m_nodes[id.index()].ledger.rounded(datum.bound);
    total += datum.varies && writes(access.mode) ? 2 * size : size;
  }
  return total;
}

Bytes Memories::end_of_places(AccessList const& accesses, NodeId id) const {
  auto const& node = m_nodes[id.index()];
  return node.reserve == 0 ? node.ledger.capacity() : room_for_accepted(footprint(accesses, id), id);
}

std::optional<Bytes> Memories::take(NodeId id, DataId data, Bytes bytes, Bytes low, Bytes high) {
  return m_nodes[id.index()].ledger.allocate(data, bytes, low, high);
}

std::optional<Bytes> Memories::take_to_pass(NodeId id, DataId data) {
  auto const& node = m_nodes[id.index()];
  Bytes const bytes = m_data[data].bytes;
  bool const contended = node.reserve > 0 && (node.waiting > 0 || !node.transits.empty());
  auto const offset = contended ? std::nullopt : take(id, data, bytes, 0, room_for_holders(id));
  if (offset || !may_enter_reserve(id, data)) return offset;
  return take(id, data, bytes, room_for_holders(id), node.ledger.capacity());
}

bool Memories::take_all(std::span<Lacking const> places, NodeId id, Bytes high, std::vector<Bytes>& taken) {
  for (auto const fit : {Ledger::Fit::Slots, Ledger::Fit::Tight}) {
    taken.clear();
    for (auto const& place : places) {
      auto const offset = m_nodes[id.index()].ledger.allocate(place.data, place.bytes, 0, high, fit);
      if (!offset) break;
      taken.push_back(*offset);
    }
    if (taken.size() == places.size()) return true;
    give_back(id, taken);
  }
  return false;
}

void Memories::give_back(NodeId id, std::vector<Bytes>& taken) {
  for (Bytes const offset : taken) m_nodes[id.index()].ledger.free(offset);
  taken.clear();
}

// Two data that go home in opposite directions must not each occupy the reserve that the other needs next: only one
// datum at a time is admitted to reserves from which the route continues to another reserve. When the reserves grow,
// several may be in them already: each of these goes on as soon as it finds room, and no other is admitted before.
bool Memories::may_enter_reserve(NodeId id, DataId data) {
  if (!continues_beyond(data, id)) return true;
  std::vector<std::pair<DataId, NodeId>> others;
  for (std::size_t n = 0; n < m_nodes.size(); ++n) {
    NodeId const node(static_cast<std::uint32_t>(n));
    auto const& blocks = m_nodes[n].ledger.blocks();
    for (auto block = blocks.lower_bound(room_for_holders(node)); block != blocks.end(); ++block) {
      DataId const other = block->second.data;
      if (!continues_beyond(other, node)) continue;
      if (other == data) return true;
      others.emplace_back(other, node);
    }
  }
  bool free = true;
  for (auto const& [other, node] : others) {
    if (evictable(other, node)) evict(other, node, EvictionReason::Reserve);
    free = free && m_data[other].find(node, Slot::Pool) == nullptr;
  }
  if (!free && std::ranges::find(m_wait_for_reserves, id) == m_wait_for_reserves.end())
    m_wait_for_reserves.push_back(id);
  return free;
}

// True if the route home, or to storage, continues from the node through another one.
bool Memories::continues_beyond(DataId data, NodeId node) const {
  NodeId const target = storage_of(data, node);
  if (!target.valid() || target == node) return false;
  auto const& topology = m_context.topology;
  return topology.machine()[topology.next_hop(node, target)].to != target;
}

bool Memories::stands_above(DataId data, NodeId id, Bytes high) const {
  auto const* const replica = m_data[data].find(id, Slot::Pool);
  return replica != nullptr && replica->offset + replica->bytes > high;
}

// There they would block write-backs that others wait for.
bool Memories::stands_in_reserve(AccessList const& accesses, NodeId id, Bytes high) const {
  return high < m_nodes[id.index()].ledger.capacity() &&
         std::ranges::any_of(accesses, [&](Access const& access) { return stands_above(access.data, id, high); });
}

bool Memories::leave_reserve(AccessList const& accesses, NodeId id, Bytes high) {
  for (auto const& access : accesses) {
    if (!access.repeated && stands_above(access.data, id, high) && evictable(access.data, id))
      evict(access.data, id, EvictionReason::Reserve);
  }
  return !stands_in_reserve(accesses, id, high);
}

void Memories::count_used(NodeId id) {
  auto& statistics = m_context.statistics.nodes[id.index()];
  statistics.used = m_nodes[id.index()].ledger.used();
  statistics.peak = std::max(statistics.peak, statistics.used);
}

void Memories::add(DataId data, NodeId id, Bytes offset, Bytes size) {
  Bytes const bytes = m_nodes[id.index()].ledger.rounded(size);
  m_data[data].replicas.add({.node = id, .offset = offset, .bytes = bytes});
  count_used(id);
  m_context.notice(Allocated{data, id, offset, bytes});
  if (m_context.topology.machine()[id].capacity < unbounded) m_eviction.replica_added(data, id);
  m_listener.allocated(data, id);
}

void Memories::settle_at(DataId data, Replica& replica, Bytes offset) {
  auto& ledger = m_nodes[replica.node.index()].ledger;
  if (offset != replica.offset) ledger.free(replica.offset);
  replica.offset = offset;
  replica.bytes = ledger.rounded(m_data[data].bytes);
  ledger.shrink(offset, replica.bytes);
  count_used(replica.node);
  m_context.notice(Settled{data, replica.node, offset, replica.bytes});
  room_may_have_changed(replica.node);
}

void Memories::keep(DataId data, NodeId id) {
  Replica* const replica = m_data[data].on(id);
  if (!replica->evicting) return;
  replica->evicting = false;
  m_nodes[id.index()].evicting -= replica->bytes;
}

bool Memories::evictable(DataId data, NodeId id) const {
  auto const& datum = m_data[data];
  auto const* const replica = datum.find(id, Slot::Pool);
  return replica != nullptr && replica->valid && !replica->evicting && replica->pins == 0 && !datum.way_home.going() &&
         (datum.valid_besides(*replica) || (storage_of(data, id).valid() && !datum.way_home.failed()));
}

void Memories::evict(DataId data, NodeId id, EvictionReason reason) {
  auto& node = m_nodes[id.index()];
  Replica* const replica = m_data[data].find(id, Slot::Pool);
  ++m_context.statistics.nodes[id.index()].evictions;
  bool const elsewhere = m_data[data].valid_besides(*replica);
  m_context.notice(Evicted{data, id, reason, !elsewhere});
  if (replica->readers == 0 && elsewhere) {
    drop(data, id, true);
    return;
  }
  replica->evicting = true;
  node.evicting += replica->bytes;
  if (!elsewhere) m_context.agenda.post(Agenda::WriteBack{data, id});
}

void Memories::continue_eviction(DataId data, NodeId id, Slot slot) {
  Replica* const replica = m_data[data].find(id, slot);
  if (replica == nullptr || !replica->evicting || replica->pins > 0 || replica->readers > 0) return;
  if (m_data[data].valid_besides(*replica)) {
    drop(data, id, true);
  } else {
    m_context.agenda.post(Agenda::WriteBack{data, id});
  }
}

void Memories::drop(DataId data, NodeId id, bool evicted) {
  auto& datum = m_data[data];
  auto& node = m_nodes[id.index()];
  Replica* const replica = datum.find(id, Slot::Pool);
  Bytes const offset = replica->offset;
  bool const superseded = replica->superseded;  // policies were told when it was outdated
  if (replica->evicting) node.evicting -= replica->bytes;
  node.ledger.free(offset);
  count_used(id);
  datum.replicas.erase(replica);
  m_context.notice(Freed{data, id, offset});
  if (m_context.topology.machine()[id].capacity < unbounded) m_eviction.replica_dropped(data, id);
  if (!superseded) m_listener.dropped(data, id, evicted);
  room_may_have_changed(id);
}

void Memories::drop_if_useless(DataId data, NodeId id) {
  Replica const* const replica = m_data[data].find(id, Slot::Pool);
  if (replica != nullptr && !replica->useful()) drop(data, id, false);
}

void Memories::forget(DataId data) {
  auto const& replicas = m_data[data].replicas;
  for (std::size_t i = replicas.size(); i-- > 0;) {
    if (replicas[i].slot == Slot::Pool) drop(data, replicas[i].node, false);
  }
  m_data.forget(data);
  m_listener.forgotten(data);
  m_context.commands.emplace_back(ForgetCommand{data});
}

void Memories::set_valid(DataId data, Replica& replica, std::uint32_t version) {
  replica.valid = true;
  replica.version = version;
  m_listener.arrived(data, replica.node);
}

void Memories::invalidate(DataId data, Replica& replica) {
  bool const was_valid = std::exchange(replica.valid, false);
  if (replica.slot == Slot::Pool) {
    drop_if_useless(data, replica.node);
  } else if (was_valid) {
    m_listener.dropped(data, replica.node, false);
  }
}

void Memories::supersede(DataId data, Replica& replica) {
  if (replica.slot == Slot::Pool) keep(data, replica.node);
  replica.valid = false;
  replica.superseded = true;
  m_listener.dropped(data, replica.node, false);
}

void Memories::drop_superseded(DataId data) {
  auto& replicas = m_data[data].replicas;
  for (std::size_t i = replicas.size(); i-- > 0;) {
    if (!replicas[i].superseded) continue;
    if (replicas[i].slot == Slot::Pool) {
      drop(data, replicas[i].node, false);
    } else {
      replicas[i].superseded = false;
    }
  }
}

void Memories::restore(DataId data, Replica& replica) {
  replica.superseded = false;
  if (replica.slot == Slot::Pool) m_listener.allocated(data, replica.node);
  set_valid(data, replica, replica.version);
}

bool Memories::make_room(NodeId id, std::span<Lacking const> places, Bytes high) {
  auto& node = m_nodes[id.index()];
  Bytes total = 0;
  for (auto const& place : places) total += node.ledger.rounded(place.bytes);
  for (;;) {
    if (high + node.evicting < node.ledger.used() - node.ledger.used_from(high) + total) {
      DataId victim = m_eviction.victim(id, [&](DataId data) { return evictable(data, id); });
      auto const reason = victim.valid() ? EvictionReason::Policy : EvictionReason::Fallback;
      bool const stall = m_evict_whatever || (m_working == 0 && m_links.active() == 0);
      if (!victim.valid() && stall) victim = any_victim(id);
      if (!victim.valid()) return false;
      Bytes const before = node.ledger.used();
      evict(victim, id, reason);
      if (node.ledger.used() < before) return true;
      continue;
    }
    return node.evicting == 0 && clear_range(id, places, high);
  }
}

// Enough bytes are free, but fragmented: clears the cheapest range for the first place that finds none.
bool Memories::clear_range(NodeId id, std::span<Lacking const> places, Bytes high) {
  auto& node = m_nodes[id.index()];
  DataId const unwanted = m_eviction.victim(id, [&](DataId data) { return evictable(data, id); });
  std::vector<Bytes> taken;
  std::vector<DataId> victims;
  for (auto const& place : places) {
    if (auto const offset = take(id, place.data, place.bytes, 0, high)) {
      taken.push_back(*offset);
      continue;
    }
    victims = node.ledger.window(
        place.bytes, 0, high, [&](DataId other) { return evictable(other, id); }, unwanted);
    break;
  }
  give_back(id, taken);
  for (DataId const victim : victims) evict(victim, id, EvictionReason::Fragments);
  return !victims.empty() && node.evicting == 0;
}

bool Memories::lacks_room(NodeId id, Bytes bytes) const {
  auto const& node = m_nodes[id.index()];
  return node.evicting < node.ledger.rounded(bytes) && !node.ledger.fits(bytes, 0, room_for_holders(id));
}

DataId Memories::any_victim(NodeId id) const {
  for (auto const& [offset, block] : m_nodes[id.index()].ledger.blocks()) {
    if (evictable(block.data, id)) return block.data;
  }
  return {};
}

// Tasks on two nodes that wait for each other's write-backs cannot deadlock, since holders have no place in a reserve.
void Memories::clear_reserve(NodeId id, Bytes bytes) {
  auto const& ledger = m_nodes[id.index()].ledger;
  for (DataId const victim : ledger.window(bytes, room_for_holders(id), ledger.capacity(), [&](DataId other) {
         auto const* const replica = m_data[other].find(id, Slot::Pool);  // null: its value is kept aside
         return evictable(other, id) || (replica != nullptr && replica->evicting);
       })) {
    if (evictable(victim, id)) evict(victim, id, EvictionReason::Reserve);
  }
}

void Memories::clear(NodeId id) {
  auto const& ledger = m_nodes[id.index()].ledger;
  Bytes const used = ledger.used();
  for (auto const& [offset, block] : std::map(ledger.blocks())) {
    if (evictable(block.data, id)) evict(block.data, id, EvictionReason::Clearing);
  }
  if (ledger.used() < used) m_context.agenda.post(Agenda::GiveRoom{id});
}

void Memories::room_may_have_changed(NodeId id) {
  auto& node = m_nodes[id.index()];
  ++node.changes;
  if (node.waiting > 0 || node.unsent > 0 || !node.transits.empty() || !node.write_backs.empty())
    m_context.agenda.post(Agenda::GiveRoom{id});
  for (NodeId const other : m_wait_for_reserves) m_context.agenda.post(Agenda::GiveRoom{other});
  m_wait_for_reserves.clear();
}

NodeId Memories::storage_of(DataId data, NodeId from) const {
  NodeId const home = m_data[data].home;
  return home.valid() ? home : m_storage[from.index()];
}

// The storage of temporaries for each node: the nearest storage node, or from a device the nearest host node.
std::vector<NodeId> Memories::find_storage() const {
  auto const& topology = m_context.topology;
  auto const& machine = topology.machine();
  auto const nearest = [&](NodeId from, auto const& suits) {
    NodeId best;
    Duration best_time = Duration::max();
    for (std::size_t n = 0; n < machine.nodes.size(); ++n) {
      NodeId const node(static_cast<std::uint32_t>(n));
      if (node == from || !suits(node) || topology.route_time(from, node, 1_MiB) >= best_time) continue;
      best = node;
      best_time = topology.route_time(from, node, 1_MiB);
    }
    return best;
  };
  auto const boundless = [&](NodeId node) {
    return topology.groups_on(node).empty() && machine[node].capacity == unbounded &&
           machine[node].kind != NodeKind::Peers;
  };
  auto const disk = [&](NodeId node) {
    return topology.groups_on(node).empty() && machine[node].kind == NodeKind::Disk;
  };
  auto const host = [&](NodeId node) { return machine[node].kind == NodeKind::Host; };
  std::vector<NodeId> storage(machine.nodes.size());
  for (std::size_t n = 0; n < machine.nodes.size(); ++n) {
    NodeId const from(static_cast<std::uint32_t>(n));
    if (boundless(from)) continue;
    storage[n] = nearest(from, boundless);
    if (!storage[n].valid() && !disk(from)) storage[n] = nearest(from, disk);
    if (!storage[n].valid() && machine[from].kind == NodeKind::Device) storage[n] = nearest(from, host);
  }
  return storage;
}

}  // namespace granary::detail
