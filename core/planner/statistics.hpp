// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

#include <cstdint>
#include <vector>

namespace granary::detail {

struct GRANARY_EXPORT LinkStatistics {
  std::uint64_t transfers = 0;
  Bytes bytes = 0;
};

struct GRANARY_EXPORT NodeStatistics {
  Bytes used = 0;  ///< now: replicas, incoming transfers, reserved outputs, rounded up to the node's alignment
  Bytes peak = 0;
  std::uint64_t evictions = 0;
  std::uint64_t write_backs = 0;  ///< transfers from it toward home or storage, with or without an eviction
};

/// The bytes that submitted tasks have booked: BookingOptions.
struct GRANARY_EXPORT BookingStatistics {
  Bytes booked = 0;  ///< now
  Bytes peak = 0;
  std::uint64_t sleeps = 0;  ///< times submission was to sleep
  std::uint64_t alone = 0;   ///< of these, the ones that ended only because no task was left: too much stayed booked
};

struct GRANARY_EXPORT Statistics {
  std::uint64_t tasks_submitted = 0;
  std::uint64_t tasks_committed = 0;  ///< counted again after a TaskReturned
  std::uint64_t tasks_run = 0;
  std::uint64_t tasks_outside = 0;  ///< of these, the ones that no worker ran (Codelet::external)
  std::uint64_t tasks_failed = 0;
  std::uint64_t tasks_cancelled = 0;
  std::uint64_t tasks_following = 0;  ///< committed behind the task that they waited for
  std::uint64_t tasks_withdrawn = 0;  ///< times a planned task returned to the scheduler
  std::uint64_t tasks_aborted = 0;    ///< times a worker stopped a task because the scheduler asked for it
  std::uint64_t most_live_tasks = 0;  ///< submitted and not ended, at the peak
  std::vector<LinkStatistics> links;
  LinkStatistics outgoing_values;  ///< values sent to other processes
  std::vector<NodeStatistics> nodes;
  BookingStatistics booking;
};

}  // namespace granary::detail
