// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <cstddef>
#include <utility>

namespace granary::detail {

/// Detects that an application submits many tasks, compared with the tasks that end: then more come soon, and decisions
/// for all of them together are better made later.
class GRANARY_EXPORT Bursts {
 public:
  void submitted() { ++m_now; }
  void finished() { m_last = std::exchange(m_now, 0); }
  /// No more tasks come for now.
  void end() { m_now = m_last = 0; }
  /// More than a few tasks were submitted since the last one ended, or between the last two ends.
  [[nodiscard]] bool more_come() const { return m_now > few || m_last > few; }

 private:
  static constexpr std::size_t few = 16;
  std::size_t m_now = 0;   // since the last task ended
  std::size_t m_last = 0;  // between the ends of the last two
};

}  // namespace granary::detail
