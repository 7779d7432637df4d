// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace granary::detail {

/// An array that grows by chunks: elements keep their addresses, and no more than one chunk is unused. Access takes a
/// shift and two loads; a deque divides by the size of its blocks.
template <class T, std::size_t ChunkSize = 64>
class GRANARY_EXPORT ChunkedArray {
 public:
  /// Appends an element with T's initial value, and returns it.
  T& grow() {
    if (m_size == m_chunks.size() * ChunkSize) m_chunks.push_back(std::make_unique<T[]>(ChunkSize));
    return (*this)[m_size++];
  }

  [[nodiscard]] T& operator[](std::size_t i) { return m_chunks[i / ChunkSize][i % ChunkSize]; }
  [[nodiscard]] T const& operator[](std::size_t i) const { return m_chunks[i / ChunkSize][i % ChunkSize]; }
  [[nodiscard]] std::size_t size() const { return m_size; }

 private:
  static_assert((ChunkSize & (ChunkSize - 1)) == 0, "chunks have a power of two of elements");

  std::vector<std::unique_ptr<T[]>> m_chunks;
  std::size_t m_size = 0;
};

}  // namespace granary::detail
