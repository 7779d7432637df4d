// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/movement/kept_values.hpp>

#include <algorithm>

namespace granary::detail {

void KeptValues::keep(AccessList const& accesses, NodeId node) {
  auto const needed = [&](Access const& access) {
    return !access.repeated && writes(access.mode) && reads(access.mode) && !m_data[access.data].varies &&
           std::ranges::none_of(m_data[access.data].replicas, &Replica::superseded);
  };
  for (auto const& access : accesses) {
    if (!needed(access) || keep(access.data, node)) continue;
    for (auto const& other : accesses) {
      if (needed(other)) release(other.data);
    }
    return;
  }
}

bool KeptValues::keep(DataId data, NodeId id) {
  auto const& node = m_memories[id];
  bool const contended = node.waiting > 0 || node.evicting > 0 || !node.transits.empty() || !node.write_backs.empty();
  if (contended || !m_data[data].on(id)->valid) return false;
  auto const offset = m_memories.take(id, data, m_data[data].bytes, 0, m_memories.room_for_holders(id));
  if (!offset) return false;
  m_places.emplace(data, Place{id, Slot::Pool, *offset});
  m_memories.count_used(id);
  m_context.notice(KeptAside{data, id, *offset, node.ledger.rounded(m_data[data].bytes)});
  return true;
}

bool KeptValues::release(DataId data) {
  auto const found = m_places.find(data);
  if (found == m_places.end()) return false;
  auto const [node, slot, offset] = found->second;
  m_places.erase(found);
  m_memories[node].ledger.free(offset);
  m_memories.count_used(node);
  m_context.notice(NotKept{data, node, offset});
  m_memories.room_may_have_changed(node);
  return true;
}

}  // namespace granary::detail
