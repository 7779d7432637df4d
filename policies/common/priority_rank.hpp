// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace granary::detail {

/// The rank for PlanBoard::insert that puts urgent tasks first. The two lowest priorities have the same rank, since the
/// lowest one has no negative.
[[nodiscard]] constexpr std::int64_t priority_rank(std::int64_t priority) {
  return -std::max(priority, -std::numeric_limits<std::int64_t>::max());
}

}  // namespace granary::detail
