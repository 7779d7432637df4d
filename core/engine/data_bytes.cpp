// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/data_bytes.hpp>

#include <bit>
#include <utility>

namespace granary::detail {
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

std::vector<SharedBytes> DataBytes::sharing(ByteSet const& bytes) const {
  std::vector<SharedBytes> shares;
  if (bytes.empty()) return shares;
  for (std::size_t c = 0; c < m_classes.size(); ++c) {
    // A set of this class that begins earlier ends before the first byte.
    auto const most_span = c == 63 ? ~std::uint64_t{0} : (std::uint64_t{2} << c) - 1;
    auto const from = bytes.first() > most_span ? bytes.first() - most_span : 0;
    for (auto entry = m_classes[c].lower_bound(from); entry != m_classes[c].end() && entry->first < bytes.end();
         ++entry) {
      auto const& other = entry->second;
      if (!overlap(other.bytes, bytes)) continue;
      shares.push_back(
          {.other = other.data, .covers = covers(bytes, other.bytes), .covered = covers(other.bytes, bytes)});
    }
  }
  return shares;
}

void DataBytes::add(DataId data, ByteSet bytes) {
  if (bytes.empty()) return;
  auto const first = bytes.first();
  auto& its_class = m_classes[class_of(bytes)];
  m_places[data] = its_class.emplace(first, Entry{data, std::move(bytes)});
}

void DataBytes::forget(DataId data) {
  auto const place = m_places.find(data);
  if (place == m_places.end()) return;
  m_classes[class_of(place->second->second.bytes)].erase(place->second);
  m_places.erase(place);
}

}  // namespace granary::detail
