// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace granary {

namespace detail {

struct GRANARY_EXPORT PlannerOptions {
  /// Committed tasks of a group beyond those that were handed to workers: the number of tasks for which data are
  /// fetched ahead. 0: tasks are committed only to idle workers, so that nothing is fetched ahead.
  std::uint32_t depth = 4;
  /// A worker that has tasks gets a further one if all of them, the new one included, are estimated to take at most
  /// this long, so that it does not wait for a decision after each short task.
  Duration issue_ahead = std::chrono::microseconds(100);
  /// Limit of the tasks that a worker holds, at least 1.
  std::uint32_t issue_depth = 64;
  /// The number of tasks that a device worker holds, independently of their time, so that its lane does not wait for
  /// the next decision; at least 1. From 2 on it may get a task that reads the result of the one before it on the lane,
  /// see Scheduler::hand_over.
  std::uint32_t device_issue = 1;
  /// Write final values home while the link would be idle, before memory is short.
  bool write_back_early = true;
  /// Of the transfers that wait for a link, start the one first for which the most urgent task waits (Hierarchical
  /// paper, section IV.C), at a cost of O(waiting transfers); otherwise the one that was requested first.
  bool transfers_by_priority = false;
};

}  // namespace detail

/// When submission sleeps, and when it wakes.
struct GRANARY_EXPORT BookingOptions {
  /// How long memory stays booked for submitted tasks: docs/design.md, "Submission sleeps".
  enum class Policy : std::uint8_t {
    Ours,   ///< values of other processes: while submitted tasks read them, since an evicted one can be fetched again
    Paper,  ///< until they are forgotten, as in (Memory, IV-B), where what was received stays in memory
    None,   ///< submission never sleeps
  };
  /// The size that is booked for data of this process whose values differ in size (Memory, V-C).
  enum class Estimate : std::uint8_t {
    Bold,    ///< the present size: what they grow later has to be free then
    Factor,  ///< twice the size that was expected at first
    Safe,    ///< the largest size
  };

  Policy policy = Policy::Ours;
  Estimate estimate = Estimate::Bold;
  /// Submission sleeps when the next task could book bytes beyond this. 0: when more bytes are booked than the host's
  /// memory has without its reserve and without the largest footprint of a task so far.
  Bytes sleep = 0;
  /// It wakes when at most so many are, not more than `sleep`; 0: nine tenths of that (Memory, IV-A).
  Bytes wakeup = 0;
  /// It also sleeps while this many of the process' submitted tasks have not ended, until a sixteenth of them is left;
  /// 0: any number.
  std::uint64_t max_live_tasks = 0;
};

[[nodiscard]] constexpr std::string_view name_of(BookingOptions::Policy policy) {
  constexpr std::string_view names[] = {"ours", "paper", "none"};
  return names[static_cast<std::size_t>(policy)];
}
[[nodiscard]] constexpr std::string_view name_of(BookingOptions::Estimate estimate) {
  constexpr std::string_view names[] = {"bold", "factor", "safe"};
  return names[static_cast<std::size_t>(estimate)];
}

/// The options with the policy and the estimate of that name: "ours", "paper" or "none", and after a colon "bold",
/// "factor" or "safe", as in "paper:safe". Throws InvalidArgument for any other text.
[[nodiscard]] GRANARY_EXPORT BookingOptions booking_named(std::string_view name);

/// The record of a run that a planner's driver keeps.
struct GRANARY_EXPORT TraceOptions {
  bool record = false;
  /// Limit of tasks, transfers, evictions, changes of memory and data together, ~60 bytes each; later ones are only
  /// counted.
  std::uint64_t most_events = 4'000'000;
};

}  // namespace granary
