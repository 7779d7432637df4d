// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/engine/data_bytes.hpp>

#include <bit>
#include <utility>

namespace granary {
namespace {

std::size_t class_of(ByteSet const& bytes) { return static_cast<std::size_t>(std::bit_width(bytes.span()) - 1); }

}  // namespace

DataId DataBytes::find(ByteSet const& bytes) const {
  auto const [first, last] = m_classes[class_of(bytes)].equal_range(bytes.first());
  for (auto entry = first; entry != last; ++entry) {
    if (entry->second.bytes == bytes) return entry->second.data;
  }
  return {};
}

void DataBytes::add(DataId data, ByteSet bytes) {
  for (std::size_t c = 0; c < m_classes.size(); ++c) {
    // A set of this class that begins earlier ends before the first byte.
    auto const most_span = c == 63 ? ~std::uint64_t{0} : (std::uint64_t{2} << c) - 1;
    auto const from = bytes.first() > most_span ? bytes.first() - most_span : 0;
    for (auto entry = m_classes[c].lower_bound(from); entry != m_classes[c].end() && entry->first < bytes.end();
         ++entry) {
      auto const& other = entry->second;
      if (!overlap(other.bytes, bytes)) continue;
      m_overlaps[data].push_back(other.data);
      m_overlaps[other.data].push_back(data);
    }
  }
  auto const first = bytes.first();
  auto& its_class = m_classes[class_of(bytes)];
  m_places[data] = its_class.emplace(first, Entry{data, std::move(bytes)});
}

void DataBytes::forget(DataId data) {
  auto const place = m_places.find(data);
  if (place == m_places.end()) return;
  m_classes[class_of(place->second->second.bytes)].erase(place->second);
  m_places.erase(place);
  auto const overlaps = m_overlaps.find(data);
  if (overlaps == m_overlaps.end()) return;
  for (DataId const other : std::exchange(overlaps->second, {})) {
    auto const back = m_overlaps.find(other);
    std::erase(back->second, data);
    if (back->second.empty()) m_overlaps.erase(back);
  }
  m_overlaps.erase(data);
}

std::span<DataId const> DataBytes::overlapping(DataId data) const {
  auto const found = m_overlaps.find(data);
  if (found == m_overlaps.end()) return {};
  return found->second;
}

}  // namespace granary
