// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/movement/homes.hpp>

namespace granary::detail {

void Homes::send_home(DataId data) {
  auto& datum = m_data[data];
  bool const away = datum.away_from_home() && !datum.value.lost() && !datum.way_home.failed() && datum.has_value() &&
                    !datum.being_written();
  if (away != datum.way_home.going()) {
    datum.way_home.set_going(away);
    away ? ++m_going : --m_going;
    for (auto const& replica : datum.replicas) m_memories.room_may_have_changed(replica.node);  // they may be evicted
  }
  if (!away) return;
  auto const& topology = m_context.topology;
  NodeId const home = datum.home;
  NodeId nearest;
  Duration best = Duration::max();
  for (auto const& replica : datum.replicas) {
    if (!replica.valid || replica.slot == Slot::Home) continue;
    Duration const time = topology.route_time(replica.node, home, datum.bytes);
    if (time < best) {
      best = time;
      nearest = replica.node;
    }
  }
  // If routes take equally long, the next node may hold the value already.
  for (;;) {
    NodeId const next = topology.machine()[topology.next_hop(nearest, home)].to;
    auto const* const there = datum.on(next);
    if (next == home || there == nullptr || !there->valid) break;
    nearest = next;
  }
  m_routes.write_back(data, nearest);
}

void Homes::flush() {
  m_data.for_each([&](DataId data, Datum const& datum) {
    if (!datum.way_home.going()) send_home(data);
  });
}

void Homes::stay(DataId data) {
  auto& way = m_data[data].way_home;
  if (!way.going()) return;
  way.set_going(false);
  --m_going;
}

bool Homes::fail(DataId data, NodeId lost_on) {
  stay(data);
  auto& datum = m_data[data];
  datum.way_home.fail(lost_on);
  for (auto& replica : datum.replicas) {
    if (replica.evicting) m_memories.keep(data, replica.node);
  }
  if (datum.released()) m_context.agenda.post(Agenda::Forget{data});
  auto const* const gone = datum.on(datum.way_home.lost_on());
  return gone != nullptr && !datum.valid_besides(*gone);
}

void Homes::has_final_value(DataId data, NodeId node) {
  if (m_data[data].writers > 0 || !m_data[data].away_from_home()) return;
  m_final_values[node.index()].push_back(data);
  ++m_final;
}

bool Homes::write_back_early() {
  bool started = false;
  if (m_final == 0) return started;
  for (std::size_t n = 0; n < m_final_values.size(); ++n) {
    NodeId const node(static_cast<std::uint32_t>(n));
    auto& values = m_final_values[n];
    for (bool next = true; next && !values.empty();) {
      DataId const data = values.front();
      if (wants_early(data, node)) {
        if (m_links.busy(m_context.topology.next_hop(node, m_data[data].home))) break;
        m_routes.write_back(data, node);
        started = true;
        next = false;
      }
      values.pop_front();
      --m_final;
    }
  }
  return started;
}

// Not if the value has to pass through other nodes: there it would take room that holders may need.
bool Homes::wants_early(DataId data, NodeId node) const {
  if (!m_data.known(data)) return false;
  auto const& datum = m_data[data];
  auto const* const replica = datum.find(node, Slot::Pool);
  bool const there = replica != nullptr && replica->valid && replica->writers == 0;
  if (!there || !datum.away_from_home() || datum.way_home.failed() || datum.writers > 0) return false;
  if (datum.transfers != datum.active) return false;
  auto const& topology = m_context.topology;
  return topology.machine()[topology.next_hop(node, datum.home)].to == datum.home;
}

void Homes::try_forget(DataId data) {
  auto const& datum = m_data[data];
  if (datum.users > 0 || datum.way_home.failed()) return;
  if (!datum.way_home.going()) send_home(data);
  if (!datum.way_home.going() && !awaits_report(data)) forget(data);
}

// Bytes that are registered again before the failure is reported that took their value, or the task that was to change
// it, have no value. Data that share some of them are used meanwhile: tasks that depend on a cancelled one are
// cancelled with these, too.
bool Homes::awaits_report(DataId data) const {
  auto const& datum = m_data[data];
  auto const state = datum.value.state();
  if (state == Value::State::Poisoned && datum.description.origin_is_home) return true;
  bool const seen_again = datum.description.may_return || (m_overlaps.any() && m_overlaps.shares_bytes(data));
  return seen_again && (state == Value::State::Stale || m_overlaps.blocked(data));
}

void Homes::forget(DataId data) {
  auto const& datum = m_data[data];
  if (datum.transfers > 0 || !datum.hops.empty()) return;
  for (DataId const defined : m_overlaps.forget(data)) regain(defined);
  m_memories.forget(data);
}

void Homes::regain(DataId data) {
  auto& datum = m_data[data];
  datum.value.write();
  m_memories.set_valid(data, *datum.find(datum.home, Slot::Home), datum.version);
}

void Homes::failures_reported() {
  m_data.for_each([&](DataId data, Datum const&) { give_up_lost(data); });
  m_data.for_each([&](DataId data, Datum& datum) {
    // Released data that had to be reported before they could be forgotten.
    bool const kept = datum.way_home.failed() || datum.value.lost();
    datum.way_home.report();
    report_value(data);
    if (!datum.released() || datum.users > 0) return;
    if (kept || !datum.away_from_home()) {
      forget(data);
    } else {
      m_context.agenda.post(Agenda::Forget{data});
    }
  });
  m_overlaps.failures_reported();
}

bool Homes::failure_reported(DataId data, std::uint32_t cause) {
  report_value(data);
  bool alone = true;
  m_data.for_each([&](DataId, Datum const& datum) { alone = alone && datum.value.cause() != cause; });
  return alone;
}

void Homes::report_value(DataId data) {
  auto& datum = m_data[data];
  bool const was_lost = datum.value.lost();
  datum.value.report(datum.has_value());
  if (was_lost || !datum.value.lost() || datum.users > 0 || datum.transfers > 0) return;
  for (std::size_t i = datum.replicas.size(); i-- > 0;) m_memories.invalidate(data, datum.replicas[i]);
}

// The device that held the value, or one on its way home, is lost: no later run brings it there. Without another
// replica the datum has no value any more.
void Homes::give_up_lost(DataId data) {
  auto& datum = m_data[data];
  NodeId const node = datum.way_home.lost_on();
  if (!node.valid() || datum.released()) return;
  auto* const gone = datum.on(node);
  if (gone == nullptr || !gone->valid || gone->pins > 0 || datum.transfers > 0) return;
  if (datum.users > 0) return;  // their copies will report the same
  if (!datum.value.lost() && !datum.valid_besides(*gone)) datum.value.lose(datum.value.cause());
  m_memories.invalidate(data, *gone);
}

}  // namespace granary::detail
