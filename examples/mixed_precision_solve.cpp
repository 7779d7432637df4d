// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A X = B, solved in double precision, and in single precision with refinement. The latter is as accurate; the
// factorization takes half the memory and half the time, and each refinement reads A once more. A is a matrix in a
// file, larger than the memory limit. Argument: its order (default 1024).
#include <granary/granary.hpp>
#include <granary/linalg.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

namespace {

using granary::Op;
using Columns = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

constexpr std::uint64_t tile = 128;
constexpr char const* path = "mixed-A.h5";

// Writes a matrix of random numbers in [-1, 1]; in your own application the files exist already.
void write_input(granary::Runtime& runtime, std::uint64_t n) {
  auto const numbers = granary::open_matrix<double>(runtime, "general:" + std::to_string(n), "", {.tile = tile});
  auto file = granary::create_matrix<double>(runtime, n, n, {.tile = tile, .output = path});
  granary::copy(runtime, numbers, file);
  file.commit();
}

void print(char const* precision, granary::Bytes moved, double residual) {
  std::printf("%s: %s moved between memory and disk, |b - A x| / (eps |A| |x|) = %.2g\n", precision,
              granary::format_bytes(moved).c_str(), residual);
}

int solve(std::uint64_t n) {
  auto const limit = std::max<granary::Bytes>(n * n * sizeof(double) / 4, 12 * tile * tile * sizeof(double));
  granary::Runtime runtime({.host_memory = limit});
  write_input(runtime, n);
  Columns b("B", n, 2), x_double("X", n, 2), x_mixed("X", n, 2);
  Kokkos::deep_copy(b, 1.0);
  Kokkos::deep_copy(x_double, b);
  auto const moved = [&] { return runtime.figures().bytes_read + runtime.figures().bytes_written; };

  auto start = moved();
  {
    auto A = granary::open_matrix<double>(runtime, path, "/A", {.tile = tile});
    static_cast<void>(granary::gesv(runtime, A, x_double));  // A's tiles now hold the factors; the file is unchanged
  }
  auto const in_double = moved() - start;

  // [mixed]
  start = moved();
  auto A = granary::open_matrix<double>(runtime, path, "/A", {.tile = tile});
  auto const report = granary::gesv_mixed(runtime, A, b, x_mixed);
  // [mixed]
  auto const in_mixed = moved() - start;

  auto const residual_double = granary::solve_residual(runtime, Op::NoTrans, A, x_double, b);
  auto const residual_mixed = granary::solve_residual(runtime, Op::NoTrans, A, x_mixed, b);
  print("double", in_double, residual_double);
  print("mixed ", in_mixed, residual_mixed);
  std::printf(report.used_float ? "%d refinements were enough\n" : "solved in double after %d refinements\n",
              report.iterations);
  if (!report.used_float) std::printf("%s\n", report.reason.c_str());
  return residual_double < 30 && residual_mixed < 30 && report.used_float ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  int status = 2;
  try {
    status = solve(argc > 1 ? std::stoull(argv[1]) : 1024);
  } catch (std::exception const& error) {
    std::fprintf(stderr, "mixed_precision_solve: %s\n", error.what());
  }
  std::filesystem::remove(path);
  return status;
}
