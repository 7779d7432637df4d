// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>
#include <granary/core/planner/command.hpp>
#include <granary/core/planner/event.hpp>

#include <cstddef>
#include <vector>

namespace granary {

/// What the planner was told in a run, and what it answered: a fresh planner that handles the same events gives the
/// same commands. Measured durations are part of the events, so that the estimator learns the same.
struct Journal {
  struct Entry {
    Instant when;  ///< since the engine started; the planner is told it before the event
    Event event;
    std::size_t commands_end = 0;  ///< how many commands there were after it
  };
  std::vector<Entry> entries;
  std::vector<Command> commands;
};

}  // namespace granary
