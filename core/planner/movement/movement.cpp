// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/movement/movement.hpp>
#include <granary/detail/core/planner/movement/registration.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace granary::detail {
namespace {

// Tasks that write the datum on that node were refused for the same reason.
void check_way_home(Topology const& topology, Memories const& memories, Datum const& datum, NodeId from) {
  auto const next = [&](NodeId node) { return topology.machine()[topology.next_hop(node, datum.home)].to; };
  if (!datum.home.valid() || from == datum.home) return;
  for (NodeId node = next(from); node != datum.home; node = next(node)) {
    auto const& memory = memories[node];
    Bytes const size = memory.ledger.rounded(datum.bound);
    if (datum.slot_on(node) != Slot::Pool || size <= memory.reserve) continue;
    throw MemoryLimitError("data '" + datum.description.name + "' that changed in memory node '" +
                           topology.machine()[from].name + "' pass through memory node '" +
                           topology.machine()[node].name + "' on their way home, which needs at least " +
                           std::to_string(2 * size) + " bytes for that, but the limit there is " +
                           std::to_string(memory.ledger.capacity()) + " bytes");
  }
}

}  // namespace

Movement::Movement(PlannerContext& context, EvictionCalls& eviction, ReplicaListener& listener)
    : m_context(context),
      m_eviction(eviction),
      m_links(context),
      m_memories(context, eviction, listener, m_data, m_links),
      m_kept(context, m_data, m_memories),
      m_results(context, m_data, m_memories),
      m_routes(context, m_data, m_links, m_memories),
      m_homes(context, m_data, m_overlaps, m_links, m_memories, m_routes),
      m_transfers(context, m_data, m_links, m_memories, m_routes, m_homes),
      m_changes(context, m_data, m_memories, m_kept, m_results, m_routes, m_homes),
      m_early_fetch(context, m_data, m_overlaps, m_memories, m_routes) {
  eviction.look_into(m_data);
}

DataId Movement::add(DataDescription description, std::span<FixedPlace const> places,
                     std::span<SharedBytes const> shares) {
  check_registration(m_context.topology, m_data, description, places, shares);
  DataId const id = m_data.add(std::move(description), places, m_context.topology);
  m_memories.reserve_for(id);
  m_overlaps.add(id, shares);
  return id;
}

void Movement::retain(DataId data) {
  if (!m_data.known(data)) {
    throw InvalidArgument("data " + std::to_string(data.value()) + " is retained but not registered");
  }
  ++m_data[data].registrations;
}

void Movement::release(DataId data) {
  if (!m_data.known(data) || m_data[data].released()) {
    throw InvalidArgument("data " + std::to_string(data.value()) + " is released but not registered");
  }
  if (--m_data[data].registrations == 0) m_context.agenda.post(Agenda::Forget{data});
}

Datum const& Movement::check_known(DataId data) const {
  if (m_data.known(data)) return m_data[data];
  throw InvalidArgument("data " + std::to_string(data.value()) + " are not registered");
}

void Movement::flush(DataId data) {
  if (!data.valid()) return m_homes.flush();
  check_known(data);
  for_each_with_bytes_of(data, [&](DataId id) {
    if (!m_data[id].way_home.going()) m_homes.send_home(id);
  });
}

void Movement::homes_may_change(DataId data) {
  if (!data.valid()) return m_data.for_each([&](DataId id, Datum const&) { m_changes.leave_to_home(id); });
  check_known(data);
  for_each_with_bytes_of(data, [&](DataId id) { m_changes.leave_to_home(id); });
}

void Movement::place_changed(DataId data, NodeId node) {
  auto const& datum = check_known(data);
  auto const refuse = [&](std::string const& why) {
    throw InvalidArgument("data '" + datum.description.name + "' cannot have changed in memory node '" +
                          m_context.topology.machine()[node].name + "': " + why);
  };
  if (datum.users > 0 || datum.transfers > 0) refuse("tasks or transfers use it");
  if (m_overlaps.shares_bytes(data)) refuse("it shares bytes with other data");
  if (datum.slot_on(node) == Slot::Pool || datum.read_only) refuse("it has no place there that tasks may write");
  check_way_home(m_context.topology, m_memories, datum, node);
  m_changes.make_at(data, node);
}

void Movement::keep_no_old_value(DataId data) {
  check_known(data);
  m_data[data].value.keep_no_old();
}

void Movement::prefetch(DataId data, NodeId id) {
  auto const& datum = check_known(data);
  if (id.index() >= m_context.topology.machine().nodes.size()) {
    throw InvalidArgument("data '" + datum.description.name + "' cannot be prefetched to memory node " +
                          std::to_string(id.value()) + ": there is no such node");
  }
  bool const settled = !datum.value.lost() && datum.writers == 0 && !datum.released();
  if (!settled || datum.on(id) != nullptr || !m_early_fetch.room_to_spare(id) || !m_early_fetch.way(data, id).valid())
    return;
  m_data[data].accessed = m_early_fetch.bring(data, id) || datum.accessed;  // it has more than its home
}

void Movement::will_not_use(DataId data) {
  auto const& datum = check_known(data);
  if (datum.users > 0) return;
  if (!datum.way_home.going()) m_homes.send_home(data);
  for (std::size_t i = datum.replicas.size(); i-- > 0;) {
    auto const& replica = datum.replicas[i];
    bool const needless = replica.slot == Slot::Pool && replica.readers == 0 && datum.valid_besides(replica);
    if (needless && m_memories.evictable(data, replica.node)) m_memories.drop(data, replica.node, false);
  }
}

void Movement::announce(AccessList& accesses) {
  for (auto& access : accesses) {
    auto& datum = m_data[access.data];
    if (!access.repeated) {
      datum.accessed = true;
      ++datum.users;
      if (writes(access.mode)) {
        ++datum.writers;
        ++datum.version;
      }
    }
    access.version = writes(access.mode) ? datum.version : datum.next_read();
    if (commutes(access.mode)) access.version -= datum.writers;
  }
}

void Movement::end_uses(AccessList const& accesses) {
  for (auto const& access : accesses) {
    if (access.repeated) continue;
    auto& datum = m_data[access.data];
    --datum.users;
    if (writes(access.mode)) --datum.writers;
  }
}

void Movement::uses_ended(AccessList const& accesses, NodeId wrote_on) {
  for (auto const& access : accesses) {
    if (access.repeated) continue;
    auto const& datum = m_data[access.data];
    if (datum.users == 0) m_eviction.last_use_ended(access.data);
    if (writes(access.mode) && wrote_on.valid()) m_homes.has_final_value(access.data, wrote_on);
    if (datum.released()) m_context.agenda.post(Agenda::Forget{access.data});
  }
}

bool Movement::hold(AccessList const& accesses, NodeId node, bool may_evict, std::int64_t priority) {
  if (!place(accesses, node, may_evict)) return false;
  ++m_memories[node].holders;
  bool missing = false;
  for (auto const& access : accesses) {
    if (access.repeated) continue;
    Replica* const replica = m_data[access.data].on(node);
    replica->pin(priority);
    missing = missing || (reads(access.mode) && !replica->valid);
    if (replica->slot != Slot::Pool) continue;
    if (replica->evicting) m_memories.keep(access.data, node);
    m_eviction.replica_used(access.data, node);
  }
  for (auto const& access : accesses) {
    if (missing && !access.repeated && reads(access.mode)) m_routes.fetch(access.data, node);
  }
  return true;
}

bool Movement::place(AccessList const& accesses, NodeId id, bool may_evict) {
  auto& node = m_memories[id];
  Bytes const high = m_memories.end_of_places(accesses, id);
  if (m_memories.stands_in_reserve(accesses, id, high) &&
      !(may_evict && m_memories.leave_reserve(accesses, id, high))) {
    return false;
  }
  m_lacking.clear();
  for (auto const& access : accesses) {
    if (!access.repeated) m_results.list_lacking(access, id, m_lacking);
  }
  if (m_lacking.empty()) return true;
  if (!may_evict) return false;
  // The largest first: the others find room beside them more easily.
  std::ranges::stable_sort(m_lacking, std::greater{}, &Memories::Lacking::bytes);
  // The list's own data must not be chosen as victims.
  m_own.clear();
  for (auto const& access : accesses) {
    if (auto* const replica = access.repeated ? nullptr : m_data[access.data].on(id)) {
      ++replica->pins;
      m_own.push_back(access.data);
    }
  }
  bool placed = m_memories.take_all(m_lacking, id, high, m_taken);
  while (!placed && m_memories.make_room(id, m_lacking, high))
    placed = m_memories.take_all(m_lacking, id, high, m_taken);
  for (DataId const data : m_own) --m_data[data].on(id)->pins;
  for (std::size_t i = 0; i < m_taken.size(); ++i) {
    auto const& [data, bytes, result] = m_lacking[i];
    result ? m_results.add(data, id, m_taken[i]) : m_memories.add(data, id, m_taken[i], bytes);
  }
  // Nothing on the node is in use, but the list's own data fragment it so that the rest does not fit.
  if (!placed && node.holders == 0 && node.evicting == 0) m_memories.clear(id);
  return placed;
}

void Movement::let_go(AccessList const& accesses, NodeId node) {
  --m_memories[node].holders;
  for (auto const& access : accesses) {
    if (access.repeated) continue;
    if (writes(access.mode)) m_results.drop(access.data);
    Replica* const replica = m_data[access.data].on(node);
    if (replica->slot == Slot::Pool) m_eviction.replica_used(access.data, node);
    if (--replica->pins > 0) continue;
    if (replica->valid) {
      if (replica->slot == Slot::Pool) m_early_fetch.let_go(access.data, node);
      continue;
    }
    m_routes.end_hops(access.data, node);
    m_memories.drop_if_useless(access.data, node);
  }
}

bool Movement::hold_to_ship(DataId data, NodeId node, std::int64_t priority) {
  auto& datum = m_data[data];
  if (datum.on(node) == nullptr) {
    auto offset = m_memories.take_to_pass(node, data);
    if (!offset && m_memories.may_enter_reserve(node, data)) {
      m_memories.clear_reserve(node, datum.bytes);
      offset = m_memories.take_to_pass(node, data);
    }
    if (!offset) return false;
    m_memories.add(data, node, *offset);
  }
  Replica* const replica = datum.on(node);
  replica->pin(priority);
  if (replica->slot == Slot::Pool) m_memories.keep(data, node);
  if (!replica->valid) m_routes.fetch(data, node);
  return true;
}

void Movement::let_go_shipped(DataId data, NodeId node) {
  Replica* const replica = m_data[data].on(node);
  if (--replica->pins == 0 && !replica->valid) {
    m_routes.end_hops(data, node);
    m_memories.drop_if_useless(data, node);
  }
  m_memories.room_may_have_changed(node);
}

bool Movement::complete(AccessList const& accesses, NodeId node, bool overlaps) const {
  return std::ranges::all_of(accesses, [&](Access const& access) {
    if (access.repeated) return true;
    auto const& datum = m_data[access.data];
    auto const& replica = *datum.on(node);
    bool const readable = replica.valid || (overlaps && replica.writers > 0);
    return (!reads(access.mode) || readable) && (!writes(access.mode) || datum.active == 0);
  });
}

bool Movement::may_write(AccessList const& accesses) const {
  return std::ranges::all_of(
      accesses, [&](Access const& access) { return !writes(access.mode) || m_data[access.data].active == 0; });
}

void Movement::begin_work(AccessList const& accesses, NodeId node, Keep keep) {
  m_memories.begin_work();
  for_each_write(accesses, [&](Access const& access) { m_changes.begin(access.data, node, keep != Keep::Nothing); });
  if (keep == Keep::Aside) m_kept.keep(accesses, node);
}

Movement::Way Movement::bring_home(AccessList const& accesses, std::uint32_t& done) {
  auto const handed_over = [](Access const& access) { return access.mode == AccessMode::ReadWrite; };
  if (done == 0) {
    for (auto const& access : accesses) {
      if (handed_over(access) && !m_data[access.data].way_home.going()) m_homes.send_home(access.data);
    }
  }
  for (; done < accesses.size(); ++done) {
    auto const& datum = m_data[accesses[done].data];
    if (!handed_over(accesses[done]) || !datum.away_from_home()) continue;
    return datum.way_home.going() ? Way::Under : Way::Closed;
  }
  return may_write(accesses) ? Way::Open : Way::Under;
}

void Movement::hand_over(AccessList const& accesses) {
  for_each_write(accesses, [&](Access const& access) {
    bool const lost = m_data[access.data].value.lost();
    m_changes.hand_over(access, lost && m_overlaps.hands_over_all_of(accesses, access.data));
  });
}

void Movement::give_room(NodeId node) {
  m_routes.give_room_to_write_backs(node);
  m_routes.give_room_to_transits(node);
}

NodeId Movement::waits_behind(DataId data, NodeId node) const {
  auto const& hops = m_data[data].hops;
  auto const hop = std::ranges::find(hops, node, &Hop::via);
  return hop != hops.end() ? hop->target : NodeId();
}

std::optional<std::pair<DataId, NodeId>> Movement::take_waiting_write_back() {
  for (std::size_t n = 0; n < m_context.topology.machine().nodes.size(); ++n) {
    NodeId const node(static_cast<std::uint32_t>(n));
    auto& waiting = m_memories[node].write_backs;
    if (waiting.empty()) continue;
    DataId const data = waiting.front().data;
    waiting.pop_front();
    return std::pair(data, node);
  }
  return std::nullopt;
}

bool Movement::stands_in_reserve(AccessList const& accesses, NodeId node) const {
  return m_memories.stands_in_reserve(accesses, node, m_memories.end_of_places(accesses, node));
}

void Movement::perform(Agenda::Fetch item) {
  auto const* const wanted = m_data[item.data].on(item.node);
  if (wanted != nullptr && wanted->pins > 0) m_routes.fetch(item.data, item.node);
}

void Movement::perform(Agenda::PassThrough item) {
  auto const& hops = m_data[item.data].hops;
  if (std::ranges::find(hops, item.node, &Hop::via) != hops.end()) m_routes.pass_through(item.data, item.node);
}

void Movement::perform(Agenda::WriteBack item) {
  auto const* const leaving = m_data[item.data].find(item.node, Slot::Pool);
  if (leaving != nullptr && leaving->evicting && leaving->valid) m_routes.write_back(item.data, item.node);
}

void Movement::perform(Agenda::Forget item) {
  if (m_data.known(item.data) && m_data[item.data].released()) m_homes.try_forget(item.data);
}

}  // namespace granary::detail
