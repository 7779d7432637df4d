// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/linalg/kernels/cold_kernels.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <span>
#include <vector>

namespace granary::cold_kernels_test {

using namespace detail;

namespace {

using Seconds = std::chrono::duration<double>;

// No time is asserted: only that these are speeds.
template <class T>
class ColdKernels : public ::testing::Test {
 protected:
  // The sizes that were measured.
  static std::vector<int> measure(std::span<int const> tiles, ColdKernelLimits const& limits) {
    BlasLimit const one_thread(1);
    std::vector<int> measured;
    for (auto const& speeds : measure_cold_kernels<T>(tiles, limits)) {
      measured.push_back(speeds.tile);
      for (double const flops : {speeds.gemm, speeds.syrk, speeds.trsm, speeds.potrf}) {
        EXPECT_TRUE(std::isfinite(flops)) << flops;
        EXPECT_GT(flops, 0);
      }
    }
    return measured;
  }
};

using ColdTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ColdKernels, ColdTypes);

// No memory at all, memory for a few tiles, and for more than are used.
TYPED_TEST(ColdKernels, EachSizeHasSpeeds) {
  std::vector const tiles{32, 65, 130};
  for (Bytes const memory : {Bytes{0}, 100_KiB, 4_MiB})
    EXPECT_EQ(this->measure(tiles, {.processor_time = Seconds(100), .memory = memory}), tiles);
}

TYPED_TEST(ColdKernels, WhatWouldExceedTheLimitIsLeftOut) {
  std::array const tiles{32, 512};
  EXPECT_EQ(this->measure(tiles, {.processor_time = Seconds(0), .memory = 1_MiB}), std::vector{32});
}

TYPED_TEST(ColdKernels, OfNoSizesThereAreNone) {
  EXPECT_TRUE(this->measure({}, {.processor_time = Seconds(1), .memory = 1_MiB}).empty());
}

}  // namespace
}  // namespace granary::cold_kernels_test
