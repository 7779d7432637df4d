// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/common/command_line.hpp"
#include "apps/common/report.hpp"
#include "apps/common/signals.hpp"

namespace granary::app {

struct LuRunOptions : RunOptions {
  std::string input;
  bool pivoting = true;
};

struct LuResult {
  Report report;
  std::optional<std::uint64_t> zero_pivot = {};  ///< the first, from 1; the factors are complete all the same
};

/// Factors the matrix, checks the factors where that is asked for, and gives the output its name. Throws granary's
/// errors (Singular when a factorization without pivoting meets a pivot that it cannot use) and Interrupted; then no
/// output file is left behind and one that was there before is untouched.
[[nodiscard]] LuResult run_lu(LuRunOptions const& options, SignalWatch& signals);

}  // namespace granary::app
