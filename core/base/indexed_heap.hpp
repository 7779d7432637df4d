// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace granary::detail {

/// A binary heap of keys that belong to small indices; the key of an index can be read, changed and erased.
///
/// `before(a, b)` is true if `a` comes first. `set` and `erase` cost O(log size), the rest O(1); memory is O(largest
/// index).
template <class Key, class Before = std::less<Key>>
class GRANARY_EXPORT IndexedHeap {
 public:
  explicit IndexedHeap(Before before = {}) : m_before(std::move(before)) {}

  [[nodiscard]] bool empty() const { return m_entries.empty(); }
  [[nodiscard]] std::size_t size() const { return m_entries.size(); }
  [[nodiscard]] bool contains(std::size_t index) const { return index < m_places.size() && m_places[index] != absent; }
  /// The index whose key comes first; the heap is not empty.
  [[nodiscard]] std::size_t top() const { return m_entries.front().index; }
  [[nodiscard]] Key const& top_key() const { return m_entries.front().key; }

  /// Inserts the index, or changes its key.
  void set(std::size_t index, Key key) {
    if (index >= m_places.size()) m_places.resize(index + 1, absent);
    std::size_t place = m_places[index];
    if (place == absent) {
      place = m_entries.size();
      m_places[index] = static_cast<std::uint32_t>(place);
      m_entries.push_back({std::move(key), static_cast<std::uint32_t>(index)});
    } else {
      m_entries[place].key = std::move(key);
    }
    settle(place);
  }

  /// Erases the index, if it is there.
  void erase(std::size_t index) {
    if (!contains(index)) return;
    std::size_t const place = m_places[index];
    m_places[index] = absent;
    Entry last = std::move(m_entries.back());
    m_entries.pop_back();
    if (place == m_entries.size()) return;
    put(place, std::move(last));
    settle(place);
  }

 private:
  static constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();
  struct Entry {
    Key key;
    std::uint32_t index;
  };

  void put(std::size_t place, Entry entry) {
    m_places[entry.index] = static_cast<std::uint32_t>(place);
    m_entries[place] = std::move(entry);
  }

  // Moves the entry up or down to its place.
  void settle(std::size_t place) {
    Entry entry = std::move(m_entries[place]);
    while (place > 0) {
      std::size_t const parent = (place - 1) / 2;
      if (!m_before(entry.key, m_entries[parent].key)) break;
      put(place, std::move(m_entries[parent]));
      place = parent;
    }
    for (;;) {
      std::size_t child = 2 * place + 1;
      if (child >= m_entries.size()) break;
      if (child + 1 < m_entries.size() && m_before(m_entries[child + 1].key, m_entries[child].key)) ++child;
      if (!m_before(m_entries[child].key, entry.key)) break;
      put(place, std::move(m_entries[child]));
      place = child;
    }
    put(place, std::move(entry));
  }

  Before m_before;
  std::vector<Entry> m_entries;
  std::vector<std::uint32_t> m_places;
};

}  // namespace granary::detail
