// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace granary {

/// A driver that lets at most `limit` tasks live takes new ones when so few of them are left. So policies that plan
/// over the live tasks have nearly all of them at once: with a few new ones at a time superblock moves three times as
/// much (bench/simulator/live_tasks.csv). What is left keeps the workers busy meanwhile.
[[nodiscard]] constexpr std::uint64_t tasks_left(std::uint64_t limit) { return limit / 16; }

}  // namespace granary
