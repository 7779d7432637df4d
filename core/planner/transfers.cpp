// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transfers: fetches, write-backs, the links' queues.
#include <granary/core/base/error.hpp>
#include <granary/core/planner/planner.hpp>

#include <algorithm>
#include <utility>

namespace granary {

void Planner::fetch(DataId data, NodeId node) {
  auto& moving = record(data);
  Replica* const destination = moving.on(node);
  bool const hopping = std::ranges::any_of(moving.hops, [&](Hop const& hop) { return hop.target == node; });
  bool const arriving = destination->incoming.valid() || hopping;
  if (destination->valid || arriving || destination->writers > 0) return;
  NodeId source;
  Duration best = Duration::max();
  for (auto const& replica : moving.replicas) {
    if (!replica.valid) continue;
    Duration const time = m_topology.route_time(replica.node, node, moving.description.bytes);
    if (time >= best) continue;
    best = time;
    source = replica.node;
  }
  if (!source.valid()) throw InternalError("data '" + moving.description.name + "' is to be fetched but has no value");
  LinkId const link = m_topology.next_hop(source, node);
  NodeId const next = m_topology.machine()[link].to;
  if (next == node) {
    queue_transfer(data, link, {node, destination->slot, destination->offset}, false);
    return;
  }
  if (moving.waits_for(next, node)) {
    // The way of `next` was found when other places held the value.
    find_ways_anew(data);
    m_agenda.post(Agenda::Fetch{data, node});
    return;
  }
  moving.hops.push_back({node, next});
  m_agenda.post(Agenda::PassThrough{data, next});
}

// The datum has to be on `node` before it can go on to the targets of its hops.
void Planner::pass_through(DataId data, NodeId node) {
  auto& moving = record(data);
  Replica* const replica = moving.on(node);
  if (replica == nullptr) {
    auto& transits = m_nodes[node.index()].transits;
    if (std::ranges::find(transits, data) == transits.end()) transits.push_back(data);
    m_agenda.post(Agenda::GiveRoom{node});
    return;
  }
  for (auto& hop : moving.hops) {
    if (hop.via == node && !std::exchange(hop.pinned, true)) ++replica->pins;
  }
  if (replica->slot == Slot::Pool) keep(data, node);
  if (replica->valid) {
    value_arrived(data, node);
  } else {
    fetch(data, node);
  }
}

// The datum became valid on `node`: continue the hops from here.
void Planner::value_arrived(DataId data, NodeId node) {
  auto const& hops = record(data).hops;
  for (std::size_t i = 0; i < hops.size();) {
    if (hops[i].via != node) {
      ++i;
      continue;
    }
    NodeId const target = hops[i].target;
    Replica* const destination = record(data).on(target);
    bool const missing = destination != nullptr && !destination->valid;
    LinkId const link = m_topology.next_hop(node, target);
    if (missing && destination->incoming.valid()) {
      ++i;
    } else if (missing && m_topology.machine()[link].to == target) {
      queue_transfer(data, link, {target, destination->slot, destination->offset}, false);
      ++i;
    } else {
      end_hops(data, target);
      if (missing) m_agenda.post(Agenda::Fetch{data, target});  // a longer way: the next node is filled from here
    }
  }
}

// A source of the datum's hops was dropped: find all routes again, so that no two of them lead through each other.
void Planner::find_ways_anew(DataId data) {
  auto const& hops = record(data).hops;
  while (!hops.empty()) {
    NodeId const target = hops.front().target;
    end_hops(data, target);
    m_agenda.post(Agenda::Fetch{data, target});
  }
}

NodeId Planner::storage_of(DataId data, NodeId from) const {
  auto const& stored = record(data);
  if (stored.description.home.valid()) return stored.description.home;
  return m_storage[from.index()];
}

// The storage of temporaries for each node: the nearest storage node, or from a device the nearest host node.
std::vector<NodeId> Planner::find_storage() const {
  auto const& machine = m_topology.machine();
  auto const nearest = [&](NodeId from, auto const& suits) {
    NodeId best;
    Duration best_time = Duration::max();
    for (std::size_t n = 0; n < machine.nodes.size(); ++n) {
      NodeId const node(static_cast<std::uint32_t>(n));
      if (node == from || !suits(node) || m_topology.route_time(from, node, 1_MiB) >= best_time) continue;
      best = node;
      best_time = m_topology.route_time(from, node, 1_MiB);
    }
    return best;
  };
  auto const boundless = [&](NodeId node) {
    return m_topology.groups_on(node).empty() && machine[node].capacity == unbounded;
  };
  auto const disk = [&](NodeId node) {
    return m_topology.groups_on(node).empty() && machine[node].kind == NodeKind::Disk;
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

// Moves the value one node nearer to its home or, without one, to where temporaries are stored.
bool Planner::write_back(DataId data, NodeId from) {
  NodeId const target = storage_of(data, from);
  if (!target.valid()) return false;
  LinkId const link = m_topology.next_hop(from, target);
  NodeId const next = m_topology.machine()[link].to;
  auto& moving = record(data);
  Replica* destination = moving.on(next);
  if (destination == nullptr) {
    auto const offset = take_room_to_pass(next, data);
    if (!offset) {
      m_nodes[next.index()].write_backs.push_back({data, from});
      m_agenda.post(Agenda::GiveRoom{next});
      return true;
    }
    add_pool_replica(data, next, *offset);
    destination = moving.on(next);
  }
  if (destination->valid || destination->incoming.valid()) return true;
  ++m_statistics.nodes[from.index()].write_backs;
  queue_transfer(data, link, {next, destination->slot, destination->offset}, true);
  return true;
}

TransferId Planner::queue_transfer(DataId data, LinkId link, Place to, bool write_back) {
  TransferId const id(m_next_transfer++);
  auto& transfer = m_transfers.create(id);
  transfer.data = data;
  transfer.link = link;
  transfer.to = to;
  transfer.write_back = write_back;
  auto& moving = record(data);
  moving.find(to.node, to.slot)->incoming = id;
  ++moving.transfers;
  m_links[link.index()].queue.push_back(id);
  ask_for_transfers(link);
  return id;
}

void Planner::ask_for_transfers(LinkId link) {
  if (!std::exchange(m_links[link.index()].asked, true)) m_agenda.post(Agenda::StartTransfers{link});
}

void Planner::start_transfers(LinkId link) {
  auto& state = m_links[link.index()];
  state.asked = false;
  while (state.active < m_topology.machine()[link].width && !state.queue.empty()) {
    TransferId const id = state.queue.front();
    state.queue.pop_front();
    start_transfer(id);
  }
}

void Planner::start_transfer(TransferId id) {
  auto& transfer = m_transfers[id];
  auto& moving = record(transfer.data);
  if (transfer.cancelled) {
    DataId const data = transfer.data;
    --moving.transfers;
    m_transfers.erase(id);
    if (moving.released()) m_agenda.post(Agenda::Forget{data});
    return;
  }
  NodeId const from = m_topology.machine()[transfer.link].from;
  Replica* source = moving.on(from);
  if (source == nullptr || !source->valid) source = moving.find(from, Slot::Origin);
  if (source == nullptr || !source->valid) {
    // The source was dropped while the transfer waited: another valid place exists.
    Place const to = transfer.to;
    DataId const data = transfer.data;
    --moving.transfers;
    moving.find(to.node, to.slot)->incoming = {};
    m_transfers.erase(id);
    if (moving.find(to.node, to.slot)->pins > 0) {
      find_ways_anew(data);
      m_agenda.post(Agenda::Fetch{data, to.node});
    } else {
      if (moving.going_home) send_home(data);
      drop_if_useless(data, to.node);
      // A replica that is being evicted relied on this transfer to reach storage.
      auto const leaving =
          std::ranges::find_if(moving.replicas, [](Replica const& r) { return r.evicting && r.valid; });
      if (leaving != moving.replicas.end()) finish_eviction(data, leaving->node, leaving->slot);
      if (moving.released()) m_agenda.post(Agenda::Forget{data});
    }
    return;
  }
  ++source->readers;
  transfer.from_slot = source->slot;
  transfer.active = true;
  ++moving.active;
  ++m_links[transfer.link.index()].active;
  ++m_active_transfers;
  m_commands.emplace_back(CopyCommand{id,
                                      transfer.data,
                                      {from, source->slot, source->offset},
                                      transfer.to,
                                      transfer.link,
                                      moving.description.bytes,
                                      transfer.write_back});
}

// The value is about to be overwritten: no task fetches it any more.
void Planner::cancel_queued_transfers(DataId data) {
  auto& moving = record(data);
  while (!moving.hops.empty()) end_hops(data, moving.hops.back().target);
  if (moving.transfers == 0 && !moving.going_home) return;
  if (std::exchange(moving.going_home, false)) --m_going_home;
  for (std::size_t i = moving.replicas.size(); i-- > 0;) {
    auto& replica = moving.replicas[i];
    if (!replica.incoming.valid()) continue;
    m_transfers[replica.incoming].cancelled = true;
    replica.incoming = {};
    if (replica.slot == Slot::Pool) drop_if_useless(data, replica.node);
  }
}

// What success and failure of a copy have in common; returns what it was.
Planner::Transfer Planner::end_transfer(TransferId id) {
  Transfer const transfer = m_transfers[id];
  m_transfers.erase(id);
  auto& moving = record(transfer.data);
  --moving.transfers;
  --moving.active;
  --m_links[transfer.link.index()].active;
  --m_active_transfers;
  moving.find(transfer.to.node, transfer.to.slot)->incoming = {};
  NodeId const from = m_topology.machine()[transfer.link].from;
  --moving.find(from, transfer.from_slot)->readers;
  room_may_have_changed(from);
  room_may_have_changed(transfer.to.node);
  return transfer;
}

void Planner::copy_done(TransferId id) {
  Transfer const transfer = end_transfer(id);
  DataId const data = transfer.data;
  LinkId const link = transfer.link;
  Place const to = transfer.to;
  NodeId const from = m_topology.machine()[link].from;
  auto& moved = record(data);
  auto& statistics = m_statistics.links[link.index()];
  ++statistics.transfers;
  statistics.bytes += moved.description.bytes;
  Replica* const destination = moved.find(to.node, to.slot);
  bool const useful = !moved.poisoned && moved.find(from, transfer.from_slot)->valid;
  if (useful) {
    set_valid(data, *destination);
    end_hops(data, to.node);
    value_arrived(data, to.node);
  }
  finish_eviction(data, from, transfer.from_slot);
  drop_if_useless(data, from);
  drop_if_useless(data, to.node);
  if (moved.going_home) send_home(data);
  ask_for_transfers(link);
  scan_fetching(data);
  if (moved.released()) m_agenda.post(Agenda::Forget{data});
  advance();
}

// The replica there, if any, is not filled any more; intermediate replicas that no other hop needs are released.
void Planner::end_hops(DataId data, NodeId target) {
  auto& hops = record(data).hops;
  auto const found = std::ranges::find(hops, target, &Hop::target);
  if (found == hops.end()) return;
  Hop const hop = *found;
  hops.erase(found);
  if (!hop.pinned) return;
  Replica* const replica = record(data).on(hop.via);
  if (--replica->pins == 0 && !replica->valid) end_hops(data, hop.via);
  drop_if_useless(data, hop.via);
}

// A transfer that read the replica has ended: if it is being evicted, drop it now or write it back.
void Planner::finish_eviction(DataId data, NodeId node, Slot slot) {
  Replica* const replica = record(data).find(node, slot);
  if (replica == nullptr || !replica->evicting || replica->pins > 0 || replica->readers > 0) return;
  if (record(data).valid_besides(*replica)) {
    drop(data, node, true);
  } else {
    m_agenda.post(Agenda::WriteBack{data, node});
  }
}

// The datum arrived, or a transfer of it ended: tasks that waited only for that may start.
void Planner::scan_fetching(DataId data) {
  for (auto& state : m_groups) {
    std::erase_if(state.fetching, [&](TaskId id) {
      Task const& task = m_graph[id];
      bool const concerned =
          std::ranges::any_of(task.accesses, [&](Access const& access) { return access.data == data; });
      if (!concerned || !can_start(task)) return false;
      state.startable.push_back(id);
      m_agenda.post(Agenda::Commit{task.group});
      return true;
    });
  }
}

bool Planner::can_start(Task const& task) const {
  NodeId const node = m_topology.group(task.group).node;
  return std::ranges::all_of(task.accesses, [&](Access const& access) {
    if (access.repeated) return true;
    auto const& data = record(access.data);
    auto const& replica = *data.on(node);
    bool const readable = replica.valid || (task.predecessors > 0 && replica.writers > 0);
    return (!reads(access.mode) || readable) && (!writes(access.mode) || data.active == 0);
  });
}

void Planner::set_valid(DataId data, Replica& replica) {
  replica.valid = true;
  m_policies.scheduler->replica_valid(data, replica.node);
}

void Planner::invalidate(DataId data, Replica& replica) {
  bool const was_valid = std::exchange(replica.valid, false);
  if (replica.slot == Slot::Pool) {
    drop_if_useless(data, replica.node);
  } else if (was_valid) {
    m_policies.scheduler->replica_dropped(data, replica.node);
  }
}

}  // namespace granary
