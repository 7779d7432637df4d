// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/planner/failure.hpp>
#include <granary/detail/core/planner/statistics.hpp>
#include <granary/detail/simulator/report.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace granary {

/// The results of a run on several processes.
struct GRANARY_EXPORT ClusterReport {
  detail::Instant end{};
  std::vector<SimulationReport> processes;
  /// The failures of tasks and write-backs, without failures of values that therefore did not come from other
  /// processes; by process, in its order of submission. A value that an earlier reported failure took is named once, as
  /// a failure of the first process that would have read it.
  std::vector<std::pair<ProcessId, detail::Failure>> failures;
  std::uint64_t messages = 0;  ///< that carry no value

  /// Sums over the processes; stubs are no tasks.
  [[nodiscard]] detail::LinkStatistics sent() const;
  [[nodiscard]] detail::LinkStatistics of(detail::TransferKind kind) const;
  [[nodiscard]] std::uint64_t tasks_run() const;
  [[nodiscard]] std::uint64_t evictions() const;
};

}  // namespace granary
