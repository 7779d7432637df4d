// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <granary/detail/core/base/checked.hpp>
#include <granary/detail/core/base/export.hpp>

namespace granary {

/// The elements of a matrix that count: all, or one triangle with its diagonal.
enum class GRANARY_EXPORT MatrixPart { All, Lower, Upper };

namespace detail {

/// A matrix of rows x cols elements cut into square tiles of size `tile`; the last tile row and column may be smaller.
/// Tiles and elements are counted from 0; slots number all tiles in row-major order. All three numbers are at least 1.
struct GRANARY_EXPORT TileGrid {
  std::uint64_t rows = 1;
  std::uint64_t cols = 1;
  std::uint64_t tile = 1;

  [[nodiscard]] constexpr std::uint64_t tile_rows() const { return (rows + tile - 1) / tile; }
  [[nodiscard]] constexpr std::uint64_t tile_cols() const { return (cols + tile - 1) / tile; }
  /// The number of diagonal tiles: the minimum of tile rows and tile columns.
  [[nodiscard]] constexpr std::uint64_t diagonal() const { return std::min(tile_rows(), tile_cols()); }
  /// Rows of the matrix in tile row i.
  [[nodiscard]] constexpr std::uint64_t rows_in(std::uint64_t i) const { return std::min(tile, rows - i * tile); }
  /// Columns of the matrix in tile column j.
  [[nodiscard]] constexpr std::uint64_t cols_in(std::uint64_t j) const { return std::min(tile, cols - j * tile); }
  /// Elements of tile (i, j): fewer at the edges, and if the matrix is narrower than a tile.
  [[nodiscard]] constexpr std::uint64_t elements_in(std::uint64_t i, std::uint64_t j) const {
    return rows_in(i) * cols_in(j);
  }
  /// Elements of the largest tile, which is the first.
  [[nodiscard]] constexpr std::uint64_t largest_tile() const { return elements_in(0, 0); }
  /// The first row of tile row i, or column of tile column i.
  [[nodiscard]] constexpr std::uint64_t first(std::uint64_t i) const { return i * tile; }
  [[nodiscard]] constexpr std::uint64_t slot(std::uint64_t i, std::uint64_t j) const { return i * tile_cols() + j; }
  [[nodiscard]] constexpr std::uint64_t row_of(std::uint64_t slot) const { return slot / tile_cols(); }
  [[nodiscard]] constexpr std::uint64_t col_of(std::uint64_t slot) const { return slot % tile_cols(); }
  [[nodiscard]] constexpr TileGrid transposed() const { return {cols, rows, tile}; }
  bool operator==(TileGrid const&) const = default;
};

}  // namespace detail

[[nodiscard]] constexpr detail::TileGrid square_grid(std::uint64_t order, std::uint64_t tile) {
  return {order, order, tile};
}

/// A tile size of at most `tile`, with as many tiles in a row, of which full ones would cover at most 1/32 more than
/// `extent` elements: a last row of thin tiles moves as many others as a full one, for less work. It is `tile`, else
/// the largest multiple of 8 that does, else the size with which all tiles are equal but for the last one. `tile`
/// itself if the extent has fewer than eight of them. O(tile).
[[nodiscard]] constexpr std::uint64_t even_tile(std::uint64_t extent, std::uint64_t tile) {
  if (extent / 8 < tile) return tile;
  auto const rows = (extent + tile - 1) / tile;
  auto const equal = (extent + rows - 1) / rows;
  for (auto size = tile; size >= equal; size = (size - 1) / 8 * 8) {
    if (size * rows - extent <= extent / 32) return size;
  }
  return equal;
}

/// True if tile (i, j) has an element of that part.
[[nodiscard]] constexpr bool holds(MatrixPart part, std::uint64_t i, std::uint64_t j) {
  return part == MatrixPart::All || (part == MatrixPart::Lower ? i >= j : i <= j);
}

/// Tiles of the grid that have an element of that part.
[[nodiscard]] constexpr std::uint64_t count_tiles(detail::TileGrid const& grid, MatrixPart part) {
  auto const rows = grid.tile_rows();
  auto const cols = grid.tile_cols();
  if (part == MatrixPart::All) return rows * cols;
  auto const side = grid.diagonal();
  auto const triangle = side * (side + 1) / 2;
  return triangle + (part == MatrixPart::Lower ? (rows - side) * cols : rows * (cols - side));
}

/// Throws InvalidArgument if the tiles of such a matrix may have more than `largest_size` bytes together, where tiles
/// at the edges count in full size like the chunks of a file. Otherwise products of the extents cannot overflow.
inline void check_size(detail::TileGrid const& grid, Bytes element) {
  auto const rows = checked_sum(grid.rows, std::min(grid.tile, grid.rows));
  auto const cols = checked_sum(grid.cols, std::min(grid.tile, grid.cols));
  bool const counted = checked_sum(grid.rows, grid.tile) && checked_sum(grid.cols, grid.tile);
  if (counted && rows && cols && checked_product({*rows, *cols, element})) return;
  throw InvalidArgument("a matrix of " + std::to_string(grid.rows) + " x " + std::to_string(grid.cols) +
                        " elements of " + std::to_string(element) + " bytes with tile size " +
                        std::to_string(grid.tile) + " is too large: the maximum is 2^63 - 1 bytes");
}

}  // namespace granary
