// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/block_reflector.hpp>
#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>
#include <granary/detail/linalg/kernels/qr_panel.hpp>
#include <granary/detail/linalg/kernels/stored_tile.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>

namespace granary::kernels {

/// The part of a tile that has the vectors of its factorization.
enum class QrForm {
  Whole,    ///< geqrt: below the diagonal; the ones on it are not stored, since R is in the same tile
  Stacked,  ///< tsqrt: the whole tile, with an identity above it
  Stairs,   ///< ttqrt: the upper triangle or trapezoid, with an identity above it
};

/// Throws InvalidArgument if op is the transpose of a complex Q.
template <class T>
void require_op(char const* kernel, Op op) {
  if (!detail::is_complex<T> || op != Op::Trans) return;
  throw InvalidArgument(std::string(kernel) + ": the transpose of a complex Q cannot be applied, only Q and Q^H");
}

/// The number of reflectors of a rows x cols tile.
[[nodiscard]] constexpr int reflectors_in(QrForm form, int rows, int cols) {
  return form == QrForm::Whole ? std::min(rows, cols) : cols;
}

/// Rows [first, first + count) of C, or columns if Q is on the right.
template <class T>
[[nodiscard]] detail::TileView<T> lines_of(Side side, detail::TileView<T> const& c, int first, int count) {
  return side == Side::Left ? sub(c, first, 0, count, c.cols) : sub(c, 0, first, c.rows, count);
}

template <class T>
[[nodiscard]] detail::TileView<T> tile_of(Block<T> const& block) {
  return {block.data, block.rows, block.cols, block.ld, detail::TileLayout::ColumnMajor};
}

/// Calls function(first, order) for the blocks of at most `ib` of `count` columns, in order or from the last one on.
template <class Function>
void for_inner_blocks(int count, int ib, bool forwards, Function const& function) {
  int const blocks = (count + ib - 1) / ib;
  for (int b = 0; b < blocks; ++b) {
    int const first = (forwards ? b : blocks - 1 - b) * ib;
    function(first, std::min(ib, count - first));
  }
}

/// Columns [first, first + order) of a tile of that form: copies them to a panel and back, and finds the rows of V that
/// a BlockReflector needs.
template <class T>
struct QrBlock {
  using Value = std::remove_const_t<T>;
  QrForm form;
  detail::TileView<T> tile;
  int first, order;

  [[nodiscard]] PanelShape shape() const {
    if (form == QrForm::Whole) return {tile.rows - first, order, false, tile.rows - first};
    if (form == QrForm::Stacked) return {tile.rows, order, true, tile.rows};
    return {rows_above() + rows_of_stairs(), order, true, rows_above()};
  }

  /// Fills a panel with these columns. Unless they are Whole, the panel also gets the triangle in `r`.
  void load(QrPanel<Value> const& panel, detail::TileView<Value> const& r) const {
    auto const vectors = tile_of(panel.vectors());
    if (form == QrForm::Stairs) set(MatrixPart::All, Value(0), Value(0), vectors);
    for_pieces([&](MatrixPart part, detail::TileView<T> const& piece, int row) {
      copy<Value, Value>(part, false, piece, sub(vectors, row, 0, piece.rows, order));
    });
    if (form != QrForm::Whole) copy<Value, Value>(MatrixPart::Upper, false, r, tile_of(panel.upper()));
  }
  /// Stores the panel's vectors, and its triangle R in `r`.
  void store(QrPanel<Value> const& panel, detail::TileView<Value> const& r) const {
    auto const vectors = tile_of(panel.vectors());
    for_pieces([&](MatrixPart part, detail::TileView<T> const& piece, int row) {
      copy<Value, Value>(part, false, sub(vectors, row, 0, piece.rows, order), piece);
    });
    copy<Value, Value>(MatrixPart::Upper, false, tile_of(panel.upper()), r);
  }

  /// The rows of V and C for a BlockReflector. `beside_identity` has the rows of C beside the identity. `memory` has
  /// room for order² entries.
  [[nodiscard]] ReflectorRows<Value> rows(Side side, detail::TileView<Value> const& beside_identity,
                                          detail::TileView<Value> const& c, Value* memory) const {
    ReflectorRows<Value> found;
    if (form == QrForm::Whole) {
      found.uplo = Uplo::Lower;
      found.triangle = sub(tile, first, first, order, order);
      found.beside_triangle = lines_of(side, c, first, order);
    } else {
      found.beside_identity = beside_identity;
    }
    if (form == QrForm::Stairs && rows_of_stairs() > 0) {
      found.triangle = stairs(memory);
      found.beside_triangle = lines_of(side, c, rows_above(), rows_of_stairs());
    }
    int const above = form == QrForm::Whole ? first + order : 0;
    int const count = form == QrForm::Stairs ? rows_above() : tile.rows - above;
    if (count > 0)
      found.rectangles.emplace_back(sub(tile, above, first, count, order), lines_of(side, c, above, count));
    return found;
  }

 private:
  // Rows of Stairs: those above the block on the diagonal, and those of that block.
  [[nodiscard]] int rows_above() const { return std::min(first, tile.rows); }
  [[nodiscard]] int rows_of_stairs() const { return std::min(order, tile.rows - rows_above()); }

  // Calls function(part, piece, row in the panel) for the pieces of the tile with these columns.
  template <class Function>
  void for_pieces(Function const& function) const {
    if (form != QrForm::Stairs) {
      int const above = form == QrForm::Whole ? first : 0;
      return function(MatrixPart::All, sub(tile, above, first, tile.rows - above, order), 0);
    }
    function(MatrixPart::All, sub(tile, 0, first, rows_above(), order), 0);
    function(MatrixPart::Upper, sub(tile, rows_above(), first, rows_of_stairs(), order), rows_above());
  }

  // The block on the diagonal, or, if it has fewer rows than columns, a copy of it with rows of zeros.
  [[nodiscard]] detail::TileView<Value const> stairs(Value* memory) const {
    auto const part = sub(tile, rows_above(), first, rows_of_stairs(), order);
    if (part.rows == order) return part;
    detail::TileView<Value> const copied{memory, order, order, order, tile.layout};
    set(MatrixPart::All, Value(0), Value(0), copied);
    copy<Value, Value>(MatrixPart::Upper, false, part, sub(copied, 0, 0, part.rows, order));
    return copied;
  }
};

}  // namespace granary::kernels
