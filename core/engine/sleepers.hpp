// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/engine/planner_lock.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace granary::detail {

/// Threads that sleep until conditions on the planner's state are met, one each.
class Sleepers {
 public:
  /// Under the planner's lock: whether a condition is met. `wake` must follow then, after the lock was released.
  [[nodiscard]] bool announce() {
    bool const met = std::ranges::any_of(m_conditions, [](auto const* condition) { return (*condition)(); });
    if (met) m_epoch.fetch_add(1);
    return met;
  }
  void wake() { m_epoch.notify_all(); }

  /// Sleeps until `met()` is true. `locked(look)` calls `look` under the planner's lock and returns its result. `met`
  /// is called under that lock, by other threads, too; it must not throw. Spins for `spin` before each sleep.
  template <class Locked>
  void sleep_until(Locked&& locked, std::function<bool()> const& met, std::chrono::nanoseconds spin) {
    for (bool listed = false;;) {
      std::uint32_t seen = 0;
      bool const done = locked([&] {
        if (listed) std::erase(m_conditions, &met);
        listed = !met();
        if (listed) m_conditions.push_back(&met);
        seen = m_epoch.load();
        return !listed;
      });
      if (done) return;
      auto const give_up = std::chrono::steady_clock::now() + spin;
      while (m_epoch.load() == seen && std::chrono::steady_clock::now() < give_up) spin_pause();
      m_epoch.wait(seen);
    }
  }

 private:
  std::vector<std::function<bool()> const*> m_conditions;  // under the planner's lock
  alignas(64) std::atomic<std::uint32_t> m_epoch = 0;
};

}  // namespace granary::detail
