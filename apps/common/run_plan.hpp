// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/data/tile_grid.hpp>
#include <granary/detail/runtime/setup/options.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/command_line.hpp"
#include "apps/common/dry_run.hpp"
#include "apps/common/matrix_input.hpp"

namespace granary::app {

/// The decisions that a program that factors makes before any work.
struct RunPlan {
  MatrixInput a;  ///< the matrix that is factored
  MatrixPart part;
  RuntimeOptions runtime;
  detail::TileGrid grid;
  bool check;
  std::int32_t inner_tile;     ///< see TaskEmitter::inner_tile
  std::string tile_chosen_by;  ///< "option", "chunks" of the input, "speeds" of tile kernels, or "memory" and order
  Bytes records = 0;           ///< what `records_of` take of the memory limit; runtime.host_memory is the rest
  std::string records_of = "records of tiles";
  std::uint64_t tasks = 0;
  std::uint64_t check_tasks = 0;
};

/// The kernels of which most of a factorization consists. LU without pivoting has the same as Cholesky.
enum class TileKernels : std::uint8_t { Cholesky, LuWithoutPivoting, PivotedLu, Others };

/// Checks the options and chooses the tile size for the first input: the option; else the chunk size of the input, if
/// its chunks are square with 128 to 1024 rows; else, of the sizes of which 24 tiles fit, the fastest by the speeds of
/// Cholesky's kernels (tile_speeds), which are measured if the order is at least 8192 and the memory 64 MiB; else 512.
/// The chunk size and 512 are halved, down to 32, while fewer than 32 tiles fit. Tiles are never larger than the
/// matrix, and smaller than all this by up to a ninth where that cuts it more evenly (even_tile), but for the size of
/// the input's chunks. The inner tile is the option, else chosen: for Cholesky by speeds, for LU with pivoting by the
/// number of workers, otherwise 0. Without the kernels of Cholesky, and with devices, no speeds count. `dataset`: the
/// dataset that the output will hold. The records of all tiles, 768 bytes each, count against the memory limit but for
/// 16 MiB. Throws InvalidArgument, also if processes have inputs of other sizes, types or generators, and
/// MemoryLimitError if the records take more than half of the limit. Collective.
[[nodiscard]] RunPlan make_run_plan(RunOptions const& options, std::vector<MatrixInput> const& inputs, MatrixPart part,
                                    std::string const& dataset, TileKernels kernels);

/// Throws Error if there is no room for `values`, the bytes of the output, or else of data without a home that live at
/// the same time, beyond what memory holds: on the output's file system, or in the scratch directory. Before the tasks
/// are counted, which takes minutes for 10^10 of them.
void require_space(RunPlan const& plan, std::optional<std::string> const& output, Bytes values);

/// Emits the tasks of a run, and of its check if there is one, and counts them. Returns the memory of the largest one.
template <class Plan>
MemoryNeed dry_run(Plan& plan, void (*emit)(DryRun&, Plan const&), void (*emit_check)(DryRun&, Plan const&)) {
  DryRun run;
  emit(run, plan);
  plan.tasks = run.tasks();
  auto need = run.need();
  if (!plan.check) return need;
  DryRun check;
  emit_check(check, plan);
  plan.check_tasks = check.tasks();
  need.cover(check.need());
  return need;
}

/// Throws InvalidArgument if the plans of several processes have different numbers of tasks: they have other options.
/// Collective.
void require_common_tasks(RunPlan const& plan);

/// Throws MemoryLimitError, with the minimum limits, if the largest task fits no worker's memory.
void require_memory(RunPlan const& plan, MemoryNeed const& need);

/// Warns if there are fewer than two tiles per CPU worker, with a sufficient tile size. Not for matrices of an order
/// below 1024, or if tiles of 128 are still too large.
void warn_of_few_tiles(RunPlan const& plan);

}  // namespace granary::app
