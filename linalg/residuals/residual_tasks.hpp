// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/owned_data.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/residuals/residual_data.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

/// Parts of linalg/residual other than tile products.
namespace granary::detail {

/// A part of a tile, with zeros elsewhere; UnitLower has ones on the diagonal.
enum class Start { All, Lower, UnitLower, Upper };

/// Emits R := that part of A, a tile of the same size.
template <class T>
void start(TaskEmitter& tasks, Start part, TileRef const& a, TileRef const& r);

/// Bytes of the largest tile.
template <class T>
[[nodiscard]] constexpr Bytes tile_bytes(TileGrid const& grid) {
  return grid.largest_tile() * sizeof(T);
}

/// Temporary tiles for the tiles of a matrix, reused block by block: tile (i, j) uses the tile at its position in its
/// block. The first block has the largest tiles.
template <class T>
class Accumulators {
 public:
  Accumulators(TaskEmitter& tasks, TileGrid const& grid, std::uint64_t block_rows, std::uint64_t block_cols)
      : m_grid(grid), m_rows(block_rows), m_cols(block_cols), m_data(tasks.submitter()) {
    for (std::uint64_t slot = 0; slot < block_rows * block_cols; ++slot) {
      m_data.add({.name = "residual tile " + std::to_string(slot),
                  .bytes = grid.elements_in(slot / block_cols, slot % block_cols) * sizeof(T),
                  .origin = {},
                  .home = {}});
    }
  }

  [[nodiscard]] TileRef operator()(std::uint64_t i, std::uint64_t j) const {
    auto const cols = to_int32(m_grid.cols_in(j), "a number of columns");
    return {{to_int32(m_grid.rows_in(i), "a number of rows"), cols, cols, TileLayout::RowMajor},
            m_data[i % m_rows * m_cols + j % m_cols]};
  }
  /// Tile columns [first, last) of the matrix, all of whose rows have accumulators.
  [[nodiscard]] TiledMatrix<T> columns(std::uint64_t first, std::uint64_t last) const {
    auto const end = std::min(m_grid.first(last), m_grid.cols);
    return {{m_grid.rows, end - m_grid.first(first), m_grid.tile},
            MatrixPart::All,
            TileLayout::RowMajor,
            [&](std::uint64_t i, std::uint64_t j) { return (*this)(i, first + j).data; }};
  }

 private:
  TileGrid m_grid;
  std::uint64_t m_rows;
  std::uint64_t m_cols;
  OwnedData m_data;
};

/// Σ_i |x_ij| of each column of a matrix, in double precision: temporary data of 8 bytes for each column.
template <class T>
class ColumnSums {
 public:
  ColumnSums(TaskEmitter& tasks, TileGrid const& grid)
      : m_tasks(tasks), m_grid(grid), m_sums(tasks.submitter()), m_started(grid.tile_cols()) {
    for (std::uint64_t j = 0; j < grid.tile_cols(); ++j) {
      m_sums.add({.name = "column sums " + std::to_string(j),
                  .bytes = grid.cols_in(j) * sizeof(double),
                  .origin = {},
                  .home = {}});
    }
  }

  /// Adds a tile of tile column j. If `stored` is a triangle, it is a Hermitian tile stored in that triangle.
  void add(std::uint64_t j, TileRef const& x, MatrixPart stored = MatrixPart::All);
  /// The same for X - Y.
  void add_difference(std::uint64_t j, TileRef const& x, TileRef const& y, MatrixPart stored = MatrixPart::All);
  /// The datum `result` := the largest sum.
  void largest(DataId result) { reduce(nullptr, result); }
  /// The datum `result` := the largest quotient of these sums and those, 0 if both are 0.
  void largest_quotient(ColumnSums const& divisors, DataId result) { reduce(&divisors, result); }
  /// The data `results`, one for each tile column, := the quotients.
  void quotients(ColumnSums const& divisors, std::vector<DataId> const& results);

 private:
  AccessMode mode(std::uint64_t j) {
    bool const started = m_started[j];
    m_started[j] = true;
    return started ? AccessMode::ReadWrite : AccessMode::Write;
  }
  void reduce(ColumnSums const* divisors, DataId result);

  TaskEmitter& m_tasks;
  TileGrid m_grid;
  OwnedData m_sums;
  std::vector<bool> m_started;  // whether the sums of that tile column have a value
};

/// Tiles first, first + 1, ... of a tile row or column.
struct TileRange {
  std::uint64_t first;
  std::uint64_t last;  ///< one past
};

/// Calls body(rows, cols) for blocks of that many tile rows and tile columns.
template <class Body>
void for_blocks(std::uint64_t tile_rows, std::uint64_t tile_cols, std::uint64_t rows, std::uint64_t cols, Body&& body) {
  for (std::uint64_t i = 0; i < tile_rows; i += rows) {
    for (std::uint64_t j = 0; j < tile_cols; j += cols) {
      body(TileRange{i, std::min(i + rows, tile_rows)}, TileRange{j, std::min(j + cols, tile_cols)});
    }
  }
}

/// Σ_k for a block of the product of two triangles, in the tiles for which `counts` is true. Starts with the last k, so
/// that each tile starts with its triangular product, and a step uses one tile column of L and one tile row of the
/// other factor.
template <class T, class Product, class Counts>
void accumulate(Product& product, Accumulators<T>& r, TileRange rows, TileRange cols, Counts&& counts) {
  for (auto k = std::min(rows.last, cols.last); k-- > 0;) {
    for (auto i = std::max(rows.first, k); i < rows.last; ++i) {
      for (auto j = std::max(cols.first, k); j < cols.last; ++j) {
        if (!counts(i, j)) continue;
        if (std::min(i, j) == k) {
          product.start(i, j, r(i, j));
        } else {
          product.add(i, j, k, r(i, j));
        }
      }
    }
  }
}

/// The sums for ‖A - R‖ and ‖A‖; R is a product that is available tile by tile.
template <class T>
struct DifferenceSums {
  ColumnSums<T> residual;
  ColumnSums<T> matrix;

  DifferenceSums(TaskEmitter& tasks, TileGrid const& grid) : residual(tasks, grid), matrix(tasks, grid) {}

  /// Adds a tile of tile column j of A - R and of A.
  void add(std::uint64_t j, TileRef const& a, TileRef const& r, MatrixPart stored = MatrixPart::All) {
    residual.add_difference(j, a, r, stored);
    matrix.add(j, a, stored);
  }
  void finish(ResidualData const& results) {
    residual.largest(results.residual);
    matrix.largest(results.norm);
  }
};

}  // namespace granary::detail
