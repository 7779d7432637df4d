// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/units.hpp>
#include <granary/detail/schedules/search/annealing.hpp>
#include <granary/detail/schedules/search/list_problem.hpp>
#include <granary/detail/schedules/search/list_schedule.hpp>

#include <cstdint>
#include <functional>
#include <optional>

namespace granary {

struct ConstraintOptions {
  /// `evaluations` limits the nodes of the search tree.
  search::SearchLimit limit{};
  /// Only schedules that are shorter than this.
  std::optional<Duration> below{};
  /// Called at each node with the share of the limit that is used up and the best makespan so far, if there is one; the
  /// search ends if it returns false.
  std::function<bool(double share, std::optional<Duration> best)> progress = {};
};

struct ConstraintResult {
  /// The best schedule, if one was found: the workers of a class start its tasks in the order of the priorities.
  std::optional<search::ListPlan> plan;
  /// Reached by that order. A list schedule of the plan may take longer, since a worker of the best schedule may wait
  /// for a task though another one is ready.
  Duration makespan{0};
  std::uint64_t nodes = 0;
  /// The whole tree was searched: no schedule is shorter by more than the rounding.
  bool complete = false;
  Duration unit{1};  ///< to whose multiples the times were rounded up
};

/// True if this build has the constraint solver Gecode.
[[nodiscard]] bool have_constraint_search();

/// Branch and bound with the constraint program of Agullo, Beaumont, Eyraud-Dubois, Kumar, "Are Static Schedules so
/// Bad?" (IPDPS 2016), section IV: for each task the class of its workers and its start, one cumulative constraint per
/// class, precedence, minimal makespan; in addition the work of each class is at most its workers times the makespan.
///
/// The tasks are placed in the order of their earliest starts, then of their bottom levels: first on the class that is
/// expected to end them earliest, at the earliest start there. A task that is not started then waits until its earliest
/// start has changed (Le Pape, Couronné, Vergamini, Gosselin, "Time-versus-capacity compromises in project scheduling",
/// 1994), which keeps an optimal schedule in the tree. The same limit of nodes gives the same result.
///
/// Times are rounded up, to at least 1 ns, or to multiples of the largest possible makespan / (5 · 10^8) where that is
/// longer, since Gecode's integers have 32 bits. Each node costs O(tasks · classes + edges), each of the first
/// schedules two nodes per task.
///
/// Throws InvalidArgument if the limit is empty or the graph has no task, or the build has no Gecode.
[[nodiscard]] ConstraintResult constraint_search(search::ListProblem const& problem, ConstraintOptions const& options);

}  // namespace granary
