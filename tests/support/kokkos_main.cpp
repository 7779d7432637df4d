// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A GoogleTest main for tests that use Kokkos; exits with 77 if Kokkos cannot start.
#include <granary/detail/core/backends/kokkos_start.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  ::setenv("GRANARY_MODELS", "off", 0);  // without ctest: nothing is written to the user's cache
  ::testing::InitGoogleTest(&argc, argv);
  if (auto const obstacle = granary::detail::kokkos_obstacle()) {
    std::fprintf(stderr, "skipped: %s\n", obstacle->c_str());
    return 77;
  }
  Kokkos::initialize(argc, argv);
  int const failed = RUN_ALL_TESTS();
  Kokkos::finalize();
  return failed;
}
