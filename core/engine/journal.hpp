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

/// The planner's events and commands in a run: a new planner that handles the same events returns the same commands.
/// Measured durations are part of the events, so an estimator with the same initial state learns the same.
struct Journal {
  struct Entry {
    Instant when;  ///< since the engine started; the planner is told it before the event
    Event event;
    std::size_t commands_end = 0;  ///< the number of commands after it
  };
  std::vector<Entry> entries;
  std::vector<Command> commands;
  /// The estimator's initial state; replay with a copy of it. Null: a new estimator of the same class.
  std::shared_ptr<Estimator const> estimator;
};

}  // namespace granary

#pragma GCC visibility pop
