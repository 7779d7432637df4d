// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <granary/detail/linalg/files/matrix_file_info.hpp>

namespace granary::detail {

/// The offsets of the chunks of an HDF5 dataset in its file; chunks are numbered in row-major order.
class ChunkMap {
 public:
  ChunkMap(std::uint64_t first, Bytes stride) : m_first(first), m_stride(stride) {}
  explicit ChunkMap(std::vector<std::uint64_t> offsets) : m_offsets(std::move(offsets)) {}

  /// The offset in bytes of the k-th chunk.
  [[nodiscard]] std::uint64_t at(std::uint64_t k) const {
    return m_offsets.empty() ? m_first + k * m_stride : m_offsets[k];
  }

 private:
  std::uint64_t m_first = 0;
  Bytes m_stride = 0;
  std::vector<std::uint64_t> m_offsets;
};

/// Finds the chunks of a dataset whose arrangement is Chunked. If all chunks of a dataset of fixed size were allocated
/// at creation, they are contiguous if the last one is at the expected offset: two look-ups. Otherwise each chunk is
/// looked up, up to 2048 of them, because HDF5 1.10 searches linearly. Returns nothing if there are more, or if a chunk
/// was never written.
[[nodiscard]] std::optional<ChunkMap> map_chunks(MatrixFileInfo const& info);

}  // namespace granary::detail
