// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/owned_data.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/tall_qr.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

/// The triangle R of tall matrices, without Q: every row is read once (TSQR; see kernels/fold_rows.hpp). T is float,
/// double, Kokkos::complex<float> or Kokkos::complex<double>.
namespace granary::detail {

/// Columns of the matrix that is factored, chosen from those of one or more matrices side by side, counted through.
struct GRANARY_EXPORT ColumnChoice {
  static constexpr std::uint64_t ones = ~std::uint64_t{0};  ///< a column of ones
  std::vector<std::uint64_t> columns;
  /// Rows are multiplied by the roots of that column's values, which are not negative.
  std::optional<std::uint64_t> weights = {};
};

/// All columns of matrices with so many.
[[nodiscard]] GRANARY_EXPORT ColumnChoice all_columns(std::uint64_t number);

/// Chains of rows that are folded beside each other, for m rows and n columns in blocks of `block` bytes: at most 64
/// and m / (4 n), whose triangles then cost at most a twelfth of the flops to join, and as many as fit in a quarter of
/// `memory`; one if a block takes more than the rest of it.
[[nodiscard]] GRANARY_EXPORT std::uint64_t tall_qr_chains(std::uint64_t rows, std::uint64_t cols, Bytes element,
                                                          Bytes block, Bytes memory);

/// How tasks make the rows that are factored of a row of tiles of such matrices; see tiles/tall_qr.hpp.
[[nodiscard]] GRANARY_EXPORT std::shared_ptr<tiles::RowForm const> form_of(std::span<TileGrid const> grids,
                                                                           ColumnChoice const& choice);

/// The tasks of R := the triangle of rows that are folded into it, block after block. R is a column-major square tile
/// without a value before; below its diagonal it is zero or holds other numbers. Block i goes to chain i mod C, and the
/// chains' triangles are joined in log2 C rounds: the bits of R depend on the blocks and on C, not on the workers.
template <class T>
class GRANARY_EXPORT TallQr {
 public:
  TallQr(TaskEmitter& tasks, std::shared_ptr<tiles::RowForm const> form, TileRef const& r, std::uint64_t chains);

  /// Folds a row of tiles, of which tasks read those with chosen columns; the first of its rows has the number `first`.
  void fold(std::span<TileRef const> row, std::uint64_t first);
  /// After the last block; there was at least one.
  void join();

 private:
  TaskEmitter& m_tasks;
  std::shared_ptr<tiles::RowForm const> m_form;
  OwnedData m_triangles;
  std::vector<TileRef> m_chains;
  std::uint64_t m_blocks = 0;
};

/// Emits the tasks of R := the triangle of all columns of `matrices` side by side, which have the same rows and tile
/// size. 2 m n² flops.
template <class T>
GRANARY_EXPORT void submit_tall_qr(TaskEmitter& tasks, std::span<TiledMatrix<T> const> matrices, TileRef const& r,
                                   Bytes memory);

}  // namespace granary::detail
