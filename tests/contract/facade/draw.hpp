// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "contract/facade/program.hpp"

#include <cstdint>

namespace granary::facade_test {

/// The program of a seed: 20 to 150 steps on a random machine. `failing`: some of its tasks fail.
[[nodiscard]] Program draw_program(std::uint64_t seed, bool failing);

}  // namespace granary::facade_test
