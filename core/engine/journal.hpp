// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>
#include <granary/core/model/estimator.hpp>
#include <granary/core/planner/command.hpp>
#include <granary/core/planner/event.hpp>

#include <cstddef>
#include <memory>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// What the planner was told in a run, and what it answered: a fresh planner that handles the same events gives the
/// same commands. Measured durations are part of the events, so that an estimator that starts alike learns the same.
struct Journal {
  struct Entry {
    Instant when;  ///< since the engine started; the planner is told it before the event
    Event event;
    std::size_t commands_end = 0;  ///< how many commands there were after it
  };
  std::vector<Entry> entries;
  std::vector<Command> commands;
  /// What the estimator believed at the start; replay with a copy of it. Null: a fresh estimator of the same class.
  std::shared_ptr<Estimator const> estimator;
};

}  // namespace granary

#pragma GCC visibility pop
