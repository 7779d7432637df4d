// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Least squares on matrices of LAPACK's tests, by LAPACK's ratios and its threshold, on a runtime.
#include "lapack/least_squares_ratio.hpp"

#include <granary/linalg.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include "lapack/matrix_types.hpp"
#include "unit/linalg/api.hpp"

namespace granary::least_squares_test {
namespace {

using testing::lapack_threshold;
using testing::Rectangle;
using testing::view_of;

constexpr std::uint64_t tile = 16;

template <class T>
class LapackLeastSquares : public ::testing::Test {
 protected:
  // Both ratios, for B in the range of A and elsewhere.
  void expect_passes(Rectangle<T> const& a, char const* what) {
    auto matrix = a;
    auto inside = testing::multiply(a, testing::random_rectangle<T>(a.cols, 3, 5));
    auto outside = testing::random_rectangle<T>(a.rows, 3, 6);
    auto const size = static_cast<detail::RealOf<T>>(testing::largest_column_sum(a));
    for (auto& element : outside.elements) element *= size;
    for (auto* b : {&inside, &outside}) {
      Rectangle<T> x(a.cols, 3);
      gels(runtime, view_of(matrix), view_of(*b), view_of(x), tile, 0.0);
      EXPECT_LT(testing::orthogonality_ratio(a, x, *b), lapack_threshold) << what;
      if (b == &inside) {
        EXPECT_LT(testing::consistency_ratio(a, x, *b), lapack_threshold) << what;
      }
    }
  }
  Runtime runtime{{.workers = 2, .models = models_off}};
};
TYPED_TEST_SUITE(LapackLeastSquares, testing::Scalars);

TYPED_TEST(LapackLeastSquares, PassOfAllConditionsAndNorms) {
  using T = TypeParam;
  using R = detail::RealOf<T>;
  auto const limit = 1 / static_cast<long double>(std::numeric_limits<R>::epsilon());
  for (auto const& [m, n] : {std::pair{17, 17}, {50, 31}, {200, 33}, {311, 50}, {997, 7}}) {
    for (long double const condition : {2.0L, std::sqrt(limit), 0.1L * limit}) {
      for (long double const norm :
           {1.0L, testing::helpers::Extremes<T>::small, testing::helpers::Extremes<T>::large}) {
        auto const exact = testing::random_with_singular_values<T>(static_cast<std::uint64_t>(m),
                                                                   static_cast<std::uint64_t>(n), condition, norm, 3);
        this->expect_passes(testing::helpers::shorten_all<T>(exact), "singular values");
      }
    }
  }
}

TYPED_TEST(LapackLeastSquares, PassOfGradedColumnsAndRows) {
  using T = TypeParam;
  using R = detail::RealOf<T>;
  // Factors over most of the range of the exponent.
  R const step = std::pow(R(10), std::is_same_v<R, float> ? R(0.4) : R(3));
  for (bool const by_rows : {false, true}) {
    auto a = testing::random_rectangle<T>(120, 40, 9);
    for (std::uint64_t j = 0; j < a.cols; ++j) {
      for (std::uint64_t i = 0; i < a.rows; ++i) a(i, j) *= std::pow(step, static_cast<R>(by_rows ? i % 40 : j) - 20);
    }
    this->expect_passes(a, by_rows ? "rows" : "columns");
  }
}

}  // namespace
}  // namespace granary::least_squares_test
