// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fits a polynomial to points in a View, then a linear model to a matrix in a file that is larger than the memory
// limit.
#include <granary/granary.hpp>
#include <granary/linalg.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  using namespace granary::literals;
  std::size_t const points = 10'000, degree = 3;
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> a_view("powers", points, degree + 1);
  Kokkos::View<double*, Kokkos::HostSpace> b_view("values", points), x_view("coefficients", degree + 1);
  for (std::size_t i = 0; i < points; ++i) {
    double const t = 2.0 * static_cast<double>(i) / static_cast<double>(points) - 1;
    for (std::size_t j = 0; j <= degree; ++j) a_view(i, j) = std::pow(t, static_cast<double>(j));
    b_view(i) = 1 + t * (2 + t * (3 + t * 4));
  }
  double error = 0;
  {
    granary::Runtime runtime({.host_memory = 1_MiB});
    // [gels]
    auto const fit = granary::gels(runtime, a_view, b_view, x_view);  // a is m x n with m >= n
    std::printf("residual %.1g, condition %.3g\n", fit.residual_norms[0], fit.condition);
    // [gels]
  }
  for (std::size_t j = 0; j <= degree; ++j) error += std::abs(x_view(j) - static_cast<double>(j + 1));
  {
    granary::Runtime runtime({.host_memory = 1_MiB});
    auto A = granary::create_matrix<double>(runtime, 100'003, 20, {.tile = 1024, .output = "least-squares-A.h5"});
    granary::copy(runtime, granary::open_matrix<double>(runtime, "general:100003x20", "", {.tile = 1024}), A);
    A.commit();
    auto const data = granary::open_matrix<double>(runtime, "least-squares-A.h5", "/A", {.tile = 1024});
    auto const ones = granary::open_matrix<double>(runtime, "general:100003x1", "", {.tile = 1024});
    Kokkos::View<double*, Kokkos::HostSpace> x("x", 20);
    auto const before = runtime.figures().bytes_read;
    auto const fit = granary::gels(runtime, data, ones, x);
    std::printf("a file of %.1f MiB, read %.2f times in 1 MiB of memory, condition %.3f\n",
                100'003 * 20 * 8 / 1048576.0,
                static_cast<double>(runtime.figures().bytes_read - before) / (100'003 * 20 * 8.0), fit.condition);
  }
  std::filesystem::remove("least-squares-A.h5");
  std::printf("coefficients are wrong by %.1g\n", error);
  return error < 1e-12 ? 0 : 1;
}
