// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factorizations of Views, with a Runtime.
#include "unit/linalg/api.hpp"
#include "unit/linalg/lu.hpp"

namespace granary::api_factor_test {
namespace {

using namespace testing;

template <class T>
class ApiFactor : public ::testing::Test {};
TYPED_TEST_SUITE(ApiFactor, Scalars);

template <class T, class Layout>
void factors_views(Uplo uplo, std::uint64_t n) {
  Runtime runtime({.workers = 2});
  ExactCholesky<T> const known(n);
  auto const view = make_view<T, Layout>(known.a);
  potrf(runtime, uplo, view, 32);
  EXPECT_EQ(largest_difference(values_of(view), known.factored(uplo)), 0) << n;
  EXPECT_EQ(runtime.figures().host_memory_peak, 0U);
}

TYPED_TEST(ApiFactor, PotrfTakesEitherTriangleInAnyLayout) {
  using T = TypeParam;
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    for (std::uint64_t const n : {1, 31, 32, 33, 100}) {
      factors_views<T, Kokkos::LayoutLeft>(uplo, n);
      factors_views<T, Kokkos::LayoutRight>(uplo, n);
    }
  }
}

TYPED_TEST(ApiFactor, PotrfLeavesWhatLiesBetweenTheColumns) {
  using T = TypeParam;
  Runtime runtime({.workers = 2});
  ExactCholesky<T> const known(50);
  auto padded = random_rectangle<T>(50, 50, 1, 7);
  fill(view_of(padded), known.a);
  potrf(runtime, Uplo::Lower, view_of(padded), 16);
  EXPECT_EQ(largest_difference(padded, known.factored(Uplo::Lower)), 0);
  EXPECT_TRUE(padding_is_untouched(padded));
  EXPECT_EQ(potrf_residual(runtime, Uplo::Lower, make_view<T, Kokkos::LayoutRight>(known.a), view_of(padded)), 0);
}

TYPED_TEST(ApiFactor, PotrfNamesAPivotThatIsNotANumber) {
  using T = TypeParam;
  Runtime runtime({.workers = 2});
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    for (auto const& [i, j] : {std::pair{0, 0}, {50, 50}, {33, 7}, {99, 98}}) {
      auto a = random_positive_definite<T>(100);
      auto const row = static_cast<std::uint64_t>(i), col = static_cast<std::uint64_t>(j);
      a(uplo == Uplo::Lower ? row : col, uplo == Uplo::Lower ? col : row) = T(not_a_number<T>);
      try {
        potrf(runtime, uplo, view_of(a), 16);
        FAIL() << "accepted";
      } catch (NotPositiveDefinite const& error) {
        EXPECT_EQ(error.order(), row + 1);
      }
    }
  }
}

TYPED_TEST(ApiFactor, PotrfNamesTheLeadingMinorAndTheRuntimeGoesOn) {
  using T = TypeParam;
  Runtime runtime({.workers = 2});
  auto bad = random_positive_definite<T>(100);
  bad(77, 77) = T(-1);
  try {
    potrf(runtime, Uplo::Upper, view_of(bad), 16);
    FAIL() << "accepted";
  } catch (NotPositiveDefinite const& error) {
    EXPECT_EQ(error.order(), 78U);
  }
  ExactCholesky<T> const known(100);
  auto factor = known.a;
  potrf(runtime, Uplo::Upper, view_of(factor), 16);
  EXPECT_EQ(largest_difference(factor, known.factored(Uplo::Upper)), 0);
}

TYPED_TEST(ApiFactor, GetrfTakesAnyShapeAndPivotsPartially) {
  using T = TypeParam;
  Runtime runtime({.workers = 2});
  for (auto const& [rows, cols] : {std::pair{1, 1}, {32, 32}, {100, 100}, {130, 70}, {70, 130}, {5, 90}}) {
    auto const a = reversed(ExactLu<T>(static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols)).a);
    auto const left = make_view<T, Kokkos::LayoutLeft>(a);
    auto const right = make_view<T, Kokkos::LayoutRight>(a);
    auto const pivots = getrf(runtime, left, 32);
    EXPECT_EQ(pivots.size(), std::min(a.rows, a.cols));
    // A panel of a View is one leaf: the pivots are those of partial pivoting, for which the arithmetic is exact.
    EXPECT_EQ(lu_residual(a, values_of(left), pivots), 0) << rows << " x " << cols;
    EXPECT_EQ(lu_residual(a, values_of(right), getrf(runtime, right, 32)), 0) << rows << " x " << cols;
    EXPECT_EQ(getrf_residual(runtime, make_view<T, Kokkos::LayoutRight>(a), left, &pivots), 0);
  }
}

TYPED_TEST(ApiFactor, GetrfOfAViewKeepsToALittleMemory) {
  using T = TypeParam;
  Runtime runtime({.workers = 2, .host_memory = 12 * 32 * 32 * sizeof(T)});
  auto const a = random_rectangle<T>(300, 200);
  auto const view = make_view<T, Kokkos::LayoutLeft>(a);
  auto const pivots = getrf(runtime, view, 32);
  EXPECT_LE(lu_residual(a, values_of(view), pivots), lu_bound(values_of(view)));
  EXPECT_LE(runtime.figures().host_memory_peak, runtime.options().host_memory);
}

TYPED_TEST(ApiFactor, GetrfCompletesASingularMatrixAndKeepsItsPivots) {
  using T = TypeParam;
  Runtime runtime({.workers = 2});
  auto const a = reversed(ExactLu<T>(90, 90, 1, 40).a);
  auto const view = make_view<T, Kokkos::LayoutLeft>(a);
  Pivots pivots(detail::TileGrid{});
  try {
    getrf(runtime, view, pivots, 32);
    FAIL() << "accepted";
  } catch (Singular const& error) {
    EXPECT_EQ(error.order(), 41U);
  }
  EXPECT_EQ(pivots.zero_pivot(), 41U);
  EXPECT_EQ(lu_residual(a, values_of(view), pivots), 0);
}

TYPED_TEST(ApiFactor, LaswpExchangesRowsForthAndBack) {
  using T = TypeParam;
  Runtime runtime({.workers = 2});
  auto const pivots = getrf(runtime, make_view<T, Kokkos::LayoutLeft>(random_rectangle<T>(70, 70)), 32);
  auto const b = random_rectangle<T>(70, 3, 2);
  auto swapped = b;
  for (std::uint64_t k = 0; k < 70; ++k) {
    for (std::uint64_t j = 0; j < 3; ++j) std::swap(swapped(k, j), swapped(pivots[k], j));
  }
  auto const view = make_view<T, Kokkos::LayoutRight>(b);
  laswp(runtime, view, pivots, detail::SwapDirection::Forward);
  EXPECT_EQ(largest_difference(values_of(view), swapped), 0);
  laswp(runtime, view, pivots, detail::SwapDirection::Backward);
  EXPECT_EQ(largest_difference(values_of(view), b), 0);
}

TYPED_TEST(ApiFactor, GetrfNopivReportsGrowthAndRefusesAZeroPivot) {
  using T = TypeParam;
  Runtime runtime({.workers = 2});
  ExactLu<T> const known(80, 80);
  auto const& a = known.a;
  auto const view = make_view<T, Kokkos::LayoutLeft>(a);
  auto const growth = getrf_nopiv(runtime, view, 32);
  EXPECT_EQ(largest_difference(values_of(view), known.factors), 0);
  double const expected = testing::largest_modulus(testing::upper(known.factors)) / testing::largest_modulus(a);
  EXPECT_NEAR(growth.ratio(), expected, rounding<T>(8) * expected);  // moduli are rounded
  EXPECT_EQ(getrf_residual(runtime, make_view<T, Kokkos::LayoutLeft>(a), view, nullptr, 32), 0);
  auto zero = a;
  for (std::uint64_t i = 0; i < 80; ++i) zero(i, 50) = zero(50, i) = T(0);
  try {
    getrf_nopiv(runtime, view_of(zero), 32);
    FAIL() << "accepted";
  } catch (Singular const& error) {
    EXPECT_EQ(error.order(), 51U);
  }
}

TEST(ApiTiles, AreFewerThanAnEighthOrAtMost512) {
  EXPECT_EQ(detail::default_tile(1), 64U);
  EXPECT_EQ(detail::default_tile(512), 64U);
  EXPECT_EQ(detail::default_tile(513), 96U);
  EXPECT_EQ(detail::default_tile(1024), 128U);
  EXPECT_EQ(detail::default_tile(4096), 384U);
  EXPECT_EQ(detail::default_tile(8192), 512U);
  EXPECT_EQ(detail::default_tile(100000), 512U);
  Runtime runtime({.workers = 2});
  ExactCholesky<double> const known(300);
  auto const view = make_view<double, Kokkos::LayoutLeft>(known.a);
  potrf(runtime, Uplo::Lower, view);
  EXPECT_EQ(largest_difference(values_of(view), known.factored(Uplo::Lower)), 0);
}

}  // namespace
}  // namespace granary::api_factor_test
