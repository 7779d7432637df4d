// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A BLAS for LD_PRELOAD that says that it is an OpenBLAS with kernels for many processors, and that has chosen the
// slowest ones. The next BLAS computes. Each process that loads it adds a line to the file in TEST_BLAS_LOG.
#include <dlfcn.h>

#include <cstdlib>
#include <fstream>

namespace {

[[maybe_unused]] bool const logged = [] {
  if (char const* const file = std::getenv("TEST_BLAS_LOG")) std::ofstream(file, std::ios::app) << "loaded\n";
  return true;
}();

}  // namespace

extern "C" {

char const* openblas_get_config() { return "OpenBLAS 9.8.7 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY Test MAX_THREADS=64"; }

char const* openblas_get_corename() {
  char const* const stubborn = std::getenv("TEST_BLAS_KERNELS");
  char const* const kernels = stubborn != nullptr ? stubborn : std::getenv("OPENBLAS_CORETYPE");
  return kernels == nullptr ? "Prescott" : kernels;
}

void dgemm_(char const* op_a, char const* op_b, int const* m, int const* n, int const* k, double const* alpha,
            double const* a, int const* lda, double const* b, int const* ldb, double const* beta, double* c,
            int const* ldc) {
  static auto* const next = reinterpret_cast<decltype(&dgemm_)>(::dlsym(RTLD_NEXT, "dgemm_"));
  next(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
}
