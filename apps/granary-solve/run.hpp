// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "apps/common/command_line.hpp"
#include "apps/common/report.hpp"
#include "apps/common/signals.hpp"

namespace granary::app {

struct SolveOptions : RunOptions {
  std::string a;
  std::string b;
  bool spd = false;
  bool mixed = false;
};

/// Solves A X = B, checks X where that is asked for, and gives the output its name. Throws granary's errors
/// (NotPositiveDefinite, Singular) and Interrupted; then no output file is left behind and one that was there before is
/// untouched.
[[nodiscard]] Report run_solve(SolveOptions const& options, SignalWatch& signals);

}  // namespace granary::app
