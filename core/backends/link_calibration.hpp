// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/backend.hpp>

#include <chrono>
#include <functional>

namespace granary::detail {

/// The time model of a link's copies: `latency` + bytes / `bytes_per_second`.
struct GRANARY_EXPORT LinkSpeed {
  double bytes_per_second = 0;
  Duration latency{0};
};

struct GRANARY_EXPORT CalibrationOptions {
  unsigned width = 1;                             ///< concurrent copies for the bandwidth, at least 1
  Bytes least = 4096;                             ///< bytes of the copies that measure the latency
  Bytes largest = Bytes{1} << 22;                 ///< of the longest copies; a multiple of `least`
  Duration time = std::chrono::milliseconds(50);  ///< no round starts that would likely end after this
};

/// The request of one of `width` copies that may be active together.
using CalibrationRequest = std::function<CopyRequest(unsigned lane, Bytes bytes)>;

/// Times copies as the backend performs them. The latency is the minimum over single short copies; the bandwidth is the
/// best of rounds of `width` copies, where each round doubles the size. Rethrows the exception of a failed copy.
[[nodiscard]] GRANARY_EXPORT LinkSpeed measure_link(CopyBackend& backend, CalibrationRequest const& request,
                                                    CalibrationOptions const& options = {});

/// The speed of HostCopies between two places of host memory.
[[nodiscard]] GRANARY_EXPORT LinkSpeed measure_host_memory(Duration time = std::chrono::milliseconds(50));

}  // namespace granary::detail
