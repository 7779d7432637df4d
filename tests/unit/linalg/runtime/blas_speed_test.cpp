// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/runtime/blas_speed.hpp>

#include <gtest/gtest.h>

namespace granary::detail {
namespace {

TEST(DescribeSpeed, IsAPartOfThePeak) {
  EXPECT_EQ(describe_speed(71.2e9, 89.5e9), "GEMM makes 71 of the 90 GFlop/s of a core");
  EXPECT_EQ(describe_speed(89e9, 89e9), "GEMM makes 89 of the 89 GFlop/s of a core");
}

TEST(DescribeSpeed, WhatExceedsThePeakIsNoPartOfIt) {
  EXPECT_EQ(describe_speed(16e9, 13e9), "GEMM makes 16 GFlop/s, where multiply-adds of one thread make 13");
}

}  // namespace
}  // namespace granary::detail
