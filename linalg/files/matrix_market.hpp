// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/files/copy_matrix.hpp>
#include <granary/detail/linalg/files/market_header.hpp>

namespace granary {

/// Writes the whole matrix, both triangles and with zeros for missing entries, into an output of its extents. Duplicate
/// entries are added. Holds as many tiles of the output as `memory` allows, and reads the text once for each such group
/// of tiles; only once for a general array of which a tile column fits. Does not commit. Throws InvalidArgument if a
/// single tile does not fit, or if the matrix is complex and the output is not; DataError with the line number if the
/// text is malformed.
GRANARY_EXPORT void read_matrix_market(MatrixMarketInfo const& info, detail::MatrixOutput& output, Bytes memory,
                                       detail::Between const& between = {});

/// Writes a matrix as an array of real or complex numbers, with the fewest digits that are read back exactly. Needs
/// memory for one tile column: market_memory(). Throws InvalidArgument if the file cannot be created or `memory` is
/// less.
GRANARY_EXPORT void write_matrix_market(detail::MatrixSource& source, std::string const& path, Bytes memory,
                                        detail::Between const& between = {});

/// Bytes of the tiles of one tile column.
[[nodiscard]] GRANARY_EXPORT Bytes market_memory(detail::TileGrid const& grid, ScalarType type);

}  // namespace granary
