// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>

namespace granary::detail {

/// Where a thread sleeps until others have work for it.
struct Bell {
  alignas(64) std::atomic<std::uint32_t> sleeping = 0;

  /// Wakes the thread if it sleeps; returns whether it did.
  bool ring() {
    if (!silence()) return false;
    sleeping.notify_one();
    return true;
  }
  /// Whether the thread sleeps and nobody else has taken it upon them to wake it; if so, the caller has to.
  bool silence() { return sleeping.load() != 0 && sleeping.exchange(0) != 0; }
};

}  // namespace granary::detail
