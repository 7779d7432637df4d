// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/linalg/kernels/kernel_speed.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace granary {

using namespace detail;

namespace {

// No time is asserted: only that these are speeds.
template <class T>
class KernelSpeed : public ::testing::Test {
 protected:
  static void expect_speed(double flops) {
    EXPECT_TRUE(std::isfinite(flops)) << flops;
    EXPECT_GT(flops, 0);
  }
};

using SpeedTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(KernelSpeed, SpeedTypes);

TYPED_TEST(KernelSpeed, ThePeakIsASpeed) { this->expect_speed(fma_peak<TypeParam>()); }

TYPED_TEST(KernelSpeed, EachKernelHasASpeed) {
  BlasLimit const one_thread(1);
  for (int const tile : {32, 65}) {
    auto const speeds = measure_kernels<TypeParam>(tile);
    EXPECT_EQ(speeds.tile, tile);
    for (double const flops : {speeds.gemm, speeds.syrk, speeds.trsm, speeds.potrf}) this->expect_speed(flops);
    this->expect_speed(measure_gemm<TypeParam>(tile));
  }
}

}  // namespace
}  // namespace granary
