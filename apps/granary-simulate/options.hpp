// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/bounds/bounds.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/simulation/make_workload.hpp"
#include "apps/simulation/problem_options.hpp"
#include "apps/simulation/values.hpp"

namespace granary::app {

/// Options of the command line. Every combination of the lists is simulated.
struct Options : ProblemOptions {
  bool list = false;  ///< print the known names, and nothing else
  std::vector<std::uint64_t> tiles{20};
  std::vector<std::uint64_t> n;  ///< orders of matrices, in place of `tiles`
  std::vector<std::uint64_t> tile{960};
  std::vector<std::string> schedulers{"auto"};
  std::vector<std::string> evictions;  ///< empty: each scheduler's own
  std::vector<Memory> memory{{}};
  std::vector<std::optional<std::uint32_t>> gpus{{}};  ///< absent: all of the platform's
  std::vector<std::optional<std::uint32_t>> cpus{{}};
  std::optional<std::uint32_t> processes;  ///< absent: one, without a network
  std::optional<Distribution> grid;        ///< of these processes
  std::optional<std::string> network;      ///< bandwidth and latency; absent: the platform's
  bool half_duplex = false;
  std::uint32_t gpu_workers = 1;                        ///< per device
  std::vector<std::optional<std::uint32_t>> depth{{}};  ///< absent: the platform's
  std::uint32_t seeds = 1;
  std::optional<double> jitter;
  double estimator_error = 0;
  double truth_error = 0;
  std::uint32_t truth_seeds = 1;
  std::vector<SlowWorker> slow_workers;
  BookingOptions booking;
  detail::DecisionCost charge_decisions;
  bool bounds = true;
  std::uint32_t bound_paths = BoundOptions{}.most_paths;
  std::optional<std::string> csv;
  std::optional<std::string> json;
  std::optional<std::string> order;
  std::optional<std::string> trace;
  std::optional<std::string> report;
  std::optional<std::string> save_graph;
  std::optional<std::string> save_schedule;
  std::string priorities = "bottom-level";
  bool transfers_by_priority = false;
  std::vector<std::string> load;
  bool force = false;

  /// True if text for people may go to standard output: false if a file goes there.
  [[nodiscard]] bool prints_table() const;
  /// Every combination of a number of tiles, or an order, with a tile size.
  [[nodiscard]] std::vector<ProblemSize> sizes() const;
  /// Number of configurations, without the seeds.
  [[nodiscard]] std::size_t combinations() const;
};

/// Parses the command line. Returns nothing after printing help or the version on request; throws InvalidArgument.
[[nodiscard]] std::optional<Options> parse_options(int argc, char const* const* argv);

}  // namespace granary::app
