// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/movement/transfers.hpp>

#include <algorithm>
#include <limits>

namespace granary::detail {

DataId Transfers::copy_done(TransferId id) {
  Transfer const transfer = end(id);
  DataId const data = transfer.data;
  auto& datum = m_data[data];
  auto& statistics = m_context.statistics.links[transfer.link.index()];
  ++statistics.transfers;
  statistics.bytes += datum.moved_bytes();
  NodeId const from = m_context.topology.machine()[transfer.link].from;
  auto const* const source = datum.find(from, transfer.from_slot);
  bool const current = !datum.value.lost() && source->valid;
  if (current) {
    m_memories.set_valid(data, *datum.find(transfer.to.node, transfer.to.slot), source->version);
    m_routes.end_hops(data, transfer.to.node);
    m_routes.continue_hops(data, transfer.to.node);
  }
  settle(transfer);
  return data;
}

Transfer Transfers::end(TransferId id) {
  Transfer const transfer = m_links.remove(id);
  auto& datum = m_data[transfer.data];
  --datum.transfers;
  --datum.active;
  datum.find(transfer.to.node, transfer.to.slot)->incoming = {};
  NodeId const from = m_context.topology.machine()[transfer.link].from;
  --datum.find(from, transfer.from_slot)->readers;
  m_memories.room_may_have_changed(from);
  m_memories.room_may_have_changed(transfer.to.node);
  return transfer;
}

void Transfers::settle(Transfer const& transfer) {
  DataId const data = transfer.data;
  NodeId const from = m_context.topology.machine()[transfer.link].from;
  m_memories.continue_eviction(data, from, transfer.from_slot);
  m_memories.drop_if_useless(data, from);
  m_memories.drop_if_useless(data, transfer.to.node);
  if (m_data[data].way_home.going()) m_homes.send_home(data);
  m_links.ask(transfer.link);
  if (m_data[data].released()) m_context.agenda.post(Agenda::Forget{data});
}

void Transfers::start_on(LinkId link) {
  m_links.turn(link);
  auto const next = [&] {
    if (!m_context.options.transfers_by_priority) return m_links.take(link);
    return m_links.take(link, [&](Transfer const& transfer) { return priority_of(transfer); });
  };
  for (auto id = next(); id.valid(); id = next()) start(id);
}

// Write-backs and prefetches are for nobody who waits. What was cancelled only has to leave the queue.
std::int64_t Transfers::priority_of(Transfer const& transfer) const {
  if (transfer.cancelled) return std::numeric_limits<std::int64_t>::max();
  auto const* const replica = m_data[transfer.data].find(transfer.to.node, transfer.to.slot);
  return replica->pins > 0 ? replica->priority : std::numeric_limits<std::int64_t>::min();
}

void Transfers::start(TransferId id) {
  auto& transfer = m_links[id];
  auto& datum = m_data[transfer.data];
  if (transfer.cancelled) {
    --datum.transfers;
    if (datum.released()) m_context.agenda.post(Agenda::Forget{transfer.data});
    m_links.remove(id);
    return;
  }
  NodeId const from = m_context.topology.machine()[transfer.link].from;
  Replica* source = datum.on(from);
  if (source == nullptr || !source->valid) source = datum.find(from, Slot::Origin);
  if (source == nullptr || !source->valid) return source_is_gone(id);
  ++source->readers;
  ++datum.active;
  transfer.from_slot = source->slot;
  m_links.start(id);
  m_context.commands.emplace_back(CopyCommand{.transfer = id,
                                              .data = transfer.data,
                                              .from = {from, source->slot, source->offset},
                                              .to = transfer.to,
                                              .link = transfer.link,
                                              .bytes = datum.moved_bytes(),
                                              .version = source->version,
                                              .write_back = transfer.write_back});
}

// It was dropped while the transfer waited: another valid place exists.
void Transfers::source_is_gone(TransferId id) {
  Transfer const transfer = m_links.remove(id);
  DataId const data = transfer.data;
  auto& datum = m_data[data];
  --datum.transfers;
  Replica* const destination = datum.find(transfer.to.node, transfer.to.slot);
  destination->incoming = {};
  if (destination->pins > 0) {
    m_routes.find_ways_anew(data);
    m_context.agenda.post(Agenda::Fetch{data, transfer.to.node});
    return;
  }
  if (datum.way_home.going()) m_homes.send_home(data);
  m_memories.drop_if_useless(data, transfer.to.node);
  // A replica that is being evicted relied on this transfer to reach storage.
  auto const leaving =
      std::ranges::find_if(datum.replicas, [](Replica const& replica) { return replica.evicting && replica.valid; });
  if (leaving != datum.replicas.end()) m_memories.continue_eviction(data, leaving->node, leaving->slot);
  if (datum.released()) m_context.agenda.post(Agenda::Forget{data});
}

}  // namespace granary::detail
