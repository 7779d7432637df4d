// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <ctime>

namespace granary {

/// The processor time of the calling thread, in seconds. It stands still while the thread waits for a core, so that
/// other programs hardly change the difference between two calls.
[[nodiscard]] inline double processor_seconds() {
  std::timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace granary
