// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/planner/statistics.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace granary::detail {

struct GRANARY_EXPORT WorkerStatistics {
  std::uint64_t tasks = 0;
  Duration busy{0};               ///< in kernels, including inner tasks
  Duration blocked{0};            ///< by kernels of other workers: Kokkos before 4.0 runs one host kernel at a time
  Duration idle{0};               ///< the rest of the time since the engine started
  std::uint64_t expanded = 0;     ///< of `tasks`: those that ran as inner graphs
  std::uint64_t inner_tasks = 0;  ///< of inner graphs, of its own tasks and of others'
};

/// The figures of a run so far; Runtime::statistics returns them.
///
/// ```cpp
/// #include <granary/granary.hpp>
/// granary::Runtime runtime;
/// // ... runtime.submit(...)
/// runtime.wait();
/// granary::detail::EngineStatistics const figures = runtime.statistics();
/// for (auto const& worker : figures.workers) std::printf("busy for %.3f s\n", granary::seconds(worker.busy));
/// assert(figures.planner.tasks_failed == 0);
/// ```
struct GRANARY_EXPORT EngineStatistics {
  Statistics planner;
  bool idle = true;                 ///< every submitted task and every transfer has ended
  bool priorities_ignored = false;  ///< tasks had priorities, which the scheduler ignores
  /// Bytes in a device's memory that the largest task needs, if tasks have device kernels and none of them has fitted a
  /// device; otherwise 0.
  Bytes device_need = 0;
  std::string remark;  ///< Scheduler::remark
  std::vector<WorkerStatistics> workers;
  /// Time during which workers had no task although tasks were committed to their group and copies were active, summed
  /// over workers.
  Duration waiting_for_data{0};
  /// The time for which submissions slept (EngineOptions::booking), summed over threads.
  Duration submission_slept{0};
  /// Estimated time inside the planner: one in 16 calls of the application is measured and counted 16 times; the
  /// application of threads' reports is always measured.
  Duration deciding{0};
};

}  // namespace granary::detail
