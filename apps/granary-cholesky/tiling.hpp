// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>
#include <granary/linalg/tile_grid.hpp>

#include <cstdint>
#include <optional>

#include "matrix_input.hpp"

namespace granary::app {

/// The least memory limit under which a matrix of this grid can be factored, and checked if `check`: the tiles of its
/// largest task.
[[nodiscard]] Bytes minimum_memory(TileGrid const& grid, ScalarType type, bool check);

/// The grid to use under this memory limit: tiles as asked for, or else of the order of the input's chunks if these are
/// square and of 128 to 1024 rows, or else 512; those that were not asked for are halved, down to 32, while fewer than
/// 48 tiles fit. Tiles are never larger than the matrix. Throws MemoryLimitError, naming the least limit, when tiles
/// are too large.
[[nodiscard]] TileGrid choose_grid(MatrixInput const& input, std::optional<std::uint64_t> tile, Bytes memory,
                                   bool check);

}  // namespace granary::app
