// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/signal_watch.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include "apps/common/command_line.hpp"
#include "apps/common/report.hpp"

namespace granary::app {

struct LuRunOptions : RunOptions {
  std::string input;
  bool pivoting = true;
  bool commuting = false;
};

struct LuResult {
  Report report;
  std::optional<std::uint64_t> zero_pivot = {};  ///< the first, counted from 1; the factors are complete nevertheless
};

/// Factors the matrix, checks the factors if requested, and renames the complete output. Throws granary's errors
/// (Singular if a factorization without pivoting meets an unusable pivot) and Interrupted; then no output file is left
/// behind, and an older one is unchanged.
[[nodiscard]] LuResult run_lu(LuRunOptions const& options, SignalWatch& signals);

}  // namespace granary::app
