// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factors a general matrix in a file that is larger than the memory for its tiles, and solves with the factors later.
#include <granary/granary.hpp>
#include <granary/linalg.hpp>

#include <cstdio>
#include <filesystem>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  using granary::Op;
  using namespace granary::literals;

  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> a_view("A", 800, 800);
  for (std::size_t i = 0; i < 800; ++i) {
    for (std::size_t j = 0; j < 800; ++j)
      a_view(i, j) = i + 1 == j || i == j + 799 ? 2.0 : 1.0 / static_cast<double>(1 + i + j);
  }
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> b_view("B", 800, 2);
  Kokkos::deep_copy(b_view, 1.0);

  double residual = 0;
  double solution = 0;
  {
    granary::Runtime runtime({.host_memory = 2_MiB});
    auto copy_of_a = granary::create_matrix<double>(runtime, 800, 800, {.tile = 128, .output = "lu-A.h5"});
    granary::copy(runtime, a_view, copy_of_a);
    copy_of_a.commit();

    // [lu]
    auto A = granary::open_matrix<double>(runtime, "lu-A.h5", "/A",
                                          {.tile = 128, .output = "lu-LU.h5", .output_dataset = "LU"});
    granary::Pivots const pivots = granary::getrf(runtime, A);
    A.add_pivots(pivots);
    A.commit();  // lu-LU.h5 has the factors and the row exchanges

    auto LU = granary::open_matrix<double>(runtime, "lu-LU.h5", "/LU", {.tile = 128});
    auto const exchanges = granary::open_pivots("lu-LU.h5", LU.tiles().grid());
    granary::getrs(runtime, Op::NoTrans, LU, exchanges, b_view);
    // [lu]
    residual = granary::getrf_residual(runtime, a_view, LU, &exchanges);
    Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> ones("ones", 800, 2);
    Kokkos::deep_copy(ones, 1.0);
    solution = granary::solve_residual(runtime, Op::NoTrans, a_view, b_view, ones);
  }
  std::filesystem::remove("lu-A.h5");
  std::filesystem::remove("lu-LU.h5");
  std::printf("|P A - L U| / (n eps |A|) = %.2g, |b - A x| / (eps |A| |x|) = %.2g\n", residual, solution);
  return residual < 30 && solution < 30 ? 0 : 1;
}
