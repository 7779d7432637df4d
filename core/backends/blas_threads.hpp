// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

namespace granary::detail {

/// Limits the process's BLAS to `threads` threads per call: OpenBLAS, MKL and BLIS, looked up at run time; others are
/// not changed. Throws InvalidArgument for fewer than 1.
GRANARY_EXPORT void set_blas_threads(int threads);

/// The current number of threads per call of the process's BLAS; 0 if it is none of the three (or a BLIS where it is
/// not set).
[[nodiscard]] GRANARY_EXPORT int blas_threads();

/// True if several threads may call the process's BLAS at once, each with BLAS threads of its own: MKL, and OpenBLAS
/// that was built with OpenMP. With the threads of its own that OpenBLAS has otherwise, calls wait for each other.
[[nodiscard]] GRANARY_EXPORT bool blas_has_threads_by_caller();

/// True if each thread has its own number of BLAS threads: OpenBLAS that was built with OpenMP takes OpenMP's number,
/// which belongs to the calling thread, and a limit set by one thread does not hold on another.
[[nodiscard]] GRANARY_EXPORT bool blas_threads_differ_by_caller();

/// Makes the current BlasLimit hold on the calling thread, too, with such a library; its own OpenMP regions then have
/// as many threads. Every thread that runs kernels calls it first.
GRANARY_EXPORT void hold_blas_limit();

/// Limits the process's BLAS to that many threads per call while the object lives, so that the workers' kernels do not
/// compete for cores. Of several such limits the lowest holds; after the last one the previous number does again.
class GRANARY_EXPORT BlasLimit {
 public:
  /// At least 1 thread.
  explicit BlasLimit(int threads);
  ~BlasLimit();
  BlasLimit(BlasLimit const&) = delete;
  BlasLimit& operator=(BlasLimit const&) = delete;

 private:
  int m_threads;
};

}  // namespace granary::detail
