// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/base/error.hpp>
#include <granary/linalg/view_form.hpp>

#include <algorithm>

namespace granary::detail {

ViewForm view_form(std::string const& name, TileGrid const& grid, std::int64_t row_stride, std::int64_t col_stride) {
  auto const view = "the View '" + name + "' of " + std::to_string(grid.rows) + " x " + std::to_string(grid.cols);
  if (grid.rows == 0 || grid.cols == 0) throw InvalidArgument(view + " is empty");
  if (grid.tile == 0) throw InvalidArgument("a tile size of 0 was asked for " + view + "; the least is 1");
  auto const strides = " has strides " + std::to_string(row_stride) + " and " + std::to_string(col_stride);
  // The stride of an extent of 1 says nothing.
  bool const one_row = grid.rows == 1;
  bool const one_col = grid.cols == 1;
  bool const column_major = one_row || (row_stride == 1 && (one_col || col_stride >= row_stride));
  bool const row_major = one_col || col_stride == 1;
  if (column_major && (one_row || row_stride == 1)) {
    auto const least = static_cast<std::int64_t>(grid.rows);
    auto const leading = one_col ? least : col_stride;
    if (leading >= least) return {Layout::ColumnMajor, static_cast<std::uint64_t>(leading)};
  }
  if (row_major) {
    auto const least = static_cast<std::int64_t>(grid.cols);
    auto const leading = one_row ? least : row_stride;
    if (leading >= least) return {Layout::RowMajor, static_cast<std::uint64_t>(leading)};
  }
  bool const contiguous = row_stride == 1 || col_stride == 1;
  throw InvalidArgument(view + strides + (contiguous ? ": its elements overlap" : ": one of them must be 1"));
}

}  // namespace granary::detail
