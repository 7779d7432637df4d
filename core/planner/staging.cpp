// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory on nodes: when each committed task gets it, and what is evicted for it.
#include <granary/core/base/error.hpp>
#include <granary/core/planner/planner.hpp>

#include <algorithm>

namespace granary {

void Planner::give_room(NodeId id) {
  auto& node = m_nodes[id.index()];
  give_room_to_write_backs(id);
  while (!node.transits.empty() && give_room_to_transit(id, node.transits.front())) node.transits.pop_front();
  while (!node.waiting.empty()) {
    Task& task = m_graph[node.waiting.front()];
    if (!place_task(task, node.transits.empty())) break;
    node.waiting.pop_front();
    node.passed = 0;
    m_agenda.post(Agenda::Commit{task.group});
  }
  for (std::size_t i = 1; i < node.waiting.size() && node.passed < most_passes;) {
    Task& task = m_graph[node.waiting[i]];
    if (!place_task(task, false)) {
      ++i;
      continue;
    }
    node.waiting.erase(node.waiting.begin() + static_cast<std::ptrdiff_t>(i));
    ++node.passed;
    m_agenda.post(Agenda::Commit{task.group});
  }
}

void Planner::give_room_to_write_backs(NodeId id) {
  auto& node = m_nodes[id.index()];
  Bytes const reserved_from = room_for_tasks(id);
  for (std::size_t i = 0; i < node.write_backs.size();) {
    auto const [data, from] = node.write_backs[i];
    auto* const source = known(data) ? record(data).on(from) : nullptr;
    bool const wanted = source != nullptr && source->valid && (source->evicting || record(data).going_home);
    if (wanted && record(data).on(id) == nullptr) {
      Bytes const bytes = record(data).description.bytes;
      auto offset = take_room_to_pass(id, data);
      if (!offset && !may_enter_reserve(id, data)) {
        ++i;  // the one that it waits for may stand behind it
        continue;
      }
      if (!offset) {
        // Only the reserve may be cleared for a write-back: it keeps tasks on two nodes from deadlock.
        for (DataId const victim : node.ledger.window(bytes, reserved_from, node.ledger.capacity(), [&](DataId other) {
               return evictable(other, id) || record(other).find(id, Slot::Pool)->evicting;
             })) {
          if (evictable(victim, id)) evict(victim, id, EvictionReason::Reserve);
        }
        offset = take_room_to_pass(id, data);
        if (!offset) return;
      }
      add_pool_replica(data, id, *offset);
    }
    if (wanted) write_back(data, from);
    node.write_backs.erase(node.write_backs.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

bool Planner::give_room_to_transit(NodeId id, DataId data) {
  auto& passing = record(data);
  std::erase_if(passing.hops,
                [&](Hop const& hop) { return hop.via == id && !hop.pinned && passing.on(hop.target) == nullptr; });
  bool const wanted = std::ranges::any_of(passing.hops, [&](Hop const& hop) { return hop.via == id && !hop.pinned; });
  if (!wanted) {
    if (passing.released()) m_agenda.post(Agenda::Forget{data});
    return true;
  }
  if (passing.on(id) == nullptr) {
    Bytes const bytes = passing.description.bytes;
    Bytes const high = room_for_accepted(m_nodes[id.index()].ledger.rounded(bytes), id);
    auto offset = take_room(id, data, 0, high);
    while (!offset && make_room(id, bytes, bytes, 0, high)) offset = take_room(id, data, 0, high);
    if (!offset) return false;
    add_pool_replica(data, id, *offset);
  }
  pass_through(data, id);
  return true;
}

bool Planner::place_task(Task& task, bool may_evict) {
  NodeId const id = m_topology.group(task.group).node;
  auto& node = m_nodes[id.index()];
  if (m_alone.valid() && task.id != m_alone) return false;
  Bytes const high = end_of_places(task, id);
  if (stands_in_reserve(task, id, high, may_evict)) return false;
  Bytes total = 0;
  Bytes largest = 0;
  for (auto const& access : task.accesses) {
    if (access.repeated || record(access.data).on(id) != nullptr) continue;
    Bytes const size = node.ledger.rounded(record(access.data).description.bytes);
    total += size;
    largest = std::max(largest, size);
  }
  if (total > 0) {
    if (!may_evict) return false;
    std::vector<std::pair<DataId, Bytes>> taken;
    // The task's own data must not be chosen as victims.
    std::vector<DataId> own;
    for (auto const& access : task.accesses) {
      if (auto* const replica = access.repeated ? nullptr : record(access.data).on(id)) {
        ++replica->pins;
        own.push_back(access.data);
      }
    }
    bool placed = allocate_all(task, id, high, taken);
    while (!placed && make_room(id, total, largest, 0, high)) placed = allocate_all(task, id, high, taken);
    for (DataId const data : own) --record(data).on(id)->pins;
    if (!placed) {
      if (node.holders == 0 && node.evicting == 0) clear_node(id);
      return false;
    }
    for (auto const& [data, offset] : taken) add_pool_replica(data, id, offset);
  }
  hold_places(task);
  return true;
}

// The upper limit for its places.
Bytes Planner::end_of_places(Task const& task, NodeId id) const {
  auto const& node = m_nodes[id.index()];
  return node.reserve == 0 ? node.ledger.capacity() : room_for_accepted(footprint(task.accesses, id), id);
}

// A task must not hold memory in the reserve, where it would block write-backs that others wait for: such replicas are
// moved out first.
bool Planner::stands_in_reserve(Task const& task, NodeId id, Bytes high, bool may_evict) {
  auto const& node = m_nodes[id.index()];
  bool stands = false;
  if (high == node.ledger.capacity()) return stands;
  for (auto const& access : task.accesses) {
    auto const* const replica = access.repeated ? nullptr : record(access.data).find(id, Slot::Pool);
    if (replica == nullptr) continue;
    Bytes const end = replica->offset + node.ledger.rounded(record(access.data).description.bytes);
    if (end <= high) continue;
    stands = true;
    if (may_evict && evictable(access.data, id)) evict(access.data, id, EvictionReason::Reserve);
  }
  if (stands && may_evict) {
    // What was clean is gone already: then the task can be placed at once.
    stands = std::ranges::any_of(task.accesses, [&](Access const& access) {
      auto const* const replica = record(access.data).find(id, Slot::Pool);
      return replica != nullptr && replica->offset + node.ledger.rounded(record(access.data).description.bytes) > high;
    });
  }
  return stands;
}

bool Planner::allocate_all(Task const& task, NodeId id, Bytes high, std::vector<std::pair<DataId, Bytes>>& taken) {
  auto& ledger = m_nodes[id.index()].ledger;
  taken.clear();
  for (auto const& access : task.accesses) {
    if (access.repeated || record(access.data).on(id) != nullptr) continue;
    if (auto const offset = take_room(id, access.data, 0, high)) {
      taken.emplace_back(access.data, *offset);
      continue;
    }
    for (auto const& [data, offset] : taken) ledger.free(offset);
    taken.clear();
    return false;
  }
  return true;
}

std::optional<Bytes> Planner::take_room(NodeId id, DataId data, Bytes low, Bytes high) {
  return m_nodes[id.index()].ledger.allocate(data, record(data).description.bytes, low, high);
}

// Room on the way home: anywhere, or only in the reserve while others wait for room.
std::optional<Bytes> Planner::take_room_to_pass(NodeId id, DataId data) {
  auto const& node = m_nodes[id.index()];
  bool const contended = node.reserve > 0 && !(node.waiting.empty() && node.transits.empty());
  auto const offset = contended ? std::nullopt : take_room(id, data, 0, room_for_tasks(id));
  if (offset || !may_enter_reserve(id, data)) return offset;
  return take_room(id, data, room_for_tasks(id), node.ledger.capacity());
}

// Two data that go home in opposite directions must not each occupy the reserve that the other needs next: only one
// datum at a time is in reserves from which the route continues to another reserve. Other data there move on first.
bool Planner::may_enter_reserve(NodeId id, DataId data) {
  if (!leads_on(data, id)) return true;
  std::vector<std::pair<DataId, NodeId>> others;
  for (std::size_t n = 0; n < m_nodes.size(); ++n) {
    NodeId const node(static_cast<std::uint32_t>(n));
    auto const& blocks = m_nodes[n].ledger.blocks();
    for (auto block = blocks.lower_bound(room_for_tasks(node)); block != blocks.end(); ++block) {
      DataId const other = block->second.data;
      if (other != data && leads_on(other, node)) others.emplace_back(other, node);
    }
  }
  bool free = true;
  for (auto const& [other, node] : others) {
    if (evictable(other, node)) evict(other, node, EvictionReason::Reserve);
    free = free && record(other).find(node, Slot::Pool) == nullptr;
  }
  if (!free && std::ranges::find(m_wait_for_reserves, id) == m_wait_for_reserves.end())
    m_wait_for_reserves.push_back(id);
  return free;
}

// Whether the route home, or to storage, continues from the node through another one.
bool Planner::leads_on(DataId data, NodeId node) const {
  NodeId const target = storage_of(data, node);
  if (!target.valid() || target == node) return false;
  return m_topology.machine()[m_topology.next_hop(node, target)].to != target;
}

// Evicts until another allocation may succeed; false if the caller has to wait.
bool Planner::make_room(NodeId id, Bytes total, Bytes largest, Bytes low, Bytes high) {
  auto& node = m_nodes[id.index()];
  for (;;) {
    Bytes const used = node.ledger.used() - node.ledger.used_from(high);
    if (high - low + node.evicting < used + total) {
      DataId victim = m_policies.eviction->victim(id);
      auto const reason = victim.valid() ? EvictionReason::Policy : EvictionReason::Fallback;
      if (!victim.valid()) victim = fallback_victim(id);
      if (!victim.valid()) return false;
      Bytes const before = node.ledger.used();
      evict(victim, id, reason);
      if (node.ledger.used() < before) return true;
      continue;
    }
    if (node.evicting > 0) return false;
    // Enough bytes are free, but fragmented: clear the cheapest contiguous range for the largest datum.
    auto const victims = node.ledger.window(largest, low, high, [&](DataId data) { return evictable(data, id); });
    if (victims.empty()) return false;
    for (DataId const victim : victims) evict(victim, id, EvictionReason::Fragments);
    return node.evicting == 0;
  }
}

DataId Planner::fallback_victim(NodeId id) const {
  if (m_issued > 0 || m_active_transfers > 0) return {};
  for (auto const& [offset, block] : m_nodes[id.index()].ledger.blocks()) {
    if (evictable(block.data, id)) return block.data;
  }
  return {};
}

// Nothing on the node is in use, but the first waiting task's own data fragment it so that the rest does not fit.
void Planner::clear_node(NodeId id) {
  Bytes const used = m_nodes[id.index()].ledger.used();
  std::vector<DataId> all;
  for (auto const& [offset, block] : m_nodes[id.index()].ledger.blocks()) all.push_back(block.data);
  for (DataId const data : all) {
    if (evictable(data, id)) evict(data, id, EvictionReason::Clearing);
  }
  if (m_nodes[id.index()].ledger.used() < used) m_agenda.post(Agenda::GiveRoom{id});
}

void Planner::hold_places(Task& task) {
  NodeId const id = m_topology.group(task.group).node;
  ++m_nodes[id.index()].holders;
  task.phase = TaskPhase::Fetching;
  for (auto const& access : task.accesses) {
    if (access.repeated) continue;
    ++record(access.data).on(id)->pins;
    if (record(access.data).slot_on(id) != Slot::Pool) continue;
    keep(access.data, id);
    m_policies.eviction->replica_used(access.data, id);
  }
  for (auto const& access : task.accesses) {
    if (!access.repeated && reads(access.mode)) fetch(access.data, id);
  }
  auto& group = m_groups[task.group.index()];
  if (can_start(task)) {
    group.startable.push_back(task.id);
  } else {
    group.fetching.push_back(task.id);
  }
}

// Undoes hold_places.
void Planner::let_go_of_places(Task const& task) {
  NodeId const id = m_topology.group(task.group).node;
  auto& group = m_groups[task.group.index()];
  --m_nodes[id.index()].holders;
  if (task.phase == TaskPhase::Fetching && std::erase(group.fetching, task.id) == 0)
    std::erase(group.startable, task.id);
  for (auto const& access : task.accesses) {
    if (access.repeated) continue;
    Replica* const replica = record(access.data).on(id);
    if (replica->slot == Slot::Pool) m_policies.eviction->replica_used(access.data, id);
    if (--replica->pins == 0 && !replica->valid) end_hops(access.data, id);
    drop_if_useless(access.data, id);
  }
}

// A replica that is about to be dropped is needed after all.
void Planner::keep(DataId data, NodeId id) {
  Replica* const replica = record(data).on(id);
  if (!replica->evicting) return;
  replica->evicting = false;
  m_nodes[id.index()].evicting -= m_nodes[id.index()].ledger.rounded(record(data).description.bytes);
}

void Planner::add_pool_replica(DataId data, NodeId id, Bytes offset) {
  auto& node = m_nodes[id.index()];
  Bytes const size = node.ledger.rounded(record(data).description.bytes);
  auto& replicas = record(data).replicas;
  replicas.reserve(replicas.size() + 1);  // they are few, and data very many
  replicas.emplace_back(id, Slot::Pool, offset, false);
  auto& statistics = m_statistics.nodes[id.index()];
  statistics.used = node.ledger.used();
  statistics.peak = std::max(statistics.peak, statistics.used);
  m_commands.emplace_back(AllocateCommand{data, id, offset, size});
  if (m_topology.machine()[id].capacity < unbounded) m_policies.eviction->replica_added(data, id);
  m_policies.scheduler->replica_expected(data, id);
}

void Planner::evict(DataId data, NodeId id, EvictionReason reason) {
  auto& node = m_nodes[id.index()];
  Replica* const replica = record(data).find(id, Slot::Pool);
  ++m_statistics.nodes[id.index()].evictions;
  bool const elsewhere = record(data).valid_besides(*replica);
  if (m_eviction_observer != nullptr) m_eviction_observer->evicted(data, id, reason, !elsewhere);
  if (replica->readers == 0 && elsewhere) {
    drop(data, id, true);
    return;
  }
  replica->evicting = true;
  node.evicting += node.ledger.rounded(record(data).description.bytes);
  if (!elsewhere) m_agenda.post(Agenda::WriteBack{data, id});
}

void Planner::drop(DataId data, NodeId id, bool evicted) {
  auto& dropped = record(data);
  auto& node = m_nodes[id.index()];
  Replica* const replica = dropped.find(id, Slot::Pool);
  Bytes const offset = replica->offset;
  if (replica->evicting) node.evicting -= node.ledger.rounded(dropped.description.bytes);
  node.ledger.free(offset);
  m_statistics.nodes[id.index()].used = node.ledger.used();
  dropped.replicas.erase(dropped.replicas.begin() + (replica - dropped.replicas.data()));
  m_commands.emplace_back(FreeCommand{data, id, offset});
  if (m_topology.machine()[id].capacity < unbounded) m_policies.eviction->replica_dropped(data, id);
  if (evicted && !m_keeps_plans) {
    for (GroupId const group : m_topology.groups_on(id)) {
      for (TaskId const user : m_board.users(data, group)) withdraw(user, group, data);
    }
  }
  m_policies.scheduler->replica_dropped(data, id);
  room_may_have_changed(id);
}

// An input of the planned task was evicted: its position in the plan is no longer justified.
void Planner::withdraw(TaskId id, GroupId group, DataId lost) {
  Task const& task = m_graph[id];
  bool const input = std::ranges::any_of(
      task.accesses, [&](Access const& access) { return access.data == lost && reads(access.mode); });
  if (!input) return;
  m_board.remove(id);
  ++m_statistics.tasks_withdrawn;
  m_policies.scheduler->withdrawn(id, group);
  m_agenda.post(Agenda::Commit{group});
}

void Planner::drop_if_useless(DataId data, NodeId id) {
  Replica const* const replica = record(data).find(id, Slot::Pool);
  if (replica == nullptr || replica->valid || replica->pins > 0 || replica->readers > 0 || replica->incoming.valid())
    return;
  drop(data, id, false);
}

}  // namespace granary
