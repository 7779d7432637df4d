// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>
#include <granary/core/engine/backend.hpp>

#include <chrono>
#include <functional>

#pragma GCC visibility push(default)

namespace granary {

/// What a link's copies take: `latency` + bytes / `bytes_per_second`.
struct LinkSpeed {
  double bytes_per_second = 0;
  Duration latency{0};
};

struct CalibrationOptions {
  unsigned width = 1;                             ///< copies under way at once for the bandwidth, at least 1
  Bytes least = 4096;                             ///< bytes of the copies that measure the latency
  Bytes largest = Bytes{1} << 22;                 ///< of the longest copies; a multiple of `least`
  Duration time = std::chrono::milliseconds(50);  ///< no copies are started that would likely end after this
};

/// The request of one of `width` copies that may be under way together.
using CalibrationRequest = std::function<CopyRequest(unsigned lane, Bytes bytes)>;

/// Times copies as the backend performs them: the latency is the least of single short ones, the bandwidth the best of
/// rounds of `width` copies, each round with copies twice as long. Rethrows what a copy failed with.
[[nodiscard]] LinkSpeed measure_link(CopyBackend& backend, CalibrationRequest const& request,
                                     CalibrationOptions const& options = {});

/// The copies of HostCopies between two places of host memory.
[[nodiscard]] LinkSpeed measure_host_memory(Duration time = std::chrono::milliseconds(50));

}  // namespace granary

#pragma GCC visibility pop
