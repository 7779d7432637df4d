// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>

namespace granary::detail {

/// A bounded queue between two threads. The producer writes elements and publishes them together; elements stay
/// constructed, so that their memory is reused.
template <class T>
class GRANARY_EXPORT SpscRing {
 public:
  /// Holds at least `capacity` elements; the caller must ensure that there are never more.
  explicit SpscRing(std::size_t capacity)
      : m_mask(std::bit_ceil(capacity) - 1), m_cells(std::make_unique<T[]>(m_mask + 1)) {}

  /// Producer: the next element to write.
  [[nodiscard]] T& next() { return m_cells[m_written & m_mask]; }
  void stage() { ++m_written; }
  /// Producer: the element `before` places before the next one, which the consumer may have taken out already; `before`
  /// is at most the capacity.
  [[nodiscard]] T& staged(std::size_t before) { return m_cells[(m_written - before) & m_mask]; }
  /// Makes all staged elements visible. Sequentially consistent: the consumer's announcement that it sleeps is ordered
  /// against it.
  void publish() { m_tail.store(m_written); }

  /// Consumer: the oldest element, or null.
  [[nodiscard]] T* front() { return peek(0); }
  /// Consumer: the element `behind` places after the oldest, or null.
  [[nodiscard]] T* peek(std::size_t behind) {
    if (m_seen_tail - m_read <= behind) {
      m_seen_tail = m_tail.load();
      if (m_seen_tail - m_read <= behind) return nullptr;
    }
    return &m_cells[(m_read + behind) & m_mask];
  }
  void pop() { ++m_read; }

 private:
  std::size_t const m_mask;
  std::unique_ptr<T[]> const m_cells;
  alignas(64) std::size_t m_written = 0;  // producer's
  alignas(64) std::atomic<std::size_t> m_tail = 0;
  alignas(64) std::size_t m_read = 0;  // consumer's
  std::size_t m_seen_tail = 0;
};

}  // namespace granary::detail
