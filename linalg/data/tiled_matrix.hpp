// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/owned_data.hpp>
#include <granary/detail/linalg/data/narrow.hpp>
#include <granary/detail/linalg/data/strided_shape.hpp>
#include <granary/detail/linalg/data/tile_grid.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace granary::detail {

/// One tile of a matrix in a task: its layout there, and its datum.
struct GRANARY_EXPORT TileRef : TileShape {
  [[nodiscard]] TileShape const& shape() const { return *this; }
  DataId data;
};

/// The leading square part of a diagonal tile, which contains its triangles.
[[nodiscard]] inline TileRef leading_square(TileRef tile) {
  tile.rows = tile.cols = std::min(tile.rows, tile.cols);
  return tile;
}

[[nodiscard]] constexpr MatrixPart flip(MatrixPart part) {
  if (part == MatrixPart::All) return part;
  return part == MatrixPart::Lower ? MatrixPart::Upper : MatrixPart::Lower;
}
[[nodiscard]] constexpr MatrixPart part_of(Uplo uplo) {
  return uplo == Uplo::Lower ? MatrixPart::Lower : MatrixPart::Upper;
}

/// The tiles of a matrix, or of one triangle with the diagonal: data ids and the layout of elements in a tile. It does
/// not manage memory; copies refer to the same data.
template <class T>
class GRANARY_EXPORT TiledMatrix {
 public:
  /// Calls `add_tile(i, j)`, which returns the DataId of the tile in tile row i and tile column j, for each tile that
  /// has an element of `part`, row by row. Tiles have `layout` without gaps: a datum has grid.elements_in(i, j)
  /// elements. Throws as to_int32 for a tile that kernels cannot count.
  template <class AddTile>
  TiledMatrix(TileGrid grid, MatrixPart part, TileLayout layout, AddTile&& add_tile)
      : TiledMatrix(grid, part, layout, 0, std::forward<AddTile>(add_tile)) {}
  /// The same for tiles that are parts of one matrix in memory, with leading dimension `leading`.
  template <class AddTile>
  TiledMatrix(TileGrid grid, MatrixPart part, TileLayout layout, std::uint64_t leading, AddTile&& add_tile)
      : m_grid(grid), m_part(part), m_layout(layout), m_leading(leading), m_row_stride(grid.tile_cols()) {
    static_cast<void>(to_int32(grid.rows_in(0), "a tile with a number of rows"));
    static_cast<void>(to_int32(grid.cols_in(0), "a tile with a number of columns"));
    m_tiles.resize(grid.tile_rows() * grid.tile_cols());
    for (std::uint64_t i = 0; i < grid.tile_rows(); ++i) {
      for (std::uint64_t j = 0; j < grid.tile_cols(); ++j) {
        if (holds(part, i, j)) m_tiles[i * m_row_stride + j] = add_tile(i, j);
      }
    }
  }

  /// The name that messages and traces give it, and what is derived from it.
  [[nodiscard]] std::string const& name() const { return m_name; }
  [[nodiscard]] TiledMatrix named(std::string name) && {
    m_name = std::move(name);
    return std::move(*this);
  }
  [[nodiscard]] TileGrid const& grid() const { return m_grid; }
  [[nodiscard]] MatrixPart part() const { return m_part; }
  /// At most `count` tiles of tile column j, from tile (i, j) down.
  [[nodiscard]] std::vector<TileRef> stack(std::uint64_t i, std::uint64_t j, std::uint64_t count) const {
    std::vector<TileRef> tiles;
    for (auto const end = std::min(i + count, m_grid.tile_rows()); i < end; ++i) tiles.push_back((*this)(i, j));
    return tiles;
  }
  /// Tile (i, j), which must have an element of the part.
  [[nodiscard]] TileRef operator()(std::uint64_t i, std::uint64_t j) const {
    auto const rows = m_grid.rows_in(i);
    auto const cols = m_grid.cols_in(j);
    auto const leading = m_leading > 0 ? m_leading : m_layout == TileLayout::RowMajor ? cols : rows;
    return {{to_int32(rows, "a tile with a number of rows"), to_int32(cols, "a tile with a number of columns"),
             to_int32(leading, "a leading dimension"), m_layout},
            m_tiles[i * m_row_stride + j * m_col_stride]};
  }

  /// The tiles of this matrix that have an element of `part`; its own part is All or the same.
  [[nodiscard]] TiledMatrix restricted(MatrixPart part) const {
    auto other = *this;
    other.m_part = part;
    for (std::uint64_t i = 0; i < m_grid.tile_rows(); ++i) {
      for (std::uint64_t j = 0; j < m_grid.tile_cols(); ++j) {
        if (!holds(part, i, j)) other.m_tiles[i * m_row_stride + j * m_col_stride] = {};
      }
    }
    return other;
  }

  /// The transpose, without conjugation: the same bytes in the other layout.
  [[nodiscard]] TiledMatrix transposed() const {
    auto other = *this;
    other.m_grid = m_grid.transposed();
    other.m_part = flip(m_part);
    other.m_layout = m_layout == TileLayout::RowMajor ? TileLayout::ColumnMajor : TileLayout::RowMajor;
    std::swap(other.m_row_stride, other.m_col_stride);
    return other;
  }

  /// Releases all tiles once the tasks submitted so far have used them; their values are first written home. Copies
  /// must not be used after that.
  void release(Submitter& submitter) { OwnedData(submitter, std::exchange(m_tiles, {})).release(); }

 private:
  std::string m_name = "the matrix";
  TileGrid m_grid;
  MatrixPart m_part;
  TileLayout m_layout;
  std::uint64_t m_leading;  // 0: each tile has its own leading dimension
  std::uint64_t m_row_stride;
  std::uint64_t m_col_stride = 1;
  std::vector<DataId> m_tiles;  // invalid outside the part
};

/// The data of all tiles, row by row.
template <class T>
[[nodiscard]] std::vector<DataId> tile_ids(TiledMatrix<T> const& a) {
  std::vector<DataId> ids;
  for (std::uint64_t i = 0; i < a.grid().tile_rows(); ++i) {
    for (std::uint64_t j = 0; j < a.grid().tile_cols(); ++j) {
      if (holds(a.part(), i, j)) ids.push_back(a(i, j).data);
    }
  }
  return ids;
}

/// `A(3, 2)`, for messages.
[[nodiscard]] inline std::string tile_name(std::string const& matrix, std::uint64_t i, std::uint64_t j) {
  return matrix + "(" + std::to_string(i) + ", " + std::to_string(j) + ")";
}

[[nodiscard]] constexpr MatrixPosition tile_position(std::uint64_t i, std::uint64_t j) {
  return {to_int32(i, "a tile row"), to_int32(j, "a tile column")};
}

/// Tiles without origin and home, row-major.
template <class T>
[[nodiscard]] TiledMatrix<T> make_temporary_matrix(Submitter& submitter, TileGrid grid, MatrixPart part,
                                                   std::string const& name) {
  check_size(grid, sizeof(T));
  return TiledMatrix<T>(grid, part, TileLayout::RowMajor,
                        [&](std::uint64_t i, std::uint64_t j) {
                          return submitter.add_data({.name = tile_name(name, i, j),
                                                     .bytes = grid.elements_in(i, j) * sizeof(T),
                                                     .origin = {},
                                                     .home = {},
                                                     .position = tile_position(i, j)});
                        })
      .named(name);
}

}  // namespace granary::detail
