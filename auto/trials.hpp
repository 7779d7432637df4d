// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/auto/candidates.hpp>
#include <granary/detail/auto/trial_tasks.hpp>
#include <granary/detail/core/base/units.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace granary::detail {

/// The trial runs of one choice.
struct TrialQuestion {
  std::vector<Candidate> if_data_fit, if_larger;  ///< the likely ones first
  std::uint64_t seed = 0;
  std::uint64_t most_tasks = 0;  ///< that may be simulated
  bool first_choice = false;
  bool whole_only = false;  ///< parts of runs are no use
  bool one_memory = false;  ///< all workers share one memory
};

struct Trial {
  std::string scheduler;
  double seconds = 0;               ///< believed
  double bytes = 0;                 ///< moved, believed, until so many tasks had ended
  std::vector<Duration> ends = {};  ///< of its tasks
  std::string limit = {};
};

struct TrialAnswer {
  std::vector<Trial> trials = {};  ///< the best first; empty: none could be made
  std::uint64_t simulated = 0;     ///< tasks
  bool tried = false;              ///< at least one candidate was
  bool whole = false;              ///< whole runs were compared
};

/// Simulates the tasks under the candidates. If only parts of the runs can be simulated, the likely candidates alone
/// are. `wanted`: as for TrialRun::advance.
[[nodiscard]] TrialAnswer compare_candidates(TrialTasks tasks, TrialQuestion const& question,
                                             std::function<bool()> const& wanted);

}  // namespace granary::detail
