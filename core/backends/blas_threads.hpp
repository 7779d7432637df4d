// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#pragma GCC visibility push(default)

namespace granary {

/// Holds the process's BLAS to that many threads per call: OpenBLAS, MKL and BLIS, looked up at run time; others are
/// left alone. Throws InvalidArgument for fewer than 1.
void set_blas_threads(int threads);

/// Threads per call of the process's BLAS as it stands; 0 where it is none of the three (or, of BLIS, not set).
[[nodiscard]] int blas_threads();

/// Holds the process's BLAS to one thread per call while it lives, so that the workers' kernels do not fight for cores;
/// then gives it its threads back.
class SingleThreadedBlas {
 public:
  SingleThreadedBlas();
  ~SingleThreadedBlas();
  SingleThreadedBlas(SingleThreadedBlas const&) = delete;
  SingleThreadedBlas& operator=(SingleThreadedBlas const&) = delete;
};

}  // namespace granary

#pragma GCC visibility pop
