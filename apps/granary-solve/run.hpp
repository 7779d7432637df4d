// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/signal_watch.hpp>

#include <string>

#include "apps/common/command_line.hpp"
#include "apps/common/report.hpp"

namespace granary::app {

struct SolveOptions : RunOptions {
  std::string a;
  std::string b;
  bool spd = false;
  bool mixed = false;
};

/// Solves A X = B, checks X if requested, and renames the complete output. Throws granary's errors
/// (NotPositiveDefinite, Singular) and Interrupted; then no output file is left behind, and an older one is unchanged.
[[nodiscard]] Report run_solve(SolveOptions const& options, SignalWatch& signals);

}  // namespace granary::app
