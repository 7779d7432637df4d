// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/movement/routes.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace granary::detail {

std::size_t Routes::hops(NodeId from, NodeId to) const {
  std::size_t count = 0;
  for (auto const& topology = m_context.topology; from != to; ++count)
    from = topology.machine()[topology.next_hop(from, to)].to;
  return count;
}

// Among equally near ones the fewest hops count, or two nodes could wait for each other.
NodeId Routes::nearest_source(DataId data, NodeId node) const {
  auto const& datum = m_data[data];
  auto const& topology = m_context.topology;
  NodeId source;
  Duration best = Duration::max();
  for (auto const& replica : datum.replicas) {
    if (!replica.valid) continue;
    Duration const time = topology.route_time(replica.node, node, datum.bytes);
    if (time > best || (time == best && hops(replica.node, node) >= hops(source, node))) continue;
    best = time;
    source = replica.node;
  }
  return source;
}

LinkId Routes::direct_link(DataId data, NodeId node) const {
  NodeId const source = nearest_source(data, node);
  if (!source.valid() || source == node) return {};
  LinkId const link = m_context.topology.next_hop(source, node);
  return m_context.topology.machine()[link].to == node ? link : LinkId();
}

void Routes::fetch(DataId data, NodeId node) {
  auto& datum = m_data[data];
  Replica* const destination = datum.on(node);
  if (destination->valid || destination->incoming.valid() || destination->writers > 0) return;
  if (std::ranges::find(datum.hops, node, &Hop::target) != datum.hops.end()) return;
  NodeId const source = nearest_source(data, node);
  if (!source.valid()) throw InternalError("data '" + datum.description.name + "' is to be fetched but has no value");
  auto const& topology = m_context.topology;
  LinkId const link = topology.next_hop(source, node);
  NodeId const next = topology.machine()[link].to;
  if (next == node) {
    queue(data, link, {node, destination->slot, destination->offset}, false);
  } else if (datum.waits_for(next, node)) {
    // The way of `next` was found when other places held the value.
    find_ways_anew(data);
    m_context.agenda.post(Agenda::Fetch{data, node});
  } else {
    datum.hops.push_back({node, next});
    m_context.agenda.post(Agenda::PassThrough{data, next});
  }
}

void Routes::pass_through(DataId data, NodeId node) {
  auto& datum = m_data[data];
  Replica* const replica = datum.on(node);
  if (replica == nullptr) {
    auto& transits = m_memories[node].transits;
    if (std::ranges::find(transits, data) == transits.end()) transits.push_back(data);
    m_context.agenda.post(Agenda::GiveRoom{node});
    return;
  }
  for (auto& hop : datum.hops) {
    if (hop.via != node || std::exchange(hop.pinned, true)) continue;
    auto const* const target = datum.on(hop.target);
    replica->pin(target != nullptr ? target->priority : 0);
  }
  if (replica->slot == Slot::Pool) m_memories.keep(data, node);
  if (replica->valid) {
    continue_hops(data, node);
  } else {
    fetch(data, node);
  }
}

void Routes::continue_hops(DataId data, NodeId node) {
  auto const& hops = m_data[data].hops;
  for (std::size_t i = 0; i < hops.size();) {
    if (hops[i].via != node) {
      ++i;
      continue;
    }
    NodeId const target = hops[i].target;
    Replica* const destination = m_data[data].on(target);
    bool const missing = destination != nullptr && !destination->valid;
    LinkId const link = m_context.topology.next_hop(node, target);
    if (missing && destination->incoming.valid()) {
      ++i;
    } else if (missing && m_context.topology.machine()[link].to == target) {
      queue(data, link, {target, destination->slot, destination->offset}, false);
      ++i;
    } else {
      end_hops(data, target);
      if (missing)
        m_context.agenda.post(Agenda::Fetch{data, target});  // a longer way: the next node is filled from here
    }
  }
}

void Routes::end_hops(DataId data, NodeId target) {
  auto& hops = m_data[data].hops;
  auto const found = std::ranges::find(hops, target, &Hop::target);
  if (found == hops.end()) return;
  Hop const hop = *found;
  hops.erase(found);
  if (!hop.pinned) return;
  Replica* const replica = m_data[data].on(hop.via);
  if (--replica->pins == 0 && !replica->valid) end_hops(data, hop.via);
  m_memories.drop_if_useless(data, hop.via);
}

void Routes::find_ways_anew(DataId data) {
  auto const& hops = m_data[data].hops;
  while (!hops.empty()) {
    NodeId const target = hops.front().target;
    end_hops(data, target);
    m_context.agenda.post(Agenda::Fetch{data, target});
  }
}

void Routes::cancel_transfers(DataId data) {
  auto& datum = m_data[data];
  while (!datum.hops.empty()) end_hops(data, datum.hops.back().target);
  if (datum.transfers == 0) return;
  for (std::size_t i = datum.replicas.size(); i-- > 0;) {
    auto& replica = datum.replicas[i];
    if (!replica.incoming.valid()) continue;
    m_links[replica.incoming].cancelled = true;
    replica.incoming = {};
    if (replica.slot == Slot::Pool) m_memories.drop_if_useless(data, replica.node);
  }
}

void Routes::write_back(DataId data, NodeId from) {
  NodeId const target = m_memories.storage_of(data, from);
  if (!target.valid()) return;
  LinkId const link = m_context.topology.next_hop(from, target);
  NodeId const next = m_context.topology.machine()[link].to;
  auto& datum = m_data[data];
  Replica* destination = datum.on(next);
  if (destination == nullptr) {
    auto const offset = m_memories.take_to_pass(next, data);
    if (!offset) {
      m_memories[next].write_backs.push_back({data, from});
      m_context.agenda.post(Agenda::GiveRoom{next});
      return;
    }
    m_memories.add(data, next, *offset);
    destination = datum.on(next);
  }
  if (destination->valid || destination->incoming.valid()) return;
  ++m_context.statistics.nodes[from.index()].write_backs;
  queue(data, link, {next, destination->slot, destination->offset}, true);
}

void Routes::queue(DataId data, LinkId link, Place to, bool write_back) {
  auto& datum = m_data[data];
  datum.find(to.node, to.slot)->incoming = m_links.queue(data, link, to, write_back);
  ++datum.transfers;
}

void Routes::give_room_to_write_backs(NodeId node) {
  auto& write_backs = m_memories[node].write_backs;
  for (std::size_t i = 0; i < write_backs.size();) {
    auto const [data, from] = write_backs[i];
    auto const* const source = m_data.known(data) ? m_data[data].on(from) : nullptr;
    bool const wanted = source != nullptr && source->valid && (source->evicting || m_data[data].way_home.going());
    if (wanted && m_data[data].on(node) == nullptr) {
      auto offset = m_memories.take_to_pass(node, data);
      if (!offset && !m_memories.may_enter_reserve(node, data)) {
        ++i;  // the one that it waits for may stand behind it
        continue;
      }
      if (!offset) {
        m_memories.clear_reserve(node, m_data[data].bytes);
        offset = m_memories.take_to_pass(node, data);
        if (!offset) return;
      }
      m_memories.add(data, node, *offset);
    }
    if (wanted) write_back(data, from);
    write_backs.erase(write_backs.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void Routes::give_room_to_transits(NodeId node) {
  auto& transits = m_memories[node].transits;
  while (!transits.empty() && give_room_to_transit(node, transits.front())) transits.pop_front();
}

bool Routes::give_room_to_transit(NodeId node, DataId data) {
  auto& datum = m_data[data];
  auto const waits = [&](Hop const& hop) { return hop.via == node && !hop.pinned; };
  std::erase_if(datum.hops, [&](Hop const& hop) { return waits(hop) && datum.on(hop.target) == nullptr; });
  if (std::ranges::none_of(datum.hops, waits)) {
    if (datum.released()) m_context.agenda.post(Agenda::Forget{data});
    return true;
  }
  if (datum.on(node) == nullptr) {
    Bytes const high = m_memories.room_for_accepted(m_memories[node].ledger.rounded(datum.bytes), node);
    auto offset = m_memories.take(node, data, datum.bytes, 0, high);
    std::array const lacking{Memories::Lacking{data, datum.bytes, false}};
    while (!offset && m_memories.make_room(node, lacking, high))
      offset = m_memories.take(node, data, datum.bytes, 0, high);
    if (!offset) return false;
    m_memories.add(data, node, *offset);
  }
  pass_through(data, node);
  return true;
}

}  // namespace granary::detail
