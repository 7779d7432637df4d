// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/model/trace.hpp>

#include <cstdint>

#pragma GCC visibility push(default)

namespace granary {

/// Adds to the totals, for each device's memory, `least bytes loaded into NAME`: what it received at least for the
/// operations that were done there. `bound` is what one such memory would receive for all operations of the first
/// `tasks` tasks that were submitted; the bound holds for any part of them, in proportion (IoBoundOfMemories in
/// linalg/io_bounds.hpp). Gives the sum. Adds nothing, and gives 0, where the bound is 0 or no operations are known.
double add_shares_of_loads(Trace& trace, std::uint64_t tasks, double bound);

}  // namespace granary

#pragma GCC visibility pop
