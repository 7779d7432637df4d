// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <string>

namespace granary::detail {

/// Warns, once per process, if BLAS uses narrower vectors than the processor has and a variable of the environment
/// helps, unless it is set: with the speed of GEMM, the peak of a core, and the remedy. Warns of a BLAS that is none of
/// OpenBLAS, MKL and BLIS if it is slow, as the reference BLAS is, or runs threads of its own. Measures for some
/// milliseconds then, on one thread; otherwise it costs nothing after the first call.
GRANARY_EXPORT void warn_of_slow_blas();

/// A clause that compares GEMM's flop/s with the peak of fma_peak: as a part of the peak, unless GEMM exceeds it.
[[nodiscard]] GRANARY_EXPORT std::string describe_speed(double gemm, double peak);

}  // namespace granary::detail
