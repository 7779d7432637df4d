// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <granary/detail/core/base/units.hpp>
#include <granary/detail/linalg/data/tile_grid.hpp>
#include <granary/detail/outofcore/file.hpp>

namespace granary::detail {

/// A rectangle of elements of a matrix.
struct ElementBlock {
  std::uint64_t row = 0;
  std::uint64_t col = 0;
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
};

/// The tiles of a compressed matrix whose chunks are larger than tiles. Each chunk is unpacked once, when the first
/// tile that shares elements with it is read, and its elements go to an unlinked temporary file, from where tiles are
/// read. Needs memory for one chunk, and disk space for the tiles. For one thread at a time.
class UnpackedChunks {
 public:
  /// Reads the elements row by row, without gaps.
  using ReadBlock = std::function<void(ElementBlock const& block, std::byte* elements)>;

  /// Null if `directory` cannot be written, or has room for less than four times the matrix: the run may need the rest.
  [[nodiscard]] static std::unique_ptr<UnpackedChunks> make(std::string const& directory, TileGrid const& tiling,
                                                            MatrixPart part, ElementBlock const& chunk, Bytes element);

  /// Reads tile `slot`. Throws IoError if the temporary file cannot be written or read, and what `read` throws. Returns
  /// the bytes that were written to the file.
  Bytes read_tile(std::uint64_t slot, std::byte* destination, ReadBlock const& read);

 private:
  UnpackedChunks(std::shared_ptr<File const> file, TileGrid const& tiling, MatrixPart part, ElementBlock const& chunk,
                 Bytes element);
  void unpack(ElementBlock const& chunk, ReadBlock const& read);
  Bytes write_piece(ElementBlock const& chunk, std::uint64_t i, std::uint64_t j) const;

  std::shared_ptr<File const> m_file;
  TileGrid m_tiling;
  MatrixPart m_part;
  ElementBlock m_chunk;  // the first one
  Bytes m_element;
  std::uint64_t m_chunk_cols;
  std::vector<bool> m_unpacked;  // by chunk, row by row
  std::vector<std::byte> m_elements;
  Bytes m_written = 0;
};

}  // namespace granary::detail
