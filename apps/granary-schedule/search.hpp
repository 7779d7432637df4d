// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/schedules/schedule.hpp>
#include <granary/workloads/search/annealing.hpp>

#include <cstdint>
#include <functional>

#include "problem_runs.hpp"

namespace granary::app {

struct SearchOptions {
  SearchLimit limit{};
  std::uint64_t seed = 0;
  /// As in AnnealingOptions, for the whole search.
  std::function<bool(double share, Duration best)> progress = {};
};

struct SearchResult {
  Schedule schedule;
  std::uint64_t evaluations = 0;
  bool simulated = false;  ///< transfers matter: most of the time went into simulated schedules
};

/// Looks for a better schedule than the first one, by annealing: with list schedules that know no transfers, and if
/// these matter, then with simulated ones. Each schedule that is kept was simulated. Never worse than the first.
[[nodiscard]] SearchResult search(ProblemRuns const& problem, Schedule const& first, SearchOptions const& options);

}  // namespace granary::app
