// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/signal_watch.hpp>

#include <string>

#include "apps/common/command_line.hpp"
#include "apps/common/report.hpp"

namespace granary::app {

struct CholeskyRunOptions : RunOptions {
  std::string input;
  bool upper = false;
  bool commuting = false;
};

/// Factors the matrix, checks the factor if requested, and renames the complete output. Throws granary's errors and
/// Interrupted; then no output file is left behind, and an older one is unchanged.
[[nodiscard]] Report run_cholesky(CholeskyRunOptions const& options, SignalWatch& signals);

}  // namespace granary::app
