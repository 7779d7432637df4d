// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/dispatch/booking.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace granary::detail {

namespace {

// A submitter that slept because of too many tasks goes on when only so few are left. So policies that plan over the
// live tasks get nearly all of them at once: with a few new ones at a time superblock moves three times as many bytes
// (bench/simulator/live_tasks.csv). The remaining tasks keep the workers busy meanwhile.
constexpr std::uint64_t tasks_left(std::uint64_t limit) { return limit / 16; }

}  // namespace

Booking::Booking(PlannerContext& context, BookingOptions const& options, Movement const& movement)
    : m_context(context),
      m_movement(movement),
      m_options(options),
      m_others(context.topology.peers()),
      m_host(context.topology.send_node()),
      m_most_tasks(options.max_live_tasks == 0 || options.policy == BookingOptions::Policy::None
                       ? std::numeric_limits<std::uint64_t>::max()
                       : options.max_live_tasks) {
  if (options.sleep > 0 && options.wakeup > options.sleep) {
    throw InvalidArgument("submission would wake when " + std::to_string(options.wakeup) +
                          " bytes are booked, but sleeps only above " + std::to_string(options.sleep) + " bytes");
  }
  auto const& nodes = context.topology.machine().nodes;
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].kind != NodeKind::Host) continue;
    if (!m_host.valid()) m_host = NodeId(n);
    if (nodes[n].capacity < unbounded) m_hosts.emplace_back(n);
  }
  if (!m_host.valid()) m_host = NodeId(0);  // a machine of devices alone
  m_limited = std::ranges::find(m_hosts, m_host) != m_hosts.end();
  m_keeps_temporaries = !movement.memories().storage_of_temporaries(m_host).valid();
  m_books_data = m_keeps_temporaries || m_others.valid();
}

void Booking::book(LiveTask const& task) {
  auto const before = m_context.statistics.booking.booked;
  Bytes const bytes = update(task.accesses);
  if (!is_own(task)) return;
  if (bytes > m_largest_bytes) note_size(task.accesses, bytes);
  ++m_own;
  auto const now = m_context.statistics.booking.booked;
  if (now > before) m_most_added = std::max(m_most_added, now - before);
  sleep_if_necessary(now > before);
}

void Booking::forgotten(DataId data) {
  if (booked(data) == 0) return;
  update(data, {});
  wake_if_possible();
}

void Booking::changed(DataId data) {
  auto const before = m_context.statistics.booking.booked;
  update(data, m_movement.data()[data]);
  sleep_if_necessary(m_context.statistics.booking.booked > before);
  wake_if_possible();
}

void Booking::failures_reported() {
  for (std::uint32_t d = 0; d < m_booked.size(); ++d) {
    if (m_booked[d] > 0) update(DataId(d), m_movement.data()[DataId(d)]);
  }
  wake_if_possible();
}

// Returns the bytes of these data.
Bytes Booking::update(AccessList const& accesses) {
  auto const& data = m_movement.data();
  Bytes bytes = 0;
  for (auto const& access : accesses) {
    auto const& datum = data[access.data];
    bytes += datum.bytes;
    if (may_book(datum) && !access.repeated) update(access.data, datum);
  }
  return bytes;
}

// Sizes are rounded only where they may matter, since that takes divisions.
void Booking::note_size(AccessList const& accesses, Bytes bytes) {
  m_largest_bytes = bytes;
  m_largest = std::max(m_largest, m_movement.memories().footprint(accesses, m_host));
}

bool Booking::is_own_outside(LiveTask const& task) const {
  return !task.handover() && !m_context.codelets[task.codelet.index()].stub;
}

// Only tasks of this process read the value of another one, and its incoming value alone writes it.
bool Booking::books(DataId data, Datum const& datum) const {
  if (!may_book(datum)) return false;
  if (!datum.home.valid()) return datum.version > 0 && (datum.users > 0 || datum.value.made());
  return datum.users > datum.writers || (m_options.policy == BookingOptions::Policy::Paper && booked(data) > 0);
}

// Nobody here knows the size of another process' value before it is announced (Memory, IV-C). Those of this one grow
// (Memory, V-C).
Bytes Booking::booked_bytes(Datum const& datum) const {
  if (!datum.varies) return datum.bytes;
  if (datum.home.valid()) return datum.value.made() ? datum.bytes : datum.bound;
  switch (m_options.estimate) {
    case BookingOptions::Estimate::Bold:
      return datum.bytes;
    case BookingOptions::Estimate::Factor:
      return std::clamp(2 * datum.description.bytes, datum.bytes, datum.bound);
    case BookingOptions::Estimate::Safe:
      break;
  }
  return datum.bound;
}

void Booking::update(DataId data, Datum const& datum) {
  Bytes const now = demanded(data, datum);
  Bytes const before = booked(data);
  if (now == before) return;
  if (data.index() >= m_booked.size()) m_booked.resize(std::max<std::size_t>(data.index() + 1, 2 * m_booked.size()));
  m_booked[data.index()] = now;
  auto& statistics = m_context.statistics.booking;
  statistics.booked = statistics.booked - before + now;
  statistics.peak = std::max(statistics.peak, statistics.booked);
  if (!m_context.observers.empty()) m_context.notice(Booked{m_host, statistics.booked, sleep()});
}

Bytes Booking::sleep() const {
  if (m_options.policy == BookingOptions::Policy::None) return unbounded;
  if (m_options.sleep > 0) return m_options.sleep;
  if (!m_limited) return unbounded;
  Bytes memory = 0;
  for (NodeId const host : m_hosts) memory += m_movement.memories().room_for_holders(host);
  return memory - std::min(memory, m_largest);
}

Bytes Booking::sleep_before_next() const {
  return m_options.sleep > 0 ? sleep() - std::min(sleep(), m_most_added) : sleep();
}

Bytes Booking::wakeup() const {
  Bytes const most = sleep();
  return m_options.wakeup > 0 ? std::min(m_options.wakeup, most) : most - most / 10 - (most % 10 > 0 ? 1 : 0);
}

// No gap is counted that is as large as the smallest block, and between two blocks there is at most one: F is about 2
// at most, and asked for only where it may matter.
bool Booking::exceeds(Bytes limit) const {
  if (limit >= unbounded) return false;
  Bytes const booked = m_context.statistics.booking.booked;
  if (booked > limit || booked <= limit / 2) return booked > limit;
  Bytes used = 0;
  Bytes lost = 0;
  for (NodeId const host : m_hosts) {
    auto const& ledger = m_movement.memories()[host].ledger;
    used += ledger.used();
    lost += ledger.lost_to_gaps();
  }
  if (used == 0) return false;
  double const factor = 1 + static_cast<double>(lost) / static_cast<double>(used);
  return factor * static_cast<double>(booked) > static_cast<double>(limit);
}

void Booking::sleep_if_necessary(bool grew) {
  if (m_asleep || m_own == 0) return;
  m_asleep = m_own >= m_most_tasks || (grew && exceeds(sleep_before_next()));
  if (m_asleep) ++m_context.statistics.booking.sleeps;
}

void Booking::wake_if_possible() {
  if (!m_asleep) return;
  bool const few = m_own <= tasks_left(m_most_tasks);
  if (m_own > 0 && !(few && !exceeds(wakeup()))) return;
  m_asleep = false;
  if (exceeds(sleep())) ++m_context.statistics.booking.alone;
}

}  // namespace granary::detail
