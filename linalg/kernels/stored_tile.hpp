// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/kernels/kernel_choice.hpp>
#include <granary/detail/linalg/kernels/tile_view.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

/// The memory of tiles of any layout, as BLAS sees it.
namespace granary::kernels {

template <class T>
[[nodiscard]] bool row_major(detail::TileView<T> const& tile) {
  return tile.layout == detail::TileLayout::RowMajor;
}

/// A part of a tile, in its memory.
template <class T>
[[nodiscard]] detail::TileView<T> sub(detail::TileView<T> const& a, int row, int col, int rows, int cols) {
  auto const offset =
      row_major(a) ? static_cast<std::ptrdiff_t>(row) * a.ld + col : row + static_cast<std::ptrdiff_t>(col) * a.ld;
  return {a.data + offset, rows, cols, a.ld, a.layout};
}

[[nodiscard]] inline std::string extents(int rows, int cols) {
  return std::to_string(rows) + "x" + std::to_string(cols);
}

/// The memory of a tile as a column-major matrix: the tile, or its transpose if the tile is row-major.
template <class T>
[[nodiscard]] Block<T> stored(char const* kernel, detail::TileView<T> const& tile) {
  bool const by_rows = row_major(tile);
  Block<T> const block{tile.data, by_rows ? tile.cols : tile.rows, by_rows ? tile.rows : tile.cols, tile.ld};
  if (tile.rows < 0 || tile.cols < 0 || tile.ld < block.rows || tile.ld < 1) {
    throw InvalidArgument(std::string(kernel) + ": a " + extents(tile.rows, tile.cols) +
                          (by_rows ? " row-major" : " column-major") + " tile cannot have leading dimension " +
                          std::to_string(tile.ld));
  }
  return block;
}

inline void require(bool fits, char const* kernel, std::string const& operands) {
  if (!fits) throw InvalidArgument(std::string(kernel) + ": the sizes of " + operands + " do not match");
}

/// The operation on the memory of a tile, seen as a column-major matrix, that gives op(tile): a BLAS flag, and a
/// conjugation before it if needed; no BLAS flag conjugates without transposing.
struct StoredOp {
  Op op = Op::NoTrans;
  bool conjugated = false;
};

/// The transpose of op(X), as an operation on X.
[[nodiscard]] constexpr StoredOp transposed(StoredOp op, bool complex) {
  if (op.op == Op::NoTrans) return op.conjugated ? StoredOp{Op::ConjTrans} : StoredOp{Op::Trans};
  return {Op::NoTrans, op.op == Op::ConjTrans && complex};
}

/// op(tile) in terms of the column-major matrix in the tile's memory.
template <class T>
[[nodiscard]] StoredOp stored_op(Op op, detail::TileView<T> const& tile) {
  if (!row_major(tile)) return {op};
  // The memory holds X^T: X is its transpose, X^T itself, X^H its conjugate.
  if (op == Op::NoTrans) return {Op::Trans};
  return {Op::NoTrans, op == Op::ConjTrans && detail::is_complex<std::remove_const_t<T>>};
}

/// conj(X), column by column.
template <class T>
[[nodiscard]] std::vector<T> conjugated_copy(Block<T const> x) {
  std::vector<T> copy;
  copy.reserve(static_cast<std::size_t>(x.rows) * static_cast<std::size_t>(x.cols));
  for (int j = 0; j < x.cols; ++j) {
    T const* const column = x.sub(0, j, x.rows, 1).data;
    for (int i = 0; i < x.rows; ++i) copy.push_back(detail::conjugate(column[i]));
  }
  return copy;
}

/// X := conj(X), all of it or one triangle with the diagonal.
template <class T>
void conjugate_in_place(Block<T> x) {
  for (int j = 0; j < x.cols; ++j) {
    T* const column = x.sub(0, j, x.rows, 1).data;
    for (int i = 0; i < x.rows; ++i) column[i] = detail::conjugate(column[i]);
  }
}
template <class T>
void conjugate_in_place(Uplo uplo, Block<T> x) {
  for (int j = 0; j < x.cols; ++j) {
    conjugate_in_place(uplo == Uplo::Lower ? x.sub(j, j, x.rows - j, 1) : x.sub(0, j, j + 1, 1));
  }
}

}  // namespace granary::kernels
