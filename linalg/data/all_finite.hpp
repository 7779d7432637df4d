// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace granary::detail {

/// True if none of `count` floats or doubles is NaN or infinite. A number is finite unless all bits of its exponent are
/// set; adding one unit to such an exponent carries into the sign bit. Compilers vectorize this.
template <class R>
[[nodiscard]] bool all_finite(R const* values, std::uint64_t count) {
  using Bits = std::conditional_t<sizeof(R) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits exponent = sizeof(R) == 4 ? Bits{0x7f800000U} : static_cast<Bits>(0x7ff0000000000000U);
  constexpr Bits unit = exponent & (~exponent + 1);  // the exponent's lowest bit
  Bits carries = 0;
  for (std::uint64_t i = 0; i < count; ++i) carries |= (std::bit_cast<Bits>(values[i]) & exponent) + unit;
  return (carries & (exponent + unit)) == 0;
}

}  // namespace granary::detail
