// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/workloads/workload.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "problem.hpp"

namespace granary::app {

[[nodiscard]] std::vector<std::string> algorithm_names();
/// Throws InvalidArgument with the known names if the name is unknown.
void check_algorithm(std::string const& name);

/// A problem, and the known bounds of its traffic.
struct Problem {
  std::unique_ptr<workloads::Workload> workload;
  bool has_priorities = false;  ///< of its own, which bottom levels must not replace
};

/// A square matrix of tiles x tiles tiles.
struct ProblemSize {
  std::uint64_t tiles;
  std::uint64_t tile;
  std::uint64_t n = 0;  ///< see Tiling::n
};

/// Throws InvalidArgument.
[[nodiscard]] Problem make_problem(ProblemOptions const& options, ProblemSize const& size);

/// Lower bound of the bytes that `memories` memories of `memory` bytes each receive together, if one is known for the
/// algorithm (linalg/io_bounds.hpp); 0 if each of them holds the working set.
[[nodiscard]] Bytes io_bound(ProblemOptions const& options, ProblemSize const& size, Bytes memory,
                             std::uint32_t memories);

}  // namespace granary::app
