// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/trace.hpp>

#include <functional>

#include "apps/common/dry_run.hpp"

namespace granary::app {

/// A run's operations, for lower bounds.
struct Operations {
  std::function<void(DryRun&)> emit;  ///< submits the same tasks as the run
  std::function<Bytes(Bytes memory)>
      io_bound;          ///< minimum of bytes that a memory of this size receives (io_bounds.hpp)
  Bytes compulsory = 0;  ///< bytes that must be read, however large the memories are
};

/// Adds lower bounds for any schedule of the operations to a trace's totals:
/// - `least seconds at measured speed`: the mixed bound (bounds/) with the mean times of the run's own tasks,
///   by codelet, operations and kind of worker. Present if every task ran and was recorded. A codelet is not placed on
///   a kind of worker that ran none of its tasks. With `area seconds` and `critical path seconds`.
/// - `least bytes loaded`, by the memories of all devices together, and `least bytes loaded into NAME` for each: the
///   I/O bound for the operations that ran there (IoBoundOfMemories), zero if one memory holds all data. The former is
///   at least the compulsory bytes, if no other worker ran a task.
void add_bounds(Trace& trace, Operations const& operations);

}  // namespace granary::app
