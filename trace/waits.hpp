// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/model/trace.hpp>

#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// A time in which a worker ran nothing although work was on its way to it.
struct TraceWait {
  WorkerId worker;
  Instant begin;
  Instant end;
};

/// Parts the time in which workers run nothing into waiting and idle. A worker waits while a value is being fetched to
/// its node, or to a node without workers, which lies on the way; or while a replica that was chosen for eviction from
/// its node is still being written back. The rest, when nothing is on its way, is idle, and not in the list. Sorted by
/// worker and instant. Costs O(n log n).
[[nodiscard]] std::vector<TraceWait> waits_of(Trace const& trace);

}  // namespace granary

#pragma GCC visibility pop
