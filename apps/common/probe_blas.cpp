// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/probe_blas.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstddef>

namespace granary::app {
namespace {

// Exit statuses of a child. No library ends a process with the first one; Fortran's STOP ends it with 0.
constexpr int right_status = 42;
constexpr int wrong_status = 43;
constexpr unsigned most_seconds = 60;

constexpr int n = 6;

// An integer of Fortran. With 64 bits it would be negative.
struct Integer {
  int value;
  int behind = -1;
};

struct Matrix {
  double values[n * n] = {};
  double& operator()(int i, int j) { return values[i + n * j]; }
  double operator()(int i, int j) const { return values[i + n * j]; }
};

// L(i, j) of a lower triangle whose products are exact.
double lower(int i, int j) { return i < j ? 0 : i == j ? 2 : (i + 2 * j) % 3 - 1; }

bool same(Matrix const& a, Matrix const& b, bool triangle) {
  for (int j = 0; j < n; ++j) {
    for (int i = triangle ? j : 0; i < n; ++i) {
      if (!(std::abs(a(i, j) - b(i, j)) < 1e-12)) return false;
    }
  }
  return true;
}

template <class Function>
Function* find(char const* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

using Length = std::size_t;
using Gemm = void(char const*, char const*, int const*, int const*, int const*, double const*, double const*,
                  int const*, double const*, int const*, double const*, double*, int const*, Length, Length);
using Trsm = void(char const*, char const*, char const*, char const*, int const*, int const*, double const*,
                  double const*, int const*, double*, int const*, Length, Length, Length, Length);
using Potrf = void(char const*, int const*, double*, int const*, int*, Length);

}  // namespace

bool blas_is_right() {
  auto* const gemm = find<Gemm>("dgemm_");
  auto* const trsm = find<Trsm>("dtrsm_");
  auto* const potrf = find<Potrf>("dpotrf_");
  if (gemm == nullptr || trsm == nullptr || potrf == nullptr) return false;
  Matrix l, product;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      l(i, j) = lower(i, j);
      for (int k = 0; k < n; ++k) product(i, j) += lower(i, k) * lower(j, k);
    }
  }
  Integer const order{n};
  int const* const size = &order.value;
  double const one = 1, zero = 0;
  Matrix computed;
  gemm("N", "T", size, size, size, &one, l.values, size, l.values, size, &zero, computed.values, size, 1, 1);
  if (!same(computed, product, false)) return false;
  trsm("R", "L", "T", "N", size, size, &one, l.values, size, computed.values, size, 1, 1, 1, 1);
  if (!same(computed, l, false)) return false;
  Integer info{-1};
  computed = product;
  potrf("L", size, computed.values, size, &info.value, 1);
  return info.value == 0 && same(computed, l, true);
}

void report_blas() { ::_exit(blas_is_right() ? right_status : wrong_status); }

bool child_finds_blas_right(std::function<void()> const& probe) {
  auto const child = ::fork();
  if (child < 0) return true;
  if (child == 0) {
    ::alarm(most_seconds);
    int const nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int const standard : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, standard);
    probe();
    ::_exit(right_status);  // it cannot be asked
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return true;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == right_status;
}

}  // namespace granary::app
