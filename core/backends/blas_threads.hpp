// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/export.hpp>

namespace granary {

/// Limits the process's BLAS to `threads` threads per call: OpenBLAS, MKL and BLIS, looked up at run time; others are
/// not changed. Throws InvalidArgument for fewer than 1.
GRANARY_EXPORT void set_blas_threads(int threads);

/// The current number of threads per call of the process's BLAS; 0 if it is none of the three (or a BLIS where it is
/// not set).
[[nodiscard]] GRANARY_EXPORT int blas_threads();

/// Limits the process's BLAS to one thread per call while the object lives, so that the workers' kernels do not compete
/// for cores; the destructor restores the previous number.
class GRANARY_EXPORT SingleThreadedBlas {
 public:
  SingleThreadedBlas();
  ~SingleThreadedBlas();
  SingleThreadedBlas(SingleThreadedBlas const&) = delete;
  SingleThreadedBlas& operator=(SingleThreadedBlas const&) = delete;
};

}  // namespace granary
