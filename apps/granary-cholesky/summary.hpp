// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>
#include <granary/linalg/files/matrix_file.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace granary::app {

/// What a run did. Times and traffic are those of the factorization, from its first task's submission until the factor
/// is in its file, without the check.
struct Report {
  std::uint64_t n = 0;
  std::uint64_t tile = 0;
  ScalarType type = ScalarType::Float64;
  std::size_t workers = 0;
  std::string scheduler;
  std::string eviction;
  std::uint32_t depth = 0;
  Bytes memory_limit = 0;
  Bytes memory_peak = 0;
  double seconds = 0;
  Bytes bytes_read = 0;
  Bytes bytes_written = 0;
  std::uint64_t tasks = 0;
  double wait_seconds = 0;  ///< summed over the workers
  double decision_seconds = 0;
  std::optional<double> residual = {};  ///< with --check
};

/// For people, several lines.
[[nodiscard]] std::string format_summary(Report const& report);
/// For programs; the keys are stable.
[[nodiscard]] std::string format_json(Report const& report);

}  // namespace granary::app
