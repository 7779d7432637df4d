// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/planner/options.hpp>

#include <algorithm>
#include <string>

namespace granary::test {

using namespace detail;

/// Any policy, with thresholds that are the default, one byte, or up to `most` bytes, and often few live tasks.
inline BookingOptions draw_booking(Random& random, Bytes most) {
  BookingOptions drawn;
  if (random.chance(0.4))
    drawn.policy = random.chance(0.5) ? BookingOptions::Policy::Paper : BookingOptions::Policy::None;
  if (random.chance(0.5)) drawn.sleep = random.chance(0.3) ? 1 : 1 + random.below(most);
  if (random.chance(0.3)) drawn.wakeup = 1 + random.below(drawn.sleep > 0 ? drawn.sleep : most);
  if (random.chance(0.4)) drawn.max_live_tasks = 1 + random.below(random.chance(0.5) ? 4 : 40);
  return drawn;
}

inline std::string to_text(BookingOptions const& options) {
  return "booking " + std::string(name_of(options.policy)) + ", sleep " + std::to_string(options.sleep) + ", wakeup " +
         std::to_string(options.wakeup) + ", " + std::to_string(options.max_live_tasks) + " live tasks";
}

}  // namespace granary::test
