// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/trace.hpp>

#include <cstdint>

namespace granary {

/// Adds to the totals, for each device's memory, `least bytes loaded into NAME`: a lower bound for the operations that
/// its workers did. `bound` is the lower bound for one such memory and all operations of the first `tasks` submitted
/// tasks; it holds for any part of them in proportion (IoBoundOfMemories in linalg/algorithms/io_bounds.hpp). Returns
/// the sum. Adds nothing and returns 0 if the bound is 0 or no operations are known.
GRANARY_EXPORT double add_shares_of_loads(Trace& trace, std::uint64_t tasks, double bound);

}  // namespace granary
