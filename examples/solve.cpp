// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Solves a positive definite system: Views in place, then a matrix in a file, in mixed precision.
#include <granary/granary.hpp>
#include <granary/linalg.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  using granary::Uplo;
  using namespace granary::literals;
  granary::write_random_spd("solve-A.h5", 1024, 128, 1, granary::ScalarType::Float64);

  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> a_view("A", 500, 500);
  for (std::size_t i = 0; i < 500; ++i) a_view(i, i) = 4.0;
  Kokkos::View<double*, Kokkos::HostSpace> b_view("b", 500);
  Kokkos::deep_copy(b_view, 8.0);
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> right_sides("B", 1024, 3);
  Kokkos::deep_copy(right_sides, 1.0);

  double residual = 0;
  {
    // [solve]
    granary::Runtime runtime({.host_memory = 4_MiB});
    granary::posv(runtime, Uplo::Lower, a_view, b_view);  // Views, in place: b_view is the solution

    auto A = granary::open_matrix<double>(runtime, "solve-A.h5", "/A", {.tile = 128});
    auto X = granary::create_matrix<double>(runtime, 1024, 3, {.tile = 128, .output = "solve-X.h5"});
    auto const report = granary::posv_mixed(runtime, Uplo::Lower, A, right_sides, X);
    if (!report.used_float) std::printf("solved in double precision: %s\n", report.reason.c_str());
    residual = granary::solve_residual(runtime, Uplo::Lower, A, X, right_sides);
    X.commit();  // solve-X.h5 has the solutions
    // [solve]
  }
  Kokkos::View<double*, Kokkos::HostSpace> variances("variances", 1024);
  {
    granary::Runtime runtime({.host_memory = 4_MiB});
    auto const A =
        granary::open_matrix<double>(runtime, "solve-A.h5", "/A", {.part = granary::MatrixPart::Lower, .tile = 128});
    // [inverse]
    double const norm = granary::lanhe(runtime, granary::Norm::One, Uplo::Lower, A);
    granary::potrf(runtime, Uplo::Lower, A);  // A = L L^T
    if (granary::pocon(runtime, Uplo::Lower, A, norm) < 1e-12) std::puts("A is close to singular");
    granary::inverse_diag(runtime, Uplo::Lower, A, variances);  // reads the factor
    granary::potri(runtime, Uplo::Lower, A);                    // the whole inverse, in place of the factor
    // [inverse]
    Kokkos::View<double*, Kokkos::HostSpace> diagonal("diagonal", 1024);
    granary::diag(runtime, A, diagonal);
    for (std::size_t i = 0; i < 1024; ++i) residual += std::abs(diagonal(i) - variances(i)) / variances(i);
  }
  std::filesystem::remove("solve-A.h5");
  std::filesystem::remove("solve-X.h5");
  std::printf("|b - A x| / (eps |A| |x|) = %.2g\n", residual);
  return residual < 30 && b_view(499) == 2.0 ? 0 : 1;
}
