// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/core/planner/observer.hpp>
#include <granary/detail/core/policy/task_table.hpp>
#include <granary/detail/schedules/schedule.hpp>
#include <granary/detail/schedules/signatures.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace granary {

/// Records which worker ran which task when, real or simulated; decides nothing. Attach it before the planner handles
/// any event. Each task takes ~100 bytes.
///
/// ```cpp
/// #include <granary/policy.hpp>
/// #include <granary/schedule.hpp>
/// #include <granary/simulator.hpp>
/// #include <granary/workloads.hpp>
/// auto const platform = granary::Platform::find("mirage");
/// granary::PlatformTruth const truth(platform);
/// granary::PlatformEstimator estimator(platform);
/// granary::ScheduleRecorder recorder(platform.machine);
/// granary::Simulator simulator(granary::Topology(platform.machine), granary::make_policies("heftp", "lru"),
///                              estimator, truth, {.observers = {&recorder}});
/// granary::workloads::TiledCholesky const cholesky({.tiles = 4, .tile = 960});
/// cholesky.submit(simulator, {platform.home_node(), platform.home_in_place()});
/// auto const report = simulator.run();
/// auto const schedule = recorder.schedule();
/// assert(schedule.tasks.size() == report.statistics.tasks_run);
/// ```
class GRANARY_EXPORT ScheduleRecorder final : public detail::PlannerObserver {
 public:
  explicit ScheduleRecorder(detail::Machine const& machine);

  /// The tasks so far; times count from the first submission. Throws Error, with the first of them, when tasks failed,
  /// were cancelled or have not ended. O(tasks).
  [[nodiscard]] Schedule schedule() const;

 private:
  struct Record {
    detail::ScheduledTask task;
    bool ran = false;
  };

  void handled(detail::Event const& event, detail::NewIds ids) override;
  void performed(detail::Command const& command) override;

  void submitted(TaskSubmission const& submission, TaskId task);

  Schedule m_schedule;  // without tasks
  detail::TaskSignatures m_signatures;
  std::vector<Record> m_records;           // in the order of submission
  TaskTable<std::uint32_t> m_record_of;    // by live task
  std::optional<detail::Instant> m_begin;  // of the first submission
  detail::Instant m_end{};
  std::uint64_t m_runs = 0;  // commands to run a task
};

}  // namespace granary
