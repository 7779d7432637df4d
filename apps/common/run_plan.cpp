// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/run_plan.hpp"

#include <granary/core/base/error.hpp>
#include <granary/outofcore/storage.hpp>
#include <granary/runtime/machine.hpp>
#include <granary/runtime/warnings.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "apps/common/session.hpp"

namespace granary::app {
namespace {

constexpr std::uint64_t usual_tile = 512;
constexpr std::uint64_t smallest_usual_tile = 32;
constexpr std::uint64_t tiles_wanted_in_memory = 32;

std::uint64_t default_tile(MatrixInput const& input, Bytes memory) {
  auto tile = usual_tile;
  if (input.file && input.file->chunk_rows == input.file->chunk_cols && input.file->chunk_rows >= 128 &&
      input.file->chunk_rows <= 1024) {
    tile = input.file->chunk_rows;
  }
  auto const bytes = [&] {
    return round_up(TileGrid{input.rows, input.cols, tile}.largest_tile() * size_of(input.type), io_alignment);
  };
  while (tile > smallest_usual_tile && bytes() * tiles_wanted_in_memory > memory) tile /= 2;
  return tile;
}

}  // namespace

RunPlan make_run_plan(RunOptions const& options, std::vector<MatrixInput> const& inputs, MatrixPart part,
                      std::string const& dataset) {
  auto const& a = inputs.front();
  auto const runtime = check_options(options, inputs, dataset);
  auto const tile = options.tile ? *options.tile : default_tile(a, task_memory(runtime));
  return {.a = a,
          .part = part,
          .runtime = runtime,
          .grid = {a.rows, a.cols, std::min(std::max(a.rows, a.cols), tile)},
          .check = options.check};
}

void require_memory(RunPlan const& plan, MemoryNeed const& need) {
  auto const& runtime = plan.runtime;
  auto const refuse = [&](std::string const& what, Bytes limit, Bytes least, std::string const& option) {
    throw MemoryLimitError(fmt::format(
        "a {} limit of {} bytes is too small for tiles of {} x {} {} elements: the minimum is {} bytes ({} {}){}", what,
        limit, plan.grid.rows_in(0), plan.grid.cols_in(0), name_of(plan.a.type), least, option, least,
        limit < 1000 ? "; was a unit forgotten?" : ""));
  };
  auto const device = device_capacity(runtime);
  // Data of devices pass through host memory, in addition to the data of tasks there.
  Bytes const passing = device > 0 ? need.datum : 0;
  Bytes const host = (*runtime.workers > 0 && device < need.device ? need.host : passing) + passing;
  if (device < need.device && *runtime.workers == 0) {
    Bytes const workspace = (runtime.device_memory - device) / device_alignment * device_alignment;
    refuse("device memory", runtime.device_memory, need.device + workspace, "--device-memory");
  }
  if (runtime.host_memory < host) refuse("memory", runtime.host_memory, host, "--memory");
}

void warn_of_few_tiles(RunPlan const& plan) {
  auto const& grid = plan.grid;
  auto const workers = *plan.runtime.workers;
  constexpr std::uint64_t least_order = 1024;
  constexpr std::uint64_t least_tile = 128;
  auto const tiles_of = [&](std::uint64_t tile) {
    TileGrid const cut{grid.rows, grid.cols, tile};
    auto const rows = cut.tile_rows();
    return plan.part == MatrixPart::All ? rows * cut.tile_cols() : rows * (rows + 1) / 2;
  };
  auto const wanted = std::uint64_t{2} * workers;
  auto const tiles = tiles_of(grid.tile);
  if (workers < 2 || tiles >= wanted || std::max(grid.rows, grid.cols) < least_order) return;
  auto smaller = grid.tile;
  while (smaller > least_tile && tiles_of(smaller) < wanted) smaller = std::max(least_tile, smaller / 64 * 32);
  if (tiles_of(smaller) < wanted) return;
  warn_once(fmt::format("{} tiles of size {} leave some of {} workers idle: use smaller tiles (--tile {})", tiles,
                        grid.tile, workers, smaller));
}

}  // namespace granary::app
