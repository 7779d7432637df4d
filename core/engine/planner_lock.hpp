// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#pragma GCC visibility push(default)

namespace granary {

/// Tells the processor that this thread spins.
inline void spin_pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// The lock around the planner: held for a microsecond or so at a time, so that waiting threads spin before they sleep
/// (a futex: Drepper, "Futexes are tricky", mutex 2). All operations are sequentially consistent: the engine relies on
/// the order of "post an event, fail to lock" against "unlock, look for events".
class PlannerLock {
 public:
  bool try_lock() {
    std::uint32_t free = 0;
    return m_state.load(std::memory_order_relaxed) == 0 && m_state.compare_exchange_strong(free, 1);
  }
  void lock() {
    for (int spins = 0; spins < 2000; ++spins) {
      if (try_lock()) return;
      spin_pause();
    }
    while (m_state.exchange(2) != 0) m_state.wait(2);
  }
  void unlock() {
    if (m_state.exchange(0) == 2) m_state.notify_one();
  }

 private:
  std::atomic<std::uint32_t> m_state = 0;  // 0 free, 1 held, 2 held and perhaps waited for
};

}  // namespace granary

#pragma GCC visibility pop
