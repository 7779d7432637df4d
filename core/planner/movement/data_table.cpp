// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/movement/data_table.hpp>

#include <utility>

namespace granary::detail {

DataId DataTable::add(DataDescription description, std::span<FixedPlace const> places, Topology const& topology) {
  DataId id;
  if (m_free.empty()) {
    id = DataId(static_cast<std::uint32_t>(m_data.size()));
    m_data.grow();
  } else {
    id = m_free.back();
    m_free.pop_back();
  }
  auto& added = (*this)[id];
  if (description.origin.valid() && !description.origin_is_home)
    added.replicas.add({.node = description.origin, .slot = Slot::Origin, .valid = true});
  if (description.home.valid())
    added.replicas.add({.node = description.home, .slot = Slot::Home, .valid = description.origin_is_home});
  bool has_value = description.origin.valid();
  for (auto const& place : places) {
    bool const mirror = !topology.groups_on(place.node).empty();
    added.replicas.add({.node = place.node, .slot = mirror ? Slot::Mirror : Slot::Origin, .valid = place.valid});
    added.mirrored = added.mirrored || mirror;
    added.read_only = added.read_only || (mirror && !place.writable);
    has_value = has_value || place.valid;
  }
  added.value = Value(has_value);
  added.bytes = description.bytes;
  added.varies = description.bound > 0;
  added.bound = added.varies ? description.bound : description.bytes;
  m_any_varies = m_any_varies || added.varies;
  added.home = description.home;
  added.description = std::move(description);
  return id;
}

void DataTable::forget(DataId data) {
  (*this)[data] = {};
  m_free.push_back(data);
}

}  // namespace granary::detail
