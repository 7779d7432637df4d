// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Properties of the kernels that matrix_ops_test.cpp and norms_test.cpp cannot observe.
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "unit/linalg/tile.hpp"

namespace granary {
namespace {

using kernels::max_or_nan;
using kernels::ScaledSquares;
using testing::layouts;
using testing::Tile;

constexpr double infinity = std::numeric_limits<double>::infinity();
double const nan = std::nan("");

TEST(ScaledSquares, AddInAnyOrder) {
  for (auto const& [one, two, expected] :
       {std::array{3e200, 4e200, 5e200}, {3e-200, 4e-200, 5e-200}, {1e-300, 1e200, 1e200}, {0.0, 2e-300, 2e-300}}) {
    for (bool const swapped : {false, true}) {
      ScaledSquares sum;
      sum.add({swapped ? two : one, swapped || one != 0 ? 1.0 : 0.0});
      sum.add({swapped ? one : two, !swapped || one != 0 ? 1.0 : 0.0});
      EXPECT_DOUBLE_EQ(sum.root(), expected);
    }
  }
  EXPECT_EQ(ScaledSquares{}.root(), 0);
}

TEST(ScaledSquares, InfinityAndNanStay) {
  Tile<double> ones(3, 3, detail::TileLayout::RowMajor), special(3, 3, detail::TileLayout::RowMajor);
  ones.fill(1e-200);
  for (double const value : {infinity, nan}) {
    special.fill(1);
    special(1, 2) = value;
    auto const from_special = kernels::sum_of_squares<double>({}, special.view());
    auto const from_ones = kernels::sum_of_squares<double>({}, ones.view());
    for (bool const swapped : {false, true}) {
      ScaledSquares sum = swapped ? from_ones : from_special;
      sum.add(swapped ? from_special : from_ones);
      EXPECT_EQ(std::isnan(sum.root()), std::isnan(value));
      EXPECT_FALSE(std::isfinite(sum.root()));
    }
  }
}

TEST(MaxOrNan, NanWins) {
  EXPECT_EQ(max_or_nan(1, 2), 2);
  EXPECT_EQ(max_or_nan(2, 1), 2);
  EXPECT_TRUE(std::isnan(max_or_nan(nan, 1)));
  EXPECT_TRUE(std::isnan(max_or_nan(1, nan)));
}

TEST(ElementwiseKernels, TilesOfDifferentSizesAreRefused) {
  Tile<float> square(4, 4, detail::TileLayout::RowMajor), wide(4, 5, detail::TileLayout::RowMajor);
  EXPECT_THROW((kernels::copy<float, float>(MatrixPart::All, false, square.view(), wide.view())), InvalidArgument);
  EXPECT_THROW(kernels::add<float>(MatrixPart::Lower, 1, wide.view(), 1, square.view()), InvalidArgument);
}

TEST(ElementwiseKernels, PaddingStays) {
  for (detail::TileLayout const a_layout : layouts) {
    for (detail::TileLayout const b_layout : layouts) {
      for (auto const part : {MatrixPart::All, MatrixPart::Lower, MatrixPart::Upper}) {
        Tile<double> a(40, 37, a_layout), b(40, 37, b_layout);
        a.fill_random(1);
        kernels::copy<double, double>(part, false, a.view(), b.view());
        kernels::add<double>(part, 2, a.view(), 1, b.view());
        kernels::set<double>(part, 1, 2, a.view());
        kernels::clear_outside(part, b.view());
        EXPECT_TRUE(a.padding_untouched() && b.padding_untouched());
        double const outside = part == MatrixPart::Lower ? b(0, 36) : part == MatrixPart::Upper ? b(39, 0) : 0;
        EXPECT_EQ(outside, 0);
      }
    }
  }
}

}  // namespace
}  // namespace granary
