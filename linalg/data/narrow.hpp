// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace granary {

/// The largest number in tiles, kernels and BLAS: they have 32-bit integers.
inline constexpr std::int32_t largest_int32 = std::numeric_limits<std::int32_t>::max();

/// Throws InvalidArgument, `<what> of <number> …`, if the number is larger than `largest_int32`, or smaller than
/// -2^31. `what` is a noun with its article, such as `a leading dimension`.
template <std::integral Integer>
[[nodiscard]] constexpr std::int32_t to_int32(Integer number, char const* what) {
  if (std::in_range<std::int32_t>(number)) return static_cast<std::int32_t>(number);
  throw InvalidArgument(std::string(what) + " of " + std::to_string(number) +
                        " is too large: the kernels count up to " + std::to_string(largest_int32));
}

}  // namespace granary
