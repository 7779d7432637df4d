// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/io_bounds.hpp>

#include <gtest/gtest.h>

namespace granary {
namespace {

TEST(IoBounds, AgreeWithTheFormulasComputedByHand) {
  // n = 12288 in double under 150 MB: M = 18.75e6 elements, sqrt(M) = 4330.127, n^3 = 1.855426e12.
  EXPECT_NEAR(static_cast<double>(cholesky_io_bound(12288, 150'000'000, 8)), 0.80799e9, 1e5);
  EXPECT_NEAR(static_cast<double>(cholesky_io_bound_nonsymmetric(12288, 150'000'000, 8)), 1.14267e9, 1e5);
  EXPECT_EQ(cholesky_compulsory(12288, 8), 604'028'928U);
}

TEST(IoBounds, FourTimesTheMemoryHalvesTheBound) {
  auto const once = static_cast<double>(cholesky_io_bound(4096, 1_MiB, 4));
  auto const half = static_cast<double>(cholesky_io_bound(4096, 4_MiB, 4));
  EXPECT_NEAR(once / half, 2, 1e-6);
}

TEST(IoBounds, FlopsOfSmallMatricesAreExact) {
  EXPECT_DOUBLE_EQ(cholesky_flops(1), 1);  // one square root
  EXPECT_DOUBLE_EQ(cholesky_flops(2), 5);  // 2 roots, 1 division, 1 multiplication, 1 subtraction
  EXPECT_DOUBLE_EQ(cholesky_flops(3), 14);
}

}  // namespace
}  // namespace granary
