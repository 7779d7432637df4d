// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/probe_blas.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace granary::app {
namespace {

// Exit statuses of a child. No library ends a process with the first one; Fortran's STOP ends it with 0.
constexpr int right_status = 42;
constexpr int wrong_status = 43;
// The dynamic loader's, if a library or a symbol is missing.
constexpr int loader_status = 127;
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

// The first line of a file, up to 300 bytes, without the name of the program before ": ".
std::string first_line(int file) {
  std::array<char, 300> buffer{};
  auto const size = ::pread(file, buffer.data(), buffer.size(), 0);
  if (size <= 0) return {};
  std::string_view line(buffer.data(), static_cast<std::size_t>(size));
  line = line.substr(0, line.find('\n'));
  auto const name = line.find(": ");
  return std::string(name == std::string_view::npos ? line : line.substr(name + 2));
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

std::string fault_in_child(std::function<void()> const& probe) {
  int const errors = ::memfd_create("errors", MFD_CLOEXEC);
  auto const child = ::fork();
  if (child == 0) {
    ::alarm(most_seconds);
    int const nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(nothing, STDOUT_FILENO);
    ::dup2(errors < 0 ? nothing : errors, STDERR_FILENO);
    probe();
    ::_exit(right_status);  // it cannot be asked
  }
  int status = 0;
  bool known = child > 0;
  while (known && ::waitpid(child, &status, 0) < 0) known = errno == EINTR;
  auto const line = first_line(errors);
  if (errors >= 0) ::close(errors);
  if (!known || (WIFEXITED(status) && WEXITSTATUS(status) == right_status)) return {};
  if (WIFEXITED(status) && WEXITSTATUS(status) == loader_status && !line.empty())
    return "the program does not load with it: " + line;
  return "a small GEMM, TRSM and POTRF with it end wrong or with a crash; granary needs a BLAS with 32-bit integers "
         "(LP64)";
}

}  // namespace granary::app
