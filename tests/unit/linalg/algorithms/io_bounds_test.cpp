// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/algorithms/io_bounds.hpp>

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

TEST(IoBounds, OfLuAndGemmAgreeWithTheFormulasComputedByHand) {
  // M = 10^6 elements, sqrt(M) = 1000; n^3 = 2.7e10.
  EXPECT_NEAR(static_cast<double>(lu_io_bound(3000, 4'000'000, 4)), 4 * 1.8e7, 1);
  EXPECT_NEAR(static_cast<double>(gemm_io_bound(1000, 2000, 3000, 8'000'000, 8)), 8 * 1.2e7, 1);
  EXPECT_EQ(lu_compulsory(3000, 4), 36'000'000U);
  // LU is two Cholesky factorizations that ignore the symmetry.
  EXPECT_NEAR(static_cast<double>(lu_io_bound(3000, 4'000'000, 4)),
              2 * static_cast<double>(cholesky_io_bound_nonsymmetric(3000, 4'000'000, 4)), 2);
}

TEST(IoBounds, OfSeveralMemories) {
  auto const bound = [](Bytes memory) { return lu_io_bound(3000, memory, 4); };
  auto const one = io_bound_of_memories(bound, 4'000'000, 1);
  EXPECT_EQ(one.all, bound(4'000'000));
  EXPECT_EQ(one.busiest, one.all);
  EXPECT_EQ(one.from_outside, one.all);
  auto const four = io_bound_of_memories(bound, 4'000'000, 4);
  EXPECT_EQ(four.all, one.all);
  EXPECT_EQ(four.busiest, one.all / 4);
  EXPECT_NEAR(static_cast<double>(four.from_outside), static_cast<double>(one.all) / 2, 1);
}

TEST(IoBounds, RefuseWhatIsNoMemory) {
  auto const bound = [](Bytes memory) { return cholesky_io_bound(100, memory, 8); };
  EXPECT_THROW((void)bound(7), InvalidArgument);
  EXPECT_NO_THROW((void)bound(8));
  EXPECT_THROW((void)lu_io_bound(100, 800, 0), InvalidArgument);
  EXPECT_THROW((void)gemm_io_bound(1U << 31, 1U << 31, 1U << 31, 8, 8), InvalidArgument);
  EXPECT_THROW((void)io_bound_of_memories(bound, 800, 0), InvalidArgument);
  EXPECT_THROW((void)io_bound_of_memories(bound, Bytes{1} << 62U, 4), InvalidArgument);
}

TEST(IoBounds, FlopsOfSmallMatricesAreExact) {
  EXPECT_DOUBLE_EQ(cholesky_flops(1), 1);  // one square root
  EXPECT_DOUBLE_EQ(cholesky_flops(2), 5);  // 2 roots, 1 division, 1 multiplication, 1 subtraction
  EXPECT_DOUBLE_EQ(cholesky_flops(3), 14);
}

}  // namespace
}  // namespace granary
