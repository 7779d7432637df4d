// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/movement/results.hpp>

#include <algorithm>

namespace granary::detail {

void Results::list_varying(Access const& access, NodeId node, std::vector<Memories::Lacking>& lacking) const {
  auto const& datum = m_data[access.data];
  bool const there = datum.on(node) != nullptr;
  bool const beside = writes(access.mode) && (there || reads(access.mode));
  Bytes const own = writes(access.mode) && !beside ? std::max(datum.bytes, datum.result) : datum.bytes;
  if (!there) lacking.push_back({access.data, own, false});
  if (beside && find(access.data) == nullptr) lacking.push_back({access.data, datum.result, true});
}

void Results::add(DataId data, NodeId id, Bytes offset) {
  m_places.emplace(data, Place{id, Slot::Pool, offset});
  m_memories.count_used(id);
  m_context.notice(ResultPlaced{data, id, offset, m_memories[id].ledger.rounded(m_data[data].result)});
}

void Results::drop_place(DataId data) {
  auto const found = m_places.extract(data);
  if (found.empty()) return;
  auto const [node, slot, offset] = found.mapped();
  m_memories[node].ledger.free(offset);
  m_memories.count_used(node);
  m_context.notice(ResultDropped{data, node, offset});
  m_memories.room_may_have_changed(node);
}

void Results::become_value(DataId data, Replica& written) {
  auto& datum = m_data[data];
  datum.bytes = datum.result;
  if (written.slot != Slot::Pool) return;
  auto const beside = m_places.extract(data);
  m_memories.settle_at(data, written, beside.empty() ? written.offset : beside.mapped().offset);
}

}  // namespace granary::detail
