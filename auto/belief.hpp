// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/units.hpp>

#include <cstddef>
#include <vector>

namespace granary::detail {

/// How a run should go on, as it was simulated, compared with how it does.
class Belief {
 public:
  /// The simulated run begins now; `ends` are the times until so many of its tasks have ended.
  void begin(std::vector<Duration> ends, Instant now);
  /// Nothing is believed any more. Returns the seconds that a second of work has taken since `begin`, infinite if none
  /// was done.
  double forget(Instant now);
  [[nodiscard]] bool holds() const { return !m_ends.empty(); }
  /// A task has ended, which takes so many seconds on its fastest kind of worker.
  void ended(double work_seconds, Instant now);
  /// True if the run has taken another time than was simulated, by more than a fifth.
  [[nodiscard]] bool departed() const { return m_departed; }

 private:
  std::vector<Duration> m_ends;
  Instant m_begun{};
  Instant m_compared_from{};
  double m_done = 0;             // seconds of work
  std::size_t m_ended = 0;       // tasks
  std::size_t m_compare_at = 0;  // so many
  bool m_departed = false;
};

}  // namespace granary::detail
