// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/strided_shape.hpp>
#include <granary/detail/linalg/data/tile_grid.hpp>

#include <cstdint>
#include <string>

namespace granary::detail {

/// The layout of a View of grid.rows x grid.cols elements with these strides, in elements; the stride of an extent of 1
/// is ignored. Throws InvalidArgument, with the View, its extents and its strides, if it is empty, no stride is 1, a
/// stride is negative, elements overlap, the tile size is 0, or the tile size or the larger stride is 2^31 or more,
/// since BLAS counts in 32 bits.
[[nodiscard]] GRANARY_EXPORT MatrixShape view_form(std::string const& name, TileGrid const& grid,
                                                   std::int64_t row_stride, std::int64_t col_stride);

}  // namespace granary::detail
