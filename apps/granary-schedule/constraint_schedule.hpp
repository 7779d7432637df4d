// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/schedules/schedule.hpp>
#include <granary/detail/schedules/search/constraints/constraint_search.hpp>

#include <cstdint>
#include <optional>

#include "problem_runs.hpp"

namespace granary::app {

struct ConstraintSchedule {
  std::optional<Schedule> schedule;  ///< simulated, with transfers; empty: none was found
  std::uint64_t nodes = 0;
  bool complete = false;  ///< the solver searched everything
};

/// The best schedule of constraint_search(), which knows no transfers.
[[nodiscard]] ConstraintSchedule constraint_schedule(ProblemRuns const& problem, ConstraintOptions const& options);

}  // namespace granary::app
