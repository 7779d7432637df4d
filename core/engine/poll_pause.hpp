// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/planner_lock.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace granary::detail {

/// The pauses of a polling thread: none (it spins) for the first `spin`, then a quarter of the time waited so far, at
/// least 50 µs and at most `longest_nap`. So short waits end at once, and long ones cost little processor time.
class GRANARY_EXPORT PollPause {
 public:
  /// `longest_nap` bounds the delay for work that begins meanwhile.
  explicit PollPause(Duration longest_nap, Duration spin = std::chrono::microseconds(20))
      : m_longest_nap(longest_nap), m_spin(spin) {}

  /// A result arrived, or there is something new to wait for.
  void progress() { m_since = Clock::now(); }
  /// How long to sleep now; 0: spin.
  [[nodiscard]] Duration nap() const {
    auto const waited = Clock::now() - m_since;
    return waited < m_spin ? Duration{0} : std::clamp<Duration>(waited / 4, shortest_nap, m_longest_nap);
  }
  void pause() const {
    auto const time = nap();
    time > Duration{0} ? std::this_thread::sleep_for(time) : spin_pause();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Duration shortest_nap = std::chrono::microseconds(50);

  Duration m_longest_nap, m_spin;
  Clock::time_point m_since = Clock::now();
};

}  // namespace granary::detail
