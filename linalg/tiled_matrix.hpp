// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/model/submitter.hpp>
#include <granary/linalg/kernels/tile_kernels.hpp>
#include <granary/linalg/tile_grid.hpp>

#include <string>
#include <utility>
#include <vector>

namespace granary {

/// The tiles of one triangle, with the diagonal, of a square matrix: data ids and how the elements lie in a tile. It
/// manages no memory.
///
/// Algorithms see the *lower form*: the stored lower triangle, or the transpose of the stored upper one. A transposed
/// tile is the same bytes in the other layout, so that an algorithm is written once for both.
template <class T>
class TiledMatrix {
 public:
  /// Calls `add_tile(i, j)`, which returns the DataId of the tile in tile row i and tile column j, for each tile of the
  /// triangle `stored`. Tiles lie in memory in `layout` with leading dimension `leading`, at least grid.tile (or n, if
  /// that is smaller).
  template <class AddTile>
  TiledMatrix(TileGrid grid, Uplo stored, Layout layout, std::uint64_t leading, AddTile&& add_tile)
      : m_grid(grid), m_stored(stored), m_layout(layout), m_leading(leading) {
    m_tiles.reserve(grid.triangle());
    for (std::uint64_t i = 0; i < grid.count(); ++i) {
      for (std::uint64_t j = 0; j <= i; ++j) m_tiles.push_back(stored == Uplo::Lower ? add_tile(i, j) : add_tile(j, i));
    }
  }

  [[nodiscard]] TileGrid const& grid() const { return m_grid; }
  [[nodiscard]] Uplo stored() const { return m_stored; }
  [[nodiscard]] std::uint64_t leading() const { return m_leading; }
  /// Tile (i, j) of the lower form; i >= j.
  [[nodiscard]] DataId lower(std::uint64_t i, std::uint64_t j) const { return m_tiles[i * (i + 1) / 2 + j]; }
  /// The layout of the lower form's tiles.
  [[nodiscard]] Layout lower_layout() const {
    if (m_stored == Uplo::Lower) return m_layout;
    return m_layout == Layout::RowMajor ? Layout::ColumnMajor : Layout::RowMajor;
  }

  /// Gives all tiles up once the tasks submitted so far have used them; their values go to their homes first.
  void release(Submitter& submitter) {
    for (auto tile : std::exchange(m_tiles, {})) submitter.release_data(tile);
  }

 private:
  TileGrid m_grid;
  Uplo m_stored;
  Layout m_layout;
  std::uint64_t m_leading;
  std::vector<DataId> m_tiles;  // of the lower form, row by row
};

/// `A(3, 2)`, for messages.
[[nodiscard]] inline std::string tile_name(std::string const& matrix, std::uint64_t i, std::uint64_t j) {
  return matrix + "(" + std::to_string(i) + ", " + std::to_string(j) + ")";
}

/// Tiles without origin and home: row-major, tile x tile elements also at the edges.
template <class T>
[[nodiscard]] TiledMatrix<T> make_temporary_matrix(Submitter& submitter, TileGrid grid, Uplo stored,
                                                   std::string const& name) {
  return {grid, stored, Layout::RowMajor, grid.tile, [&](std::uint64_t i, std::uint64_t j) {
            return submitter.add_data(
                {.name = tile_name(name, i, j), .bytes = grid.tile * grid.tile * sizeof(T), .origin = {}, .home = {}});
          }};
}

}  // namespace granary
