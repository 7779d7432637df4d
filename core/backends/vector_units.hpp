// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <cstdint>

namespace granary::detail {

/// The widest vector instructions for floating-point numbers on x86-64, in ascending order.
enum class GRANARY_EXPORT VectorUnits : std::uint8_t {
  Unknown,  ///< of another architecture, or of a library that does not tell
  Sse,      ///< 128 bits
  Avx,      ///< 256 bits, without fused multiply-add
  Avx2,     ///< 256 bits with fused multiply-add
  Avx512,   ///< 512 bits: F, CD, BW, DQ and VL
};

/// Their usual name; "unknown" if they are not.
[[nodiscard]] GRANARY_EXPORT char const* name_of(VectorUnits units);

/// The vector units that the processor has and the operating system allows (CPUID, XGETBV).
[[nodiscard]] GRANARY_EXPORT VectorUnits processor_vector_units();

}  // namespace granary::detail
