// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A BLAS for LD_PRELOAD that says that it is an OpenBLAS with kernels for many processors, and that has chosen the
// slowest ones. The next BLAS computes. Each process that loads it adds a line to the file in TEST_BLAS_LOG. With
// TEST_BLAS_OPENMP it says that it was built with OpenMP, and adds a line for a larger GEMM by a thread that may use
// several.
#include <dlfcn.h>

#include <cstdlib>
#include <fstream>

namespace {

[[maybe_unused]] bool const logged = [] {
  if (char const* const file = std::getenv("TEST_BLAS_LOG")) std::ofstream(file, std::ios::app) << "loaded\n";
  return true;
}();

thread_local int threads = 8;

template <class Function>
Function* next(Function*, char const* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int openblas_get_parallel() { return std::getenv("TEST_BLAS_OPENMP") == nullptr ? 1 : 2; }

int openblas_get_num_threads() { return threads; }

// Interposes OpenMP's, where the process has one.
void omp_set_num_threads(int number) {
  threads = number;
  if (auto* const others = next(&omp_set_num_threads, "omp_set_num_threads")) others(number);
}

void openblas_set_num_threads(int number) {
  threads = number;
  if (auto* const others = next(&openblas_set_num_threads, "openblas_set_num_threads")) others(number);
}

char const* openblas_get_config() { return "OpenBLAS 9.8.7 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY Test MAX_THREADS=64"; }

char const* openblas_get_corename() {
  char const* const stubborn = std::getenv("TEST_BLAS_KERNELS");
  char const* const kernels = stubborn != nullptr ? stubborn : std::getenv("OPENBLAS_CORETYPE");
  return kernels == nullptr ? "Prescott" : kernels;
}

void dgemm_(char const* op_a, char const* op_b, int const* m, int const* n, int const* k, double const* alpha,
            double const* a, int const* lda, double const* b, int const* ldb, double const* beta, double* c,
            int const* ldc) {
  bool const probes = *n < 10;  // before any limit
  if (openblas_get_parallel() == 2 && threads > 1 && !probes) {
    if (char const* const file = std::getenv("TEST_BLAS_LOG"))
      std::ofstream(file, std::ios::app) << "several threads\n";
  }
  static auto* const others = next(&dgemm_, "dgemm_");
  others(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
}
