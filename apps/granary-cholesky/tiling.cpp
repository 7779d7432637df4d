// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tiling.hpp"

#include <granary/core/base/error.hpp>
#include <granary/outofcore/storage.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace granary::app {
namespace {

constexpr std::uint64_t usual_tile = 512;
constexpr std::uint64_t smallest_usual_tile = 32;
constexpr std::uint64_t tiles_wanted_in_memory = 48;

Bytes tile_bytes(std::uint64_t tile, ScalarType type) { return round_up(tile * tile * size_of(type), io_alignment); }

std::uint64_t default_tile(MatrixInput const& input, Bytes memory) {
  auto tile = usual_tile;
  if (input.file && input.file->chunk_rows == input.file->chunk_cols && input.file->chunk_rows >= 128 &&
      input.file->chunk_rows <= 1024) {
    tile = input.file->chunk_rows;
  }
  while (tile > smallest_usual_tile && tile_bytes(tile, input.type) * tiles_wanted_in_memory > memory) tile /= 2;
  return tile;
}

}  // namespace

Bytes minimum_memory(TileGrid const& grid, ScalarType type, bool check) {
  // GEMM has three tiles, TRSM and SYRK have two; the check's products have a tile of the residual and one or two of L.
  auto const tiles = std::min<std::uint64_t>(3, grid.tile_rows() + (check ? 1 : 0));
  return tiles * tile_bytes(grid.tile, type);
}

TileGrid choose_grid(MatrixInput const& input, std::optional<std::uint64_t> tile, Bytes memory, bool check) {
  auto const grid = square_grid(input.n, std::min(input.n, tile.value_or(default_tile(input, memory))));
  Bytes const least = minimum_memory(grid, input.type, check);
  if (memory < least) {
    throw MemoryLimitError(fmt::format(
        "a memory limit of {} bytes is too small for tiles of {} x {} {} elements: the least is {} bytes (--memory {})",
        memory, grid.tile, grid.tile, name_of(input.type), least, least));
  }
  return grid;
}

}  // namespace granary::app
