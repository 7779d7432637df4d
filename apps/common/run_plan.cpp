// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/run_plan.hpp"

#include <granary/detail/core/backends/discover.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/partial_file.hpp>
#include <granary/detail/linalg/algorithms/lu.hpp>
#include <granary/detail/linalg/runtime/tile_choice.hpp>
#include <granary/detail/outofcore/storage.hpp>
#include <granary/detail/runtime/setup/configure.hpp>
#include <granary/detail/runtime/setup/devices.hpp>
#include <granary/detail/runtime/setup/machine_cache.hpp>
#include <granary/detail/runtime/setup/warnings.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <sstream>

#include "apps/common/check_options.hpp"
#include "apps/common/processes.hpp"
#include "apps/common/room.hpp"

namespace granary::app {

using namespace detail;

namespace {

constexpr std::uint64_t usual_tile = 512;
constexpr std::uint64_t smallest_usual_tile = 32;
constexpr std::uint64_t usual_tile_step = 16;  // kernels work on so many rows or columns, or on a part of them
// Smaller tiles of LU with pivoting cost more in their kernels than fewer bytes save.
constexpr std::uint64_t smallest_tile_for_columns = 256;
constexpr std::uint64_t tiles_wanted_in_memory = 32;
// Of a size that computes faster than others.
constexpr std::uint64_t tiles_enough_in_memory = 24;

// Smaller matrices are factored in less than ten times the time that measuring takes.
constexpr std::uint64_t order_worth_measuring = 8192;
// Of a tile, at most: in the planner, in the policies, and of its place in the scratch file.
constexpr Bytes bytes_of_record = 768;
// Of 21,845 tiles: usual runs have the whole limit for values.
constexpr Bytes records_beside_limit = 16_MiB;
// Measuring takes about as much memory.
constexpr Bytes memory_for_measuring = 64_MiB;

// The most bytes of a tile in memory.
Bytes tile_bytes(MatrixInput const& input, std::uint64_t tile) {
  return round_up(TileGrid{input.rows, input.cols, tile}.largest_tile() * size_of(input.type), io_alignment);
}

bool fits(MatrixInput const& input, std::uint64_t tile, std::uint64_t tiles, Bytes memory) {
  return tile_bytes(input, tile) * tiles <= memory;
}

std::optional<std::uint64_t> tile_of_chunks(MatrixInput const& input) {
  if (!input.file || input.file->chunk_rows != input.file->chunk_cols || input.file->chunk_rows < 128 ||
      input.file->chunk_rows > 1024)
    return {};
  return input.file->chunk_rows;
}

// Parts of a chunk are read alike, so that it is cut into equal ones.
std::uint64_t halved_to_fit(MatrixInput const& input, std::uint64_t tile, Bytes memory) {
  while (tile > smallest_usual_tile && !fits(input, tile, tiles_wanted_in_memory, memory)) tile /= 2;
  return tile;
}

// A little less memory makes tiles a little smaller.
std::uint64_t usual_tile_in(MatrixInput const& input, Bytes memory) {
  auto tile = usual_tile;
  while (tile > smallest_usual_tile && !fits(input, tile, tiles_wanted_in_memory, memory)) tile -= usual_tile_step;
  return tile;
}

std::vector<KernelSpeeds> speeds_of_tiles(MatrixInput const& input, RuntimeOptions const& runtime) {
  if (runtime.models == models_off) return {};
  bool const measure = runtime.measure_links && std::min(input.rows, input.cols) >= order_worth_measuring &&
                       runtime.host_memory >= memory_for_measuring;
  return tile_speeds(models_file(runtime.models, identify_machine().id()), input.type, measure);
}

// While panels keep cores waiting, several of them share the update of one tile.
std::int32_t inner_tile_of_updates(std::uint64_t tile, unsigned workers) {
  constexpr std::uint64_t smallest = 256;
  auto const in_a_row = static_cast<std::uint64_t>(std::ceil(std::sqrt(2.0 * workers)));
  auto const inner = std::max(smallest, tile / in_a_row);
  return workers > 1 && 2 * inner <= tile ? static_cast<std::int32_t>(inner) : 0;
}

// LU with pivoting loads L once for each block of tile columns, which this memory should hold two of.
std::uint64_t tile_for_columns(MatrixInput const& input, std::uint64_t largest, Bytes memory) {
  std::uint64_t with_panels = 0;
  for (auto tile = largest; tile >= smallest_tile_for_columns; tile -= usual_tile_step) {
    TileGrid const grid{input.rows, input.cols, tile};
    auto const fitted = fit_panels({.leaf_tiles = 1}, grid, size_of(input.type), memory);
    bool const in_memory = fitted.order == FactorOrder::RightLooking;
    if (fitted.leaf_tiles < grid.tile_rows()) continue;
    if (in_memory || fitted.columns >= std::min<std::uint64_t>(2, grid.tile_cols())) return tile;
    if (with_panels == 0) with_panels = tile;
  }
  return with_panels != 0 ? with_panels : largest;
}

struct PlannedTile {
  std::uint64_t size;
  std::int32_t inner;
  std::string chosen_by;
};

TileRange only(std::int32_t tile) {
  auto const size = static_cast<std::uint64_t>(tile);
  return {size, size};
}

PlannedTile plan_tile(RunOptions const& options, MatrixInput const& input, RuntimeOptions const& runtime,
                      TileKernels kernels) {
  auto const memory = task_memory(runtime);
  auto const chunks = tile_of_chunks(input);
  PlannedTile tile = options.tile ? PlannedTile{*options.tile, 0, "option"}
                     : chunks     ? PlannedTile{halved_to_fit(input, *chunks, memory), 0, "chunks"}
                                  : PlannedTile{usual_tile_in(input, memory), 0, "memory"};
  auto const order = std::max(input.rows, input.cols);
  bool const given = options.tile || chunks;
  bool const cores_alone = device_capacity(runtime) == 0;
  bool const pivoted = kernels == TileKernels::PivotedLu && cores_alone;
  if (pivoted && !given) tile.size = tile_for_columns(input, tile.size, memory);
  tile.size = std::min(tile.size, order);
  if (pivoted) tile.inner = inner_tile_of_updates(tile.size, *runtime.workers);
  // A task of LU that runs as a finer graph does not measure the growth; a separate one would load the tile again.
  bool const whole = kernels == TileKernels::LuWithoutPivoting;
  bool const undecided = !given || !(options.inner_tile || whole);
  if ((kernels == TileKernels::Cholesky || whole) && cores_alone && undecided) {
    auto speeds = speeds_of_tiles(input, runtime);
    std::erase_if(speeds, [&](KernelSpeeds const& of) {
      return !options.tile && !fits(input, static_cast<std::uint64_t>(of.tile), tiles_enough_in_memory, memory);
    });
    TileRange const sizes = {.least = given ? tile.size : 1, .most = given ? tile.size : order};
    auto const inner_sizes = options.inner_tile ? only(*options.inner_tile) : whole ? only(0) : TileRange{};
    auto const fastest = fastest_tile(speeds, std::min(input.rows, input.cols), *runtime.workers, sizes, inner_sizes);
    if (fastest.tile != 0) tile = {fastest.tile, fastest.inner_tile, given ? tile.chosen_by : "speeds"};
  }
  if (options.inner_tile) tile.inner = *options.inner_tile;
  // Tiles that are chunks of the input are read where they are.
  bool const as_stored = input.file && input.file->chunk_rows == tile.size && input.file->chunk_cols == tile.size;
  if (!as_stored) tile.size = even_tile(std::min(input.rows, input.cols), tile.size);
  return tile;
}

// The part of the memory limit that the records of so many tiles take.
Bytes counted_records(TileGrid const& grid, MatrixPart part) {
  Bytes const all = round_up(bytes_of_record * count_tiles(grid, part), io_alignment);
  return all - std::min(all, records_beside_limit);
}

void count_records(RunPlan& plan) {
  auto const& grid = plan.grid;
  auto& limit = plan.runtime.host_memory;
  plan.records = counted_records(grid, plan.part);
  if (plan.records > limit / 2) {
    auto larger = grid.tile;
    while (counted_records({grid.rows, grid.cols, larger}, plan.part) > limit / 2) larger += (larger + 63) / 64;
    throw MemoryLimitError(fmt::format(
        "{} tiles of size {} need {} for their records, more than half of the memory limit of {}: use tiles "
        "of at least {} (--tile), or a limit of at least {} (--memory)",
        count_tiles(grid, plan.part), grid.tile, format_bytes(plan.records), format_bytes(limit), larger,
        format_bytes(2 * plan.records)));
  }
  limit -= plan.records;
}

// All processes take the choice of the first.
template <class Choose>
PlannedTile common_tile(Choose&& choose) {
  auto const text = by_first_process([&] {
    auto const tile = choose();
    return fmt::format("{} {} {}", tile.size, tile.inner, tile.chosen_by);
  });
  PlannedTile tile{};
  std::istringstream(text) >> tile.size >> tile.inner >> tile.chosen_by;
  return tile;
}

// Files may have other names: each node may have a copy.
std::string describe(MatrixInput const& input) {
  auto const form = fmt::format("a {} x {} matrix of {}", input.rows, input.cols, name_of(input.type));
  return input.file ? form : form + " (" + input.name + ")";
}

void require_common_inputs(std::vector<MatrixInput> const& inputs) {
  for (auto const& input : inputs) require_common(describe(input), "each process must be given the same matrix");
}

}  // namespace

RunPlan make_run_plan(RunOptions const& options, std::vector<MatrixInput> const& inputs, MatrixPart part,
                      std::string const& dataset, TileKernels kernels) {
  auto const& a = inputs.front();
  require_common_inputs(inputs);
  auto const runtime = check_options(options, inputs, dataset);
  auto const tile = common_tile([&] { return plan_tile(options, a, runtime, kernels); });
  RunPlan plan{.a = a,
               .part = part,
               .runtime = runtime,
               .grid = {a.rows, a.cols, tile.size},
               .check = options.check,
               .inner_tile = tile.inner,
               .tile_chosen_by = tile.chosen_by};
  count_records(plan);
  return plan;
}

void require_space(RunPlan const& plan, std::optional<std::string> const& output, Bytes values) {
  if (output) {
    std::filesystem::path const path = place_of(*output);
    return detail::require_space(path.parent_path(), "the output " + path.string(), values, values);
  }
  // With devices, the Session knows how much they hold.
  if (device_capacity(plan.runtime) == 0) require_scratch(plan.runtime, 0, values);
}

void require_common_tasks(RunPlan const& plan) {
  require_common(fmt::format("{} tasks, and {} of a check", plan.tasks, plan.check_tasks),
                 "start all processes with the same options");
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
  // Data of devices, and of other processes, pass through host memory, in addition to the data of tasks there.
  Bytes const passing = device > 0 || processes() ? need.datum : 0;
  Bytes const host = (*runtime.workers > 0 && device < need.device ? need.host : passing) + passing;
  if (device < need.device && *runtime.workers == 0) {
    Bytes const workspace = (runtime.device_memory - device) / device_alignment * device_alignment;
    refuse("device memory", runtime.device_memory, need.device + workspace, "--device-memory");
  }
  if (runtime.host_memory < host) refuse("memory", runtime.host_memory + plan.records, host + plan.records, "--memory");
}

void warn_of_few_tiles(RunPlan const& plan) {
  auto const& grid = plan.grid;
  auto const workers = *plan.runtime.workers;
  constexpr std::uint64_t least_order = 1024;
  constexpr std::uint64_t least_tile = 128;
  auto const count = [&](std::uint64_t tile) { return count_tiles({grid.rows, grid.cols, tile}, plan.part); };
  auto const wanted = std::uint64_t{2} * workers;
  auto const tiles = count(grid.tile);
  if (workers < 2 || tiles >= wanted || std::max(grid.rows, grid.cols) < least_order) return;
  auto smaller = grid.tile;
  while (smaller > least_tile && count(smaller) < wanted) smaller = std::max(least_tile, smaller / 64 * 32);
  if (count(smaller) < wanted) return;
  warn_once(fmt::format("{} tiles of size {} leave some of {} workers idle: use smaller tiles (--tile {})", tiles,
                        grid.tile, workers, smaller));
}

}  // namespace granary::app
