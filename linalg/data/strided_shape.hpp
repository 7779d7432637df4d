// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/byte_lines.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/blas_enums.hpp>

#include <cstdint>

namespace granary::detail {

/// A strided rectangle of elements, in memory or in a file: its columns (column-major) or rows (row-major) are lines of
/// contiguous elements, which start `ld` elements apart.
template <class Index>
struct GRANARY_EXPORT StridedShape {
  Index rows = 0;
  Index cols = 0;
  Index ld = 1;
  TileLayout layout = TileLayout::RowMajor;

  /// Elements of a line.
  [[nodiscard]] constexpr Index line() const { return layout == TileLayout::ColumnMajor ? rows : cols; }
  [[nodiscard]] constexpr Index lines() const { return layout == TileLayout::ColumnMajor ? cols : rows; }
  /// Elements from the first one to (row, col).
  [[nodiscard]] constexpr std::uint64_t offset(std::uint64_t row, std::uint64_t col) const {
    auto const step = static_cast<std::uint64_t>(ld);
    return layout == TileLayout::ColumnMajor ? row + col * step : row * step + col;
  }
  /// A part of so many rows and columns, anywhere in the rectangle.
  [[nodiscard]] constexpr StridedShape part(Index part_rows, Index part_cols) const {
    return {part_rows, part_cols, ld, layout};
  }
  /// The same elements as the transpose.
  [[nodiscard]] constexpr StridedShape transposed() const {
    return {cols, rows, ld, layout == TileLayout::RowMajor ? TileLayout::ColumnMajor : TileLayout::RowMajor};
  }
  /// The bytes of the elements, of `element` bytes each.
  [[nodiscard]] constexpr ByteLines bytes(Bytes element) const {
    return {.line = static_cast<Bytes>(line()) * element,
            .count = static_cast<std::uint64_t>(lines()),
            .pitch = static_cast<Bytes>(ld) * element};
  }
  bool operator==(StridedShape const&) const = default;
};

/// A matrix in memory or in a file.
using MatrixShape = StridedShape<std::uint64_t>;
/// A tile; small, for the parameters of tasks.
using TileShape = StridedShape<std::int32_t>;

}  // namespace granary::detail
