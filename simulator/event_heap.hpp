// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace granary::detail {

/// Future events by time: the earliest first, in order of insertion among events of one instant, so that runs are
/// reproducible. O(log size) per operation.
template <class Payload>
class GRANARY_EXPORT EventHeap {
 public:
  void push(Instant at, Payload payload) {
    m_entries.push_back({at, m_pushed++, std::move(payload)});
    std::ranges::push_heap(m_entries, later);
  }
  /// The earliest event; the heap must not be empty.
  std::pair<Instant, Payload> pop() {
    std::ranges::pop_heap(m_entries, later);
    Entry entry = std::move(m_entries.back());
    m_entries.pop_back();
    return {entry.at, std::move(entry.payload)};
  }
  /// The instant of the earliest event; the heap must not be empty.
  [[nodiscard]] Instant next() const { return m_entries.front().at; }
  [[nodiscard]] bool empty() const { return m_entries.empty(); }

 private:
  struct Entry {
    Instant at;
    std::uint64_t number;
    Payload payload;
  };
  static bool later(Entry const& a, Entry const& b) { return a.at != b.at ? a.at > b.at : a.number > b.number; }

  std::vector<Entry> m_entries;
  std::uint64_t m_pushed = 0;
};

}  // namespace granary::detail
