// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/model/trace.hpp>

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// A time in which a worker ran nothing although it had work, or work was on its way to it.
struct TraceWait {
  enum class Why : std::uint8_t {
    Data,     ///< data of its tasks were on their way
    Blocked,  ///< kernels of other workers ran that its task must not run beside
  };

  WorkerId worker;
  Instant begin;
  Instant end;
  Why why = Why::Data;
};

/// Parts the time in which workers run nothing into waiting and idle. A worker is blocked before a task as long as the
/// trace says (TraceTask::blocked). It waits for data while a value is being fetched to
/// its node, or to a node without workers, which lies on the way; or while a replica that was chosen for eviction from
/// its node is still being written back. The rest, when nothing is on its way, is idle, and not in the list. Sorted by
/// worker and instant. Costs O(n log n).
[[nodiscard]] std::vector<TraceWait> waits_of(Trace const& trace);

}  // namespace granary

#pragma GCC visibility pop
