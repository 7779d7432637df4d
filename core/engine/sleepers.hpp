// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/engine/planner_lock.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace granary {

/// Threads that sleep until a condition on the planner's state is met.
class Sleepers {
 public:
  /// Under the planner's lock: whether a thread sleeps, and must be woken by `wake` after the lock was released.
  [[nodiscard]] bool any() const { return m_sleeping > 0; }
  void announce() { m_epoch.fetch_add(1); }
  void wake() { m_epoch.notify_all(); }

  /// Sleeps until `locked(look)`, which calls `look` under the planner's lock and returns its result, gives true.
  /// Spins for `spin` before each sleep.
  template <class Locked, class Condition>
  void sleep_until(Locked&& locked, Condition&& met, std::chrono::nanoseconds spin) {
    bool counted = false;
    for (;;) {
      std::uint32_t seen = 0;
      bool const done = locked([&] {
        if (counted) --m_sleeping;
        counted = false;
        if (met()) return true;
        counted = true;
        ++m_sleeping;
        seen = m_epoch.load();
        return false;
      });
      if (done) return;
      auto const give_up = std::chrono::steady_clock::now() + spin;
      while (m_epoch.load() == seen && std::chrono::steady_clock::now() < give_up) spin_pause();
      m_epoch.wait(seen);
    }
  }

 private:
  std::uint32_t m_sleeping = 0;  // under the planner's lock
  alignas(64) std::atomic<std::uint32_t> m_epoch = 0;
};

}  // namespace granary
