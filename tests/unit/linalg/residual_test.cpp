// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/base/error.hpp>
#include <granary/linalg/residual.hpp>

#include <gtest/gtest.h>

#include "unit/linalg/bound_matrix.hpp"

namespace granary {
namespace {

using testing::Dense;
using testing::ImmediateSubmitter;

template <class T>
double tiled_residual(Dense<T> a, Dense<T> factor, std::uint64_t tile, Uplo uplo, std::uint64_t block) {
  ImmediateSubmitter submitter;
  auto const tiled_a = testing::bind_dense(submitter, a, tile, uplo);
  auto const tiled_l = testing::bind_dense(submitter, factor, tile, uplo);
  std::vector<ResidualSums> sums(block * block);
  std::vector<DataId> ids;
  for (auto& sum : sums) ids.push_back(submitter.bind("sum", sizeof(ResidualSums), &sum));
  submit_residual(submitter, add_residual_codelets<T>(submitter), tiled_a, tiled_l, ids);
  EXPECT_EQ(submitter.released.size(), block * block);
  return relative_residual<T>(a.n, sums);
}

template <class T>
class Residual : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Residual, Scalars);

TYPED_TEST(Residual, OfLapacksFactorIsWhatADirectComputationFinds) {
  using T = TypeParam;
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    for (std::uint64_t n : {1, 15, 16, 17, 100, 200}) {
      auto const a = testing::random_spd<T>(n, n + 2);
      auto const factor = testing::lapack_factor(a, uplo);
      auto const direct = testing::dense_residual(a, factor, uplo);
      for (std::uint64_t block : {1, 2, 3, 8}) {
        // The products are rounded too: no exact agreement.
        auto const tiled = tiled_residual(a, factor, 80, uplo, block);
        EXPECT_LT(tiled, 1);
        EXPECT_NEAR(tiled, direct, 0.2 * direct + 0.3) << n;
        EXPECT_LT(tiled_residual(a, factor, 16, uplo, block), 1);
      }
    }
  }
}

TYPED_TEST(Residual, SeesOneWrongElementWhereverItIs) {
  using T = TypeParam;
  std::uint64_t const n = 50;
  auto const a = testing::random_spd<T>(n);
  auto const factor = testing::lapack_factor(a, Uplo::Lower);
  for (std::uint64_t i = 0; i < n; ++i) {
    for (std::uint64_t j = 0; j <= i; j += 3) {
      auto wrong = factor;
      wrong(i, j) += T(1);
      auto const direct = testing::dense_residual(a, wrong, Uplo::Lower);
      ASSERT_GT(direct, 1);
      ASSERT_NEAR(tiled_residual(a, wrong, 16, Uplo::Lower, 2) / direct, 1, 0.01) << i << " " << j;
    }
  }
}

TYPED_TEST(Residual, IgnoresWhatDiagonalTilesHoldAboveTheDiagonal) {
  using T = TypeParam;
  auto const a = testing::random_spd<T>(40);
  auto factor = testing::lapack_factor(a, Uplo::Lower);
  for (std::uint64_t j = 1; j < 40; ++j) {
    for (std::uint64_t i = 0; i < j; ++i) factor(i, j) = std::numeric_limits<T>::quiet_NaN();
  }
  EXPECT_LT(tiled_residual(a, factor, 16, Uplo::Lower, 2), 1);
}

TEST(ResidualBlock, GrowsWithTheMemoryAndFitsInIt) {
  TileGrid const grid{100 * 64, 64};
  EXPECT_EQ(residual_block(grid, 1000, 3000), 1U);
  EXPECT_EQ(residual_block(grid, 1000, 11999), 1U);
  EXPECT_EQ(residual_block(grid, 1000, 12000), 2U);
  EXPECT_EQ(residual_block({64, 64}, 1000, 1000000), 1U);
}

TEST(ResidualGraph, RefusesMatricesThatDoNotMatch) {
  ImmediateSubmitter submitter(false);
  auto const a = make_temporary_matrix<double>(submitter, square_grid(24, 8), MatrixPart::Lower, "A");
  auto const l = make_temporary_matrix<double>(submitter, square_grid(24, 12), MatrixPart::Lower, "L");
  auto const codelets = add_residual_codelets<double>(submitter);
  std::vector<DataId> const sums{submitter.add_data({.name = "sum", .bytes = 16, .origin = {}, .home = {}})};
  EXPECT_THROW(submit_residual(submitter, codelets, a, l, sums), InvalidArgument);
  EXPECT_THROW(submit_residual(submitter, codelets, a, a, {}), InvalidArgument);
}

}  // namespace
}  // namespace granary
