// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/workloads/workload.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "options.hpp"

namespace granary::app {

[[nodiscard]] std::vector<std::string> algorithm_names();
/// Throws InvalidArgument, listing the known ones, for another name.
void check_algorithm(std::string const& name);

/// A problem, and what is known of its traffic.
struct Problem {
  std::unique_ptr<Workload> workload;
  bool has_priorities = false;  ///< its own: bottom levels must not replace them
};

/// Throws InvalidArgument.
[[nodiscard]] Problem make_problem(Options const& options, std::uint64_t tiles, std::uint64_t tile);

/// What `memories` memories of `memory` bytes each receive at least together, as far as it is known for the algorithm
/// (linalg/io_bounds.hpp); 0 when each of them holds the working set.
[[nodiscard]] Bytes io_bound(Options const& options, std::uint64_t tiles, std::uint64_t tile, Bytes memory,
                             std::uint32_t memories);

}  // namespace granary::app
