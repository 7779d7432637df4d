// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/distribution.hpp>
#include <granary/detail/core/model/precision.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/simulation/simulated_run.hpp"

namespace granary::app {

/// The results of one configuration: medians over the seeds; the links' traffic is the first seed's.
struct Result {
  std::string platform;
  std::string algorithm;
  std::string graph;                ///< the file of --graph; empty: none
  std::vector<std::string> loaded;  ///< the libraries of --load
  std::uint64_t tiles = 0;
  std::uint64_t tile = 0;
  std::uint64_t n = 0;  ///< order of the matrix
  detail::Precision precision = detail::Precision::Single;
  std::string scheduler;
  std::string eviction;
  std::uint32_t devices = 0;
  std::uint32_t device_workers = 0;
  std::uint32_t cpus = 0;
  std::optional<Distribution> grid;  ///< of the processes, of which each has these devices and cpus
  std::uint32_t depth = 0;
  Bytes memory = 0;  ///< per device
  double flops = 0;
  Bytes working_set = 0;
  double upper_bound_flops = 0;   ///< per second; 0: not computed
  double upper_bound_excess = 0;  ///< TimeBounds::excess
  Bytes io_bound = 0;             ///< 0: none known, or data are used in place
  Bytes compulsory = 0;           ///< loads; 0 if data are used in place
  Bytes bus_limit = 0;            ///< bytes that the links into the devices can carry in the time of the upper bound
  std::uint64_t tasks = 0;
  RunFigures figures;
  std::uint32_t seeds = 1;  ///< runs
  std::vector<double> seconds_of_runs;
  double seconds_min = 0;
  double seconds_mean = 0;
  double seconds_max = 0;

  [[nodiscard]] double flops_per_second() const { return figures.seconds > 0 ? flops / figures.seconds : 0; }
  /// Bytes received by the devices divided by the larger of the bounds; 0 without bounds.
  [[nodiscard]] double ratio() const;
};

}  // namespace granary::app
