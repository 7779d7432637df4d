// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/schedules/schedule.hpp>
#include <granary/detail/schedules/search/annealing.hpp>

#include <cstdint>
#include <functional>

#include "problem_runs.hpp"

namespace granary::app {

struct SearchOptions {
  search::SearchLimit limit{};
  std::uint64_t seed = 0;
  /// As in AnnealingOptions, for the whole search.
  std::function<bool(double share, Duration best)> progress = {};
};

struct SearchResult {
  Schedule schedule;
  std::uint64_t evaluations = 0;
  bool transfers = false;  ///< they matter: most of the time went into simulated schedules
};

/// Looks for a better schedule than the first one, by annealing: with list schedules that know no transfers, and if
/// these matter, then with simulated ones. Of the schedules that it finds, and the first one, the one with which the
/// scheduler static ends first in the simulator; its times are from that simulation.
[[nodiscard]] SearchResult search(ProblemRuns const& problem, Schedule const& first, SearchOptions const& options);

}  // namespace granary::app
