// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>

namespace granary::detail {

/// A thread sleeps here until others have work for it.
struct Bell {
  alignas(64) std::atomic<std::uint32_t> sleeping = 0;

  /// Wakes the thread if it sleeps; returns whether it did.
  bool ring() {
    if (!silence()) return false;
    sleeping.notify_one();
    return true;
  }
  /// True if the thread sleeps and nobody else is about to wake it; then the caller must wake it.
  bool silence() { return sleeping.load() != 0 && sleeping.exchange(0) != 0; }
};

}  // namespace granary::detail
