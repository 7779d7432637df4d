// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/data/narrow.hpp>
#include <granary/detail/linalg/runtime/view_form.hpp>

#include <algorithm>

namespace granary::detail {

MatrixShape view_form(std::string const& name, TileGrid const& grid, std::int64_t row_stride, std::int64_t col_stride) {
  auto const view = "the View '" + name + "' of " + std::to_string(grid.rows) + " x " + std::to_string(grid.cols);
  if (grid.rows == 0 || grid.cols == 0) throw InvalidArgument(view + " is empty");
  if (grid.tile == 0) throw InvalidArgument("the tile size of " + view + " must be at least 1, not 0");
  if (std::min(grid.tile, std::max(grid.rows, grid.cols)) > std::uint64_t{largest_int32}) {
    throw InvalidArgument("the tile size of " + view + " must be at most " + std::to_string(largest_int32) + ", not " +
                          std::to_string(grid.tile));
  }
  auto const strides = view + " has strides " + std::to_string(row_stride) + " and " + std::to_string(col_stride);
  auto const rows = static_cast<std::int64_t>(grid.rows);
  auto const cols = static_cast<std::int64_t>(grid.cols);
  // The stride of an extent of 1 has no meaning: a fitting one is chosen.
  if (rows == 1) row_stride = col_stride == 1 ? std::min<std::int64_t>(cols, largest_int32) : 1;
  if (cols == 1) col_stride = row_stride == 1 ? std::min<std::int64_t>(rows, largest_int32) : 1;
  if (row_stride < 0 || col_stride < 0) throw InvalidArgument(strides + ": none may be negative");
  auto const of = [&](std::int64_t ld, TileLayout layout) {
    if (ld > largest_int32) {
      throw InvalidArgument(strides + ": the kernels count up to " + std::to_string(largest_int32) +
                            "; copy the matrix to a View without such gaps");
    }
    return MatrixShape{grid.rows, grid.cols, static_cast<std::uint64_t>(ld), layout};
  };
  if (row_stride == 1 && (col_stride >= rows || cols == 1)) return of(col_stride, TileLayout::ColumnMajor);
  if (col_stride == 1 && (row_stride >= cols || rows == 1)) return of(row_stride, TileLayout::RowMajor);
  bool const contiguous = row_stride == 1 || col_stride == 1;
  throw InvalidArgument(strides + (contiguous ? ": its elements overlap" : ": one of them must be 1"));
}

}  // namespace granary::detail
