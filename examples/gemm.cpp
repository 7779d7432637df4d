// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C = A B with three matrices in files; the memory limit holds an eighth of one. Argument: their order (default 1024).
#include <granary/granary.hpp>
#include <granary/linalg.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

namespace {

using granary::Op;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

constexpr std::uint64_t tile = 128;

// Writes a matrix of random numbers in [-1, 1]; in your own application the files exist already.
void write_input(granary::Runtime& runtime, std::string const& path, std::uint64_t n, std::uint64_t seed) {
  auto const name = "general:" + std::to_string(n) + ":" + std::to_string(seed);
  auto const numbers = granary::open_matrix<double>(runtime, name, "", {.tile = tile});
  auto file = granary::create_matrix<double>(runtime, n, n, {.tile = tile, .output = path});
  granary::copy(runtime, numbers, file);
  file.commit();
}

double sum_of_moduli(Vector const& x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.extent(0); ++i) sum += std::abs(x(i));
  return sum;
}

// |C x - A (B x)| / |C x| for a vector x, in the norm of sums: a check with matrix-vector products only.
template <class Matrix>
double check(granary::Runtime& runtime, Matrix const& a, Matrix const& b, Matrix const& c, std::uint64_t n) {
  Vector x("x", n), bx("B x", n), abx("A B x", n), cx("C x", n);
  for (std::uint64_t i = 0; i < n; ++i) x(i) = 1.0 / static_cast<double>(1 + i % 7);
  granary::gemm(runtime, Op::NoTrans, Op::NoTrans, 1.0, b, x, 0.0, bx);
  granary::gemm(runtime, Op::NoTrans, Op::NoTrans, 1.0, a, bx, 0.0, abx);
  granary::gemm(runtime, Op::NoTrans, Op::NoTrans, 1.0, c, x, 0.0, cx);
  auto const size = sum_of_moduli(cx);
  for (std::uint64_t i = 0; i < n; ++i) cx(i) -= abx(i);
  return sum_of_moduli(cx) / size;
}

int multiply(std::uint64_t n) {
  auto const matrix_bytes = n * n * sizeof(double);
  granary::Runtime runtime(
      {.host_memory = std::max<granary::Bytes>(matrix_bytes / 8, 8 * tile * tile * sizeof(double))});
  write_input(runtime, "gemm-A.h5", n, 1);
  write_input(runtime, "gemm-B.h5", n, 2);
  auto const before = runtime.figures().bytes_read;

  // [gemm]
  auto A = granary::open_matrix<double>(runtime, "gemm-A.h5", "/A", {.tile = tile});
  auto B = granary::open_matrix<double>(runtime, "gemm-B.h5", "/A", {.tile = tile});
  auto C = granary::create_matrix<double>(runtime, n, n, {.tile = tile, .output = "gemm-C.h5", .output_dataset = "C"});
  granary::gemm(runtime, Op::NoTrans, Op::NoTrans, 1.0, A, B, 0.0, C);
  C.commit();  // gemm-C.h5 has the product
  // [gemm]
  auto const read = runtime.figures().bytes_read - before;
  using granary::format_bytes;
  std::printf("three matrices of %s in %s of memory: %s read from files\n", format_bytes(matrix_bytes).c_str(),
              format_bytes(runtime.figures().host_memory_peak).c_str(), format_bytes(read).c_str());

  auto const product = granary::open_matrix<double>(runtime, "gemm-C.h5", "/C", {.tile = tile});
  auto const difference = check(runtime, A, B, product, n);
  std::printf("|C x - A (B x)| / |C x| = %.2g\n", difference);
  return difference < 1e-12 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  int status = 2;
  try {
    status = multiply(argc > 1 ? std::stoull(argv[1]) : 1024);
  } catch (std::exception const& error) {
    std::fprintf(stderr, "gemm: %s\n", error.what());
  }
  for (auto const* file : {"gemm-A.h5", "gemm-B.h5", "gemm-C.h5"}) std::filesystem::remove(file);
  return status;
}
