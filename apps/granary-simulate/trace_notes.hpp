// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/trace.hpp>

#include "experiment.hpp"

namespace granary::app {

/// Adds the configuration, the totals and the known bounds to the trace.
void describe(Trace& trace, Result const& result);

}  // namespace granary::app
