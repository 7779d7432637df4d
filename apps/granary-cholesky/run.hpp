// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "options.hpp"
#include "signals.hpp"
#include "summary.hpp"

namespace granary::app {

/// Factors the matrix, checks the factor where that is asked for, and gives the output its name. Throws granary's
/// errors and Interrupted; then no output file is left behind and one that was there before is untouched.
[[nodiscard]] Report run(Options const& options, SignalWatch& signals);

}  // namespace granary::app
