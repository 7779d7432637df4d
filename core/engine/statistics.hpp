// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>
#include <granary/core/planner/statistics.hpp>

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

struct WorkerStatistics {
  std::uint64_t tasks = 0;
  Duration busy{0};               ///< in kernels, those of inner tasks included
  Duration blocked{0};            ///< by kernels of other workers: Kokkos before 4.0 runs one host kernel at a time
  Duration idle{0};               ///< since the engine started, the rest
  std::uint64_t expanded = 0;     ///< of `tasks`: those that ran as inner graphs
  std::uint64_t inner_tasks = 0;  ///< of inner graphs, its own tasks' and others'
};

struct EngineStatistics {
  Statistics planner;
  bool idle = true;                 ///< every submitted task has ended, and nothing is on its way
  bool priorities_ignored = false;  ///< tasks had priorities, and the scheduler does not heed them
  /// In a device's memory, of the largest task, where tasks have kernels for devices and none of these has fitted one;
  /// otherwise 0.
  Bytes device_need = 0;
  std::vector<WorkerStatistics> workers;
  /// Workers' time, summed, without a task while some task was committed on their node and copies were under way.
  Duration waiting_for_data{0};
  /// Time inside the planner. Submissions are sampled, one in 16; everything else is measured.
  Duration deciding{0};
};

}  // namespace granary

#pragma GCC visibility pop
