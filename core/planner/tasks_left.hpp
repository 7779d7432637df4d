// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace granary {

/// A driver that limits the live tasks to `limit` accepts new ones when only so few are left. So policies that plan
/// over the live tasks get nearly all of them at once: with a few new ones at a time superblock moves three times as
/// many bytes (bench/simulator/live_tasks.csv). The remaining tasks keep the workers busy meanwhile.
[[nodiscard]] constexpr std::uint64_t tasks_left(std::uint64_t limit) { return limit / 16; }

}  // namespace granary
