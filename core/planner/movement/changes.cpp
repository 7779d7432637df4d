// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/movement/changes.hpp>

#include <algorithm>

namespace granary::detail {

void Changes::begin(DataId data, NodeId node, bool keep) {
  m_homes.stay(data);
  m_routes.cancel_transfers(data);
  auto& datum = m_data[data];
  Slot const slot = datum.slot_on(node);
  ++datum.find(node, slot)->writers;
  for (std::size_t i = datum.replicas.size(); i-- > 0;) {
    auto& other = datum.replicas[i];
    if (other.superseded || (other.node == node && other.slot == slot)) continue;
    if (keep && other.valid && m_results.find(data) == nullptr) {
      m_memories.supersede(data, other);
    } else {
      m_memories.invalidate(data, other);
    }
  }
}

void Changes::end(Access const& access, NodeId node) {
  auto& datum = m_data[access.data];
  if (datum.replicas.size() > 1) m_memories.drop_superseded(access.data);
  m_kept.release(access.data);
  Replica* const written = datum.on(node);
  --written->writers;
  if (datum.varies) m_results.become_value(access.data, *written);
  if (commutes(access.mode)) {
    // The version after the one that it found, unless writes were skipped since that one was made.
    datum.value.change();
    m_memories.set_valid(access.data, *written, std::max(written->version, access.version) + 1);
  } else {
    datum.value.write();
    m_memories.set_valid(access.data, *written, access.version);
  }
}

void Changes::hand_over(Access const& access, bool regained) {
  DataId const data = access.data;
  auto& datum = m_data[data];
  if (datum.value.lost() && !regained) return;
  begin(data, datum.home, false);
  Replica* const home = datum.find(datum.home, Slot::Home);
  --home->writers;
  if (regained) datum.value.write();
  m_memories.set_valid(data, *home, access.version);
}

bool Changes::may_revert(Access const& access) const {
  return !reads(access.mode) || m_kept.find(access.data) != nullptr || m_results.find(access.data) != nullptr ||
         std::ranges::any_of(m_data[access.data].replicas, &Replica::superseded);
}

void Changes::revert(DataId data, NodeId node, bool changed) {
  auto& datum = m_data[data];
  Replica* const written = datum.on(node);
  if (--written->writers > 0) return;  // the task behind which this one was issued
  bool const untouched = m_results.find(data) != nullptr || m_kept.release(data);
  if (changed && !untouched) m_memories.invalidate(data, *written);
  for (auto& replica : datum.replicas) {
    if (replica.superseded) m_memories.restore(data, replica);
  }
}

bool Changes::lose(DataId data, NodeId node, std::uint32_t cause) {
  m_memories.drop_superseded(data);
  m_kept.release(data);
  --m_data[data].on(node)->writers;
  return m_data[data].value.lose(cause);
}

bool Changes::skip(DataId data, std::uint32_t cause) {
  auto& datum = m_data[data];
  if (datum.value.made() && !datum.has_value()) {
    datum.value.lose(cause);
    return true;
  }
  datum.value.skip_write(cause);
  return false;
}

void Changes::poison(DataId data) {
  m_homes.stay(data);
  auto& datum = m_data[data];
  for (std::size_t i = datum.replicas.size(); i-- > 0;) m_memories.invalidate(data, datum.replicas[i]);
  if (datum.released()) m_context.agenda.post(Agenda::Forget{data});
}

void Changes::leave_to_home(DataId data) {
  auto& datum = m_data[data];
  if (datum.replicas.size() == 1) return;
  auto const* const home = datum.home.valid() ? datum.find(datum.home, Slot::Home) : nullptr;
  if (home == nullptr || !home->valid || !at_rest(datum)) return;
  auto const kind = m_context.topology.machine()[datum.home].kind;
  if (kind == NodeKind::Disk || kind == NodeKind::Peers) return;
  for (std::size_t i = datum.replicas.size(); i-- > 0;) {
    Slot const slot = datum.replicas[i].slot;
    if (slot == Slot::Pool || slot == Slot::Origin) m_memories.invalidate(data, datum.replicas[i]);
  }
}

void Changes::make_at(DataId data, NodeId node) {
  m_homes.stay(data);  // the value before may wait for room on its way
  auto& datum = m_data[data];
  for (std::size_t i = datum.replicas.size(); i-- > 0;) {
    auto& replica = datum.replicas[i];
    if (replica.node != node || replica.slot != datum.slot_on(node)) m_memories.invalidate(data, replica);
  }
  datum.value.write();
  m_memories.set_valid(data, *datum.on(node), datum.version);
}

}  // namespace granary::detail
