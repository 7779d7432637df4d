// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/kokkos_start.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

namespace granary {

using namespace detail;

namespace {

TEST(KokkosStart, NothingIsInTheWayWhereKokkosRuns) {
  ASSERT_TRUE(Kokkos::is_initialized());
  EXPECT_EQ(kokkos_obstacle(), std::nullopt);
}

}  // namespace
}  // namespace granary
