// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>

#include <cstdint>
#include <set>

namespace granary {

/// The faults injected into a simulation.
struct GRANARY_EXPORT FaultPlan {
  std::set<std::uint64_t>
      copies;  ///< numbers of the copies that fail at their end, counted from 0 in the order of the commands
  std::set<TaskId> tasks;  ///< tasks that fail at their end
  /// Tasks that their worker gives back once before it starts them, unless one was issued behind them.
  std::set<TaskId> returns{};
  /// Tasks that their worker stops once after half of their time, if Planner::may_restart allows that.
  std::set<TaskId> stops{};
  /// Tasks issued behind another one that the driver takes back at once.
  std::set<TaskId> recalls{};
  /// Each copy is reported late by a time in [0, copy_delay), so that reports overtake each other.
  Duration copy_delay{0};
  /// Each task is reported late by a time in [0, task_delay).
  Duration task_delay{0};
  std::uint64_t seed = 0;
};

}  // namespace granary
