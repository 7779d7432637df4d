// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A slow BLAS for LD_PRELOAD of which nothing is known but its name; the next BLAS has all functions but this one. With
// TEST_BLAS_INSTANT it computes nothing, faster than any core, but for small matrices. With TEST_BLAS_WRONG it is
// wrong, ends the process, or calls a function that is nowhere. With TEST_BLAS_INTEGERS=64 its integers have 64 bits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

std::size_t entry(int row, int column, int rows) {
  return static_cast<std::size_t>(row) + static_cast<std::size_t>(column) * static_cast<std::size_t>(rows);
}

std::string variable(char const* name) {
  char const* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::int64_t as_64_bits(int const* number) {
  std::int64_t wide = 0;
  std::memcpy(&wide, number, sizeof(wide));
  return wide;
}

// Element (i, j) of op(A).
double at(char op, double const* a, int lda, int i, int j) {
  return a[op == 'N' ? entry(i, j, lda) : entry(j, i, lda)];
}

}  // namespace

extern "C" void granary_function_that_no_library_has();

extern "C" void dgemm_(char const* op_a, char const* op_b, int const* m, int const* n, int const* k,
                       double const* alpha, double const* a, int const* lda, double const* b, int const* ldb,
                       double const* beta, double* c, int const* ldc) {
  std::string const wrong = variable("TEST_BLAS_WRONG");
  if (wrong == "crash") std::abort();
  if (wrong == "stop") std::_Exit(0);
  if (wrong == "symbol") granary_function_that_no_library_has();
  if (wrong == "results" || (!variable("TEST_BLAS_INSTANT").empty() && *n > 10)) return;
  if (variable("TEST_BLAS_INTEGERS") == "64" && (as_64_bits(m) < 0 || as_64_bits(n) < 0 || as_64_bits(k) < 0)) return;
  for (int j = 0; j < *n; ++j) {
    for (int i = 0; i < *m; ++i) {
      double volatile sum = 0;  // no compiler makes it fast
      for (int l = 0; l < *k; ++l) sum = sum + at(*op_a, a, *lda, i, l) * at(*op_b, b, *ldb, l, j);
      auto& result = c[entry(i, j, *ldc)];
      result = *alpha * sum + (*beta == 0 ? 0 : *beta * result);
    }
  }
}
