// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>

#include <chrono>
#include <cstdint>

#pragma GCC visibility push(default)

namespace granary {

struct PlannerOptions {
  /// Committed tasks of a group beyond those that were handed to workers: how many tasks ahead data are fetched; at
  /// least 1.
  std::uint32_t depth = 4;
  /// A worker is handed tasks behind the one that it runs while their estimated time together is below this, so that it
  /// need not wait for a decision after each short task.
  Duration issue_ahead = std::chrono::microseconds(100);
  /// The most tasks that a worker holds, at least 1.
  std::uint32_t issue_depth = 64;
  /// A device worker is handed that many tasks whatever they take, so that its lane runs on while a decision is on its
  /// way; at least 1. From 2 on it may be handed a task that reads what the one before it on the lane will have
  /// written, see Scheduler::follows.
  std::uint32_t device_issue = 1;
  /// Write final values home while the link would be idle, before room is needed.
  bool write_back_early = true;
};

/// What a planner's driver writes down of a run.
struct TraceOptions {
  bool record = false;
  /// Of tasks, transfers, evictions, changes of memory and data together, ~60 bytes each; what comes after them is
  /// counted and not kept.
  std::uint64_t most_events = 4'000'000;
};

}  // namespace granary

#pragma GCC visibility pop
