// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>

#include "options.hpp"
#include "result.hpp"

namespace granary::app {

/// Simulates every combination and reports each as it ends. Throws InvalidArgument, Error.
void run_experiment(Options const& options, std::function<void(Result const&)> const& done);

}  // namespace granary::app
