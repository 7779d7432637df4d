// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/movement/early_fetch.hpp>

namespace granary::detail {

LinkId EarlyFetch::way(DataId data, NodeId node) const {
  auto const& datum = m_data[data];
  auto const* const there = datum.on(node);
  bool const taken = there != nullptr && (there->slot == Slot::Pool || there->valid || there->superseded ||
                                          there->incoming.valid() || there->writers > 0);
  if (taken || datum.value.lost() || datum.being_written() || m_overlaps.shared_bytes(data)) return {};
  return m_routes.direct_link(data, node);
}

bool EarlyFetch::room_to_spare(NodeId id) const {
  auto const& node = m_memories[id];
  return node.waiting == 0 && node.transits.empty() && node.write_backs.empty();
}

bool EarlyFetch::bring(DataId data, NodeId node) {
  if (m_data[data].on(node) == nullptr) {
    auto const offset = m_memories.take(node, data, m_data[data].bytes, 0, m_memories.room_for_holders(node));
    if (!offset) return false;
    m_memories.add(data, node, *offset);
  }
  m_routes.fetch(data, node);
  return true;
}

}  // namespace granary::detail
