// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>
#include <granary/linalg/data/tile_grid.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "apps/common/dry_run.hpp"
#include "apps/common/matrix_input.hpp"

namespace granary::app {

/// The tile size for this matrix under a memory limit: `asked`; else the chunk size of the input, if its chunks are
/// square with 128 to 1024 rows; else 512. A size that was not asked for is halved, down to 32, while fewer than 48
/// tiles fit. Tiles are never larger than the matrix.
[[nodiscard]] std::uint64_t choose_tile(MatrixInput const& input, std::optional<std::uint64_t> asked, Bytes memory);

/// A warning if there are fewer than two tiles per CPU worker, with a sufficient tile size. None for matrices of an
/// order below 1024, or if tiles of 128 are still too large.
[[nodiscard]] std::optional<std::string> doubt_tiles(TileGrid const& grid, MatrixPart part, unsigned workers);

/// Throws MemoryLimitError, with the minimum limits, if the largest task fits no worker's memory.
void require_memory(RuntimeOptions const& runtime, MemoryNeed const& need, TileGrid const& grid, ScalarType type);

}  // namespace granary::app
