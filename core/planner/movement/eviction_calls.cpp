// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/movement/eviction_calls.hpp>

#include <granary/detail/core/planner/movement/data_table.hpp>

namespace granary::detail {
namespace {

// Of a replica that is not evictable.
char const* why_not(Datum const& datum, Replica const* replica) {
  if (replica == nullptr) return "which is not there";
  if (replica->evicting) return "which is being evicted already";
  if (replica->pins > 0) return "which is in use";
  if (!replica->valid) return "which holds no value there";
  if (datum.way_home.going()) return "which is on its way home";
  return "which holds the only copy of its value";
}

}  // namespace

void EvictionCalls::blame_for(DataId data, NodeId node) {
  auto const& table = m_calls.data();
  if (table.known(data)) {
    auto const& datum = table[data];
    m_calls.blame("chose to evict " + m_calls.name_of(data, node) + ", " +
                  why_not(datum, datum.find(node, Slot::Pool)));
  } else {
    m_calls.blame("chose to evict " + m_calls.name_of(data, node) + ", which is not registered");
  }
}

}  // namespace granary::detail
