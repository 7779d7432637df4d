// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/planner/movement/data_table.hpp>

#include <utility>

namespace granary::detail {

DataId DataTable::add(DataDescription description) {
  DataId id;
  if (m_free.empty()) {
    if (m_size % page == 0) m_pages.push_back(std::make_unique<Datum[]>(page));
    id = DataId(static_cast<std::uint32_t>(m_size++));
  } else {
    id = m_free.back();
    m_free.pop_back();
  }
  auto& added = (*this)[id];
  if (description.origin.valid() && !description.origin_is_home)
    added.replicas.emplace_back(description.origin, Slot::Origin, 0, true);
  if (description.home.valid())
    added.replicas.emplace_back(description.home, Slot::Home, 0, description.origin_is_home);
  added.value = Value(description.origin.valid());
  added.description = std::move(description);
  return id;
}

void DataTable::forget(DataId data) {
  (*this)[data] = {};
  m_free.push_back(data);
}

}  // namespace granary::detail
