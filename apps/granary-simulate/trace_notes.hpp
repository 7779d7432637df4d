// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/model/trace.hpp>

#include "experiment.hpp"

namespace granary::app {

/// Adds the configuration to the trace, and the totals with the bounds that are known.
void describe(Trace& trace, Result const& result);

}  // namespace granary::app
