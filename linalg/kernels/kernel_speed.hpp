// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

/// How fast one core computes tiles. Nothing here changes the number of BLAS' threads: hold it to one
/// (BlasLimit) for the speed of a core. Times are processor times of the calling thread (processor_time.hpp).
namespace granary {

/// Flop/s of loops of independent multiplications and additions, fused where the processor can: the fastest of those
/// with the vectors that it has. T is float or double. Takes some milliseconds.
template <class T>
[[nodiscard]] GRANARY_EXPORT double fma_peak();

/// Flop/s of GEMM on tiles of order `tile` on one thread, the best of five calls.
template <class T>
[[nodiscard]] GRANARY_EXPORT double measure_gemm(int tile);

/// Flop/s of one thread with tiles of order `tile`, column-major.
struct GRANARY_EXPORT KernelSpeeds {
  int tile = 0;
  double gemm = 0;   ///< C := C - A B^T
  double syrk = 0;   ///< C := C - A A^T, one triangle
  double trsm = 0;   ///< X L^T = B
  double potrf = 0;  ///< Cholesky factorization
};

/// The speeds of the kernels of tile_kernels.hpp on the same tiles again and again, each the best of five calls. Takes
/// about 22 tile³ flops, with tiles of 512 a twentieth of a second.
template <class T>
[[nodiscard]] GRANARY_EXPORT KernelSpeeds measure_kernels(int tile);

}  // namespace granary
