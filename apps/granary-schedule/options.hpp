// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/bounds/bounds.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/simulation/problem_options.hpp"
#include "apps/simulation/values.hpp"

namespace granary::app {

/// Options of the command line.
struct Options : ProblemOptions {
  std::uint64_t tiles = 20;
  std::uint64_t tile = 960;
  std::optional<std::uint32_t> gpus;  ///< absent: all of the platform's
  std::optional<std::uint32_t> cpus;
  Memory memory;
  bool gecode = false;                  ///< the method; otherwise annealing
  std::vector<std::string> schedulers;  ///< of which the best one's schedule is the first
  std::vector<std::string> load;        ///< libraries that register policies
  std::optional<std::string> resume;
  std::optional<double> time;  ///< seconds
  std::optional<std::uint64_t> evaluations;
  std::uint64_t seed = 0;
  std::uint32_t bound_paths = BoundOptions{}.most_paths;
  std::string output;
  bool force = false;
  bool quiet = false;
};

/// Parses the command line. Returns nothing after printing help or the version on request; throws InvalidArgument.
[[nodiscard]] std::optional<Options> parse_options(int argc, char const* const* argv);

}  // namespace granary::app
