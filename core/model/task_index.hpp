// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>

#pragma GCC visibility push(default)

namespace granary {

/// The position of a task in its algorithm, for traces: i and j, the row and column of what it writes, and k, the step;
/// -1 where an algorithm has no such number.
using TaskIndex = std::array<std::int32_t, 3>;
inline constexpr TaskIndex no_index{-1, -1, -1};

}  // namespace granary

#pragma GCC visibility pop
