// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/data/tile_grid.hpp>
#include <granary/runtime/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "apps/common/command_line.hpp"
#include "apps/common/dry_run.hpp"
#include "apps/common/matrix_input.hpp"

namespace granary::app {

/// What each program that factors decides before any work.
struct RunPlan {
  MatrixInput a;  ///< the matrix that is factored
  MatrixPart part;
  RuntimeOptions runtime;
  TileGrid grid;
  bool check;
  std::uint64_t tasks = 0;
  std::uint64_t check_tasks = 0;
};

/// Checks the options and chooses the tile size for the first input: the option; else the chunk size of the input, if
/// its chunks are square with 128 to 1024 rows; else 512. A size that was not asked for is halved, down to 32, while
/// fewer than 32 tiles fit. Tiles are never larger than the matrix. `dataset`: the dataset that the output will hold.
/// Throws InvalidArgument.
[[nodiscard]] RunPlan make_run_plan(RunOptions const& options, std::vector<MatrixInput> const& inputs, MatrixPart part,
                                    std::string const& dataset);

/// Emits the tasks of a run, and those of its check if there is one, and counts them. Returns the memory of the largest
/// one.
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

/// Throws MemoryLimitError, with the minimum limits, if the largest task fits no worker's memory.
void require_memory(RunPlan const& plan, MemoryNeed const& need);

/// Warns if there are fewer than two tiles per CPU worker, with a sufficient tile size. Not for matrices of an order
/// below 1024, or if tiles of 128 are still too large.
void warn_of_few_tiles(RunPlan const& plan);

}  // namespace granary::app
