// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>
#include <granary/core/model/graph_recorder.hpp>
#include <granary/core/model/trace.hpp>

#include <functional>

namespace granary::app {

/// What a run's operations are, to say what they take at least.
struct Operations {
  std::function<void(GraphRecorder&)> record;   ///< submits the tasks, as the run did first of all
  std::function<Bytes(Bytes memory)> io_bound;  ///< bytes that a memory of this size receives at least (io_bounds.hpp)
  Bytes compulsory = 0;                         ///< bytes that must be read, however large the memories are
};

/// Adds to a trace's totals what no schedule of its operations goes below:
/// - `least seconds at measured speed`, where every task of the operations ran and was recorded: the mixed bound
///   (workloads/bounds) with the mean times that the run's own tasks took, by codelet, operations and kind of worker;
///   where a kind ran none of them, they are not placed there. With `area seconds` and `critical path seconds`.
/// - `least bytes loaded`, by all devices' memories together, and for each `least bytes loaded into NAME`: of the I/O
///   bound the share of the operations that ran there (IoBoundOfMemories), nothing when one memory holds all data;
///   and what is compulsory, when no other worker ran a task.
void add_bounds(Trace& trace, Operations const& operations);

}  // namespace granary::app
