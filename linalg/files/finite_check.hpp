// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <vector>

#include <granary/detail/linalg/data/tile_grid.hpp>
#include <granary/detail/linalg/files/scalar_type.hpp>

namespace granary::detail {

/// Searches the elements of a row-major tile that belong to `part` of the matrix for NaN and infinity. Returns null if
/// all are finite, otherwise a DataError `<name> holds NaN at (i, j)` with the indices in the matrix, counted from 0,
/// and the column's name if there are `columns`. One pass over the tile at about memory bandwidth.
[[nodiscard]] std::exception_ptr check_finite(TileGrid const& tiling, std::uint64_t slot, std::byte const* values,
                                              ScalarType type, MatrixPart part, std::string const& name,
                                              std::vector<std::string> const& columns = {});

}  // namespace granary::detail
