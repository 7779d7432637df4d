// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/kokkos_core.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/runtime/api/data.hpp>

#include <cstdint>
#include <string>

namespace granary {

/// A tile of a FileMatrix as data of the application's tasks; FileMatrix::tile returns it. `read`, `write`,
/// `read_write` and `commute` accept it like a Data. The task's body gets a View of `rows` x `cols` elements in
/// LayoutRight, on every kind of worker. If the matrix is a triangle, elements of a diagonal tile outside it are
/// ignored. Submit tasks on it while the matrix lives.
///
/// ```cpp
/// struct AddToDiagonal {
///   static constexpr bool launches_kokkos_kernels = false;
///   double shift;
///   template <class Exec, class Tile>
///   void operator()(Exec const&, Tile tile) const {
///     for (std::size_t i = 0; i < tile.extent(0); ++i) tile(i, i) += shift;
///   }
/// };
/// granary::Runtime runtime;
/// auto const A = granary::open_matrix<double>(runtime, "hilbert:300", "", {.tile = 100});
/// for (unsigned k = 0; k < 3; ++k) runtime.submit("shift", AddToDiagonal{2.0}, read_write(A.tile(k, k)));
/// assert(granary::lange(runtime, granary::Norm::Max, A) == 3.0);
/// ```
template <class T>
class GRANARY_EXPORT MatrixTile {
 public:
  using View = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

  /// A tile of a row-major matrix in a file, whose tiles are data of that Runtime. Throws InvalidArgument, with the
  /// numbers, if the tile does not exist or has no element of the matrix' part.
  MatrixTile(detail::RuntimeId runtime, std::string const& name, detail::TiledMatrix<T> const& matrix, std::uint64_t i,
             std::uint64_t j)
      : m_runtime(runtime),
        m_tile(checked(name, matrix, i, j)),
        m_first_row(matrix.grid().first(i)),
        m_first_col(matrix.grid().first(j)) {}

  /// The matrix' row and column of the tile's first element.
  [[nodiscard]] std::uint64_t first_row() const { return m_first_row; }
  [[nodiscard]] std::uint64_t first_col() const { return m_first_col; }
  /// Fewer at the matrix' edges.
  [[nodiscard]] std::uint64_t rows() const { return static_cast<std::uint64_t>(m_tile.rows); }
  [[nodiscard]] std::uint64_t cols() const { return static_cast<std::uint64_t>(m_tile.cols); }
  [[nodiscard]] DataId id() const { return m_tile.data; }
  [[nodiscard]] detail::RuntimeId runtime_id() const { return m_runtime; }
  [[nodiscard]] detail::RowsShape shape() const { return {rows(), cols(), static_cast<std::size_t>(m_tile.ld)}; }

 private:
  static detail::TileRef checked(std::string const& name, detail::TiledMatrix<T> const& matrix, std::uint64_t i,
                                 std::uint64_t j) {
    auto const& grid = matrix.grid();
    if (i >= grid.tile_rows() || j >= grid.tile_cols()) {
      throw InvalidArgument("there is no tile " + detail::tile_name(name, i, j) + ": the matrix has " +
                            std::to_string(grid.tile_rows()) + " x " + std::to_string(grid.tile_cols()) +
                            " tiles, counted from 0");
    }
    if (!holds(matrix.part(), i, j)) {
      throw InvalidArgument("there is no tile " + detail::tile_name(name, i, j) + ": the matrix was opened as its " +
                            (matrix.part() == MatrixPart::Lower ? "lower" : "upper") + " triangle");
    }
    return matrix(i, j);
  }

  detail::RuntimeId m_runtime;
  detail::TileRef m_tile;
  std::uint64_t m_first_row;
  std::uint64_t m_first_col;
};

namespace detail {

/// How a task accesses a tile; see TaskAccess.
template <class T, AccessMode Mode>
struct GRANARY_EXPORT TileAccess {
  using ViewType = typename MatrixTile<T>::View;
  static constexpr AccessMode mode = Mode;
  DataId data;
  RuntimeId runtime;
  detail::RowsShape shape;

  explicit TileAccess(MatrixTile<T> const& tile) : data(tile.id()), runtime(tile.runtime_id()), shape(tile.shape()) {}
};

}  // namespace detail

/// Like for a Data: the task reads the tile, writes every element of it, or changes it, the last also in any order.
template <class T>
detail::TileAccess<T, detail::AccessMode::Read> read(MatrixTile<T> const& tile) {
  return detail::TileAccess<T, detail::AccessMode::Read>(tile);
}
template <class T>
detail::TileAccess<T, detail::AccessMode::Write> write(MatrixTile<T> const& tile) {
  return detail::TileAccess<T, detail::AccessMode::Write>(tile);
}
template <class T>
detail::TileAccess<T, detail::AccessMode::ReadWrite> read_write(MatrixTile<T> const& tile) {
  return detail::TileAccess<T, detail::AccessMode::ReadWrite>(tile);
}
template <class T>
detail::TileAccess<T, detail::AccessMode::Commute> commute(MatrixTile<T> const& tile) {
  return detail::TileAccess<T, detail::AccessMode::Commute>(tile);
}

}  // namespace granary
