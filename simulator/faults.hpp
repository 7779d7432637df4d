// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/base/units.hpp>

#include <cstdint>
#include <set>

#pragma GCC visibility push(default)

namespace granary {

/// What goes wrong in a simulation.
struct FaultPlan {
  std::set<std::uint64_t>
      copies;              ///< these copies fail when they would end: numbers in the order of the commands, from 0
  std::set<TaskId> tasks;  ///< these tasks fail when they would end
  /// Each copy's answer comes late by a time in [0, copy_delay), so that answers overtake each other.
  Duration copy_delay{0};
  /// Each task's answer comes late by a time in [0, task_delay).
  Duration task_delay{0};
  std::uint64_t seed = 0;
};

}  // namespace granary

#pragma GCC visibility pop
