// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/graph_recorder.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace granary {

/// Limit of ScheduledTask::rank.
inline constexpr std::uint64_t most_schedule_rank = std::uint64_t{1} << 62;

namespace detail {

struct GRANARY_EXPORT ScheduledTask {
  std::uint32_t worker = 0;     ///< index in Schedule::workers
  std::uint32_t codelet = 0;    ///< index in Schedule::codelets
  std::uint64_t signature = 0;  ///< see TaskSignatures
  /// A worker runs its tasks in the order of their ranks; at equal rank, in the order of submission.
  std::uint64_t rank = 0;
  Duration start{0};  ///< expected, from the start of the run
  Duration duration{0};
  bool operator==(ScheduledTask const&) const = default;
};

struct GRANARY_EXPORT ScheduleWorker {
  std::string name;
  detail::WorkerKind kind = detail::WorkerKind::Cpu;
  std::string node;  ///< the name of its memory
  bool operator==(ScheduleWorker const&) const = default;
};

}  // namespace detail

/// Maps the tasks of a graph to workers, with their order on each worker; recorded from a run or computed.
///
/// ```cpp
/// #include <granary/schedule.hpp>
/// granary::Schedule schedule;
/// schedule.workers = {{"gpu0", granary::WorkerKind::Device, "gpu0"}};
/// schedule.codelets = {"gemm"};
/// schedule.tasks.push_back({.worker = 0, .codelet = 0, .signature = 42, .duration = std::chrono::milliseconds(3)});
/// schedule.makespan = std::chrono::milliseconds(3);
/// granary::write_schedule("night.json", schedule);
/// assert(granary::read_schedule("night.json") == schedule);
/// ```
struct GRANARY_EXPORT Schedule {
  std::vector<detail::ScheduleWorker> workers;
  std::vector<std::string> codelets;         ///< names
  std::vector<detail::ScheduledTask> tasks;  ///< in the order of submission, without those that no worker runs
  Duration makespan{0};                      ///< not before the end of any task

  /// A hash of the tasks' signatures in order: equal for equal graphs. O(tasks).
  [[nodiscard]] std::uint64_t graph_hash() const;
  bool operator==(Schedule const&) const = default;
};

/// The workers of the machine, and the codelets and tasks of the graph: what is left to fill in is each task's worker,
/// rank, start and duration, and the makespan. O(accesses).
[[nodiscard]] GRANARY_EXPORT Schedule unplaced_schedule(detail::Machine const& machine,
                                                        detail::GraphRecorder const& graph);

/// Reads a schedule file. Throws IoError when it cannot be read. Throws DataError, with the file and the fault, when it
/// is no schedule: truncated, another format, a worker or codelet that it does not list, a rank or time out of range,
/// signatures that do not belong to its hash of the graph.
[[nodiscard]] GRANARY_EXPORT Schedule read_schedule(std::filesystem::path const& file);

/// The same for a text; `origin` names it in errors.
[[nodiscard]] GRANARY_EXPORT Schedule parse_schedule(std::string_view text, std::string const& origin);

/// Writes the schedule as JSON: about 70 bytes per task. A failure leaves the old file. Throws InvalidArgument when
/// the schedule is one that `read_schedule` would refuse or there can be no output at `file`, IoError when writing
/// fails.
GRANARY_EXPORT void write_schedule(std::filesystem::path const& file, Schedule const& schedule);

/// The text that `write_schedule` writes; throws InvalidArgument alike.
[[nodiscard]] GRANARY_EXPORT std::string format_schedule(Schedule const& schedule);

}  // namespace granary
