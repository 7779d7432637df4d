// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <granary/linalg/files/matrix_file.hpp>

namespace granary::detail {

/// Where the chunks of an HDF5 dataset lie in its file, numbered in row-major order.
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

/// Finds the chunks of a dataset whose arrangement is Chunked. Chunks of a dataset of fixed size that were all
/// allocated when it was created lie one after the other if the last one lies where it then must: two look-ups. Others
/// are looked up one by one, up to 2048 of them, since HDF5 1.10 searches linearly. Nothing when there are more, or
/// when some chunk was never written.
[[nodiscard]] std::optional<ChunkMap> map_chunks(MatrixFileInfo const& info);

}  // namespace granary::detail
