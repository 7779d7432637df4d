// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>
#include <granary/linalg/tile_grid.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "apps/common/dry_run.hpp"
#include "apps/common/matrix_input.hpp"

namespace granary::app {

/// The order of tiles for this matrix under a memory limit: as asked for, or else the order of the input's chunks if
/// these are square and of 128 to 1024 rows, or else 512; one that was not asked for is halved, down to 32, while fewer
/// than 48 tiles fit. Tiles are never larger than the matrix.
[[nodiscard]] std::uint64_t choose_tile(MatrixInput const& input, std::optional<std::uint64_t> asked, Bytes memory);

/// A sentence for whoever chose tiles so large that there are fewer than two for each CPU worker, with a size that
/// gives enough; nothing for matrices of an order below 1024, and where tiles of 128 would not help.
[[nodiscard]] std::optional<std::string> doubt_tiles(TileGrid const& grid, MatrixPart part, unsigned workers);

/// Throws MemoryLimitError, naming the least limits, when there is no worker on whose memory the largest task fits.
void require_memory(RuntimeOptions const& runtime, MemoryNeed const& need, TileGrid const& grid, ScalarType type);

}  // namespace granary::app
