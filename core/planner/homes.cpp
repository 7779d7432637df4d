// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Write-backs to homes: flushes, early write-backs, released data.
#include <granary/core/planner/planner.hpp>

namespace granary {

void Planner::flush_homes() {
  for (std::size_t d = 0; d < m_data.size(); ++d) {
    DataId const data(static_cast<std::uint32_t>(d));
    if (known(data) && !m_data[d].going_home) send_home(data);
  }
  advance();
}

void Planner::send_home(DataId data) {
  auto& going = record(data);
  bool const away = going.away_from_home() && !going.poisoned && !going.write_failed && going.has_value();
  if (away != going.going_home) {
    going.going_home = away;
    away ? ++m_going_home : --m_going_home;
    for (auto const& replica : going.replicas) room_may_have_changed(replica.node);  // now they may be evicted
  }
  if (!away) return;
  NodeId nearest;
  Duration best = Duration::max();
  for (auto const& replica : going.replicas) {
    if (!replica.valid || replica.slot == Slot::Home) continue;
    Duration const time = m_topology.route_time(replica.node, going.description.home, going.description.bytes);
    if (time < best) {
      best = time;
      nearest = replica.node;
    }
  }
  // Where ways take equally long, the next node may hold the value already.
  for (;;) {
    NodeId const next = m_topology.machine()[m_topology.next_hop(nearest, going.description.home)].to;
    if (next == going.description.home || !valid(data, next)) break;
    nearest = next;
  }
  Replica* const source = going.on(nearest);
  bool const writing = source != nullptr && source->writers > 0;
  if (!writing && source != nullptr) write_back(data, nearest);
}

// One value from each node, as long as its link has nothing else to do; false if nothing was written back.
bool Planner::write_back_early() {
  bool started = false;
  for (std::size_t n = 0; n < m_nodes.size(); ++n) {
    NodeId const node(static_cast<std::uint32_t>(n));
    auto& values = m_nodes[n].final_values;
    while (!values.empty()) {
      DataId const data = values.front();
      auto* const replica = known(data) ? record(data).find(node, Slot::Pool) : nullptr;
      bool const wanted = replica != nullptr && replica->valid && replica->writers == 0 &&
                          record(data).away_from_home() && !record(data).write_failed &&
                          m_graph.pending_writers(data) == 0 && record(data).transfers == record(data).active;
      if (wanted) {
        LinkId const link = m_topology.next_hop(node, record(data).description.home);
        if (m_topology.machine()[link].to == record(data).description.home) {
          if (busy(link)) break;
          write_back(data, node);
          values.pop_front();
          started = true;
          break;
        }
      }
      values.pop_front();
    }
  }
  return started;
}

// Whether transfers wait for the link or for one of its buses, or the link carries its maximum.
bool Planner::busy(LinkId link) const {
  auto const& machine = m_topology.machine();
  if (m_links[link.index()].active >= machine[link].width) return true;
  for (std::size_t l = 0; l < m_links.size(); ++l) {
    if (m_links[l].queue.empty()) continue;
    if (l == link.index() || Machine::share_a_bus(machine.links[l], machine[link])) return true;
  }
  return false;
}

void Planner::try_forget(DataId data) {
  auto& released = record(data);
  // If the bytes of a View are registered again before their failure was reported, they have no value.
  bool const unreported =
      released.poisoned && released.cause != DataRecord::no_cause && released.description.origin_is_home;
  if (m_graph.pending_tasks(data) > 0 || released.write_failed || unreported) return;
  if (!released.going_home) send_home(data);
  if (!released.going_home) forget(data);
}

void Planner::forget(DataId data) {
  auto& released = record(data);
  if (released.transfers > 0 || !released.hops.empty()) return;
  for (std::size_t i = released.replicas.size(); i-- > 0;) {
    if (released.replicas[i].slot == Slot::Pool) drop(data, released.replicas[i].node, false);
  }
  released = {};
  m_graph.forget(data);
  m_free_data.push_back(data);
  m_commands.emplace_back(ForgetCommand{data});
}

}  // namespace granary
