// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/trace.hpp>

#include <cstdint>
#include <vector>

namespace granary {

/// An interval in which a worker ran nothing although it had work, or work was on its way to it.
struct GRANARY_EXPORT TraceWait {
  enum class Why : std::uint8_t {
    Data,     ///< data of its tasks were on their way
    Blocked,  ///< kernels of other workers ran that must not run concurrently with its task
    Peers,    ///< data were on their way from other processes
  };

  detail::WorkerId worker;
  detail::Instant begin;
  detail::Instant end;
  Why why = Why::Data;
};

/// Splits the time in which workers run nothing into waiting and idle. A worker is blocked before a task for the time
/// in the trace (TraceTask::blocked). It waits for data while a value is being fetched to its node or to a node without
/// workers, which is on the route, and while a replica chosen for eviction from its node is being written back. All
/// workers of a process wait for other processes while a value comes from one. The rest is idle and not in the list:
/// also the time in which another process still computes the value. Sorted by worker and instant. O(n log n).
[[nodiscard]] GRANARY_EXPORT std::vector<TraceWait> waits_of(Trace const& trace);

}  // namespace granary
