// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factorizations of Views, with a Runtime.
#include "unit/linalg/api.hpp"

namespace granary::api_factor_test {
namespace {

using namespace testing;

template <class T>
class ApiFactor : public ::testing::Test {};
TYPED_TEST_SUITE(ApiFactor, Scalars);

// |A - L L^H| or |A - U^H U| at its largest, over n ‖A‖.
template <class T>
double cholesky_error(Rectangle<T> const& a, Rectangle<T> const& factor, Uplo uplo) {
  auto const f = testing::triangle_of(uplo, Diag::NonUnit, factor);
  auto const h = op_of(Op::ConjTrans, f);
  auto const product = uplo == Uplo::Lower ? multiply(f, h) : multiply(h, f);
  return largest_difference(a, product) / static_cast<double>(a.rows) / static_cast<double>(real_part(a(0, 0)));
}

template <class T, class Layout>
void factors_views(Uplo uplo, std::uint64_t n) {
  Runtime runtime({.workers = 2});
  auto const a = random_positive_definite<T>(n);
  auto const view = make_view<T, Layout>(a);
  potrf(runtime, uplo, view, 32);
  auto const factor = values_of(view);
  EXPECT_LT(cholesky_error(a, factor, uplo), rounding<T>(4)) << n;
  for (std::uint64_t i = 0; i < n; ++i) {
    for (std::uint64_t j = 0; j < n; ++j) {
      if (!in_triangle(uplo, i, j)) {
        ASSERT_EQ(factor(i, j), a(i, j));
      }
    }
  }
  EXPECT_EQ(runtime.host_memory_peak(), 0U);
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
  auto const a = random_positive_definite<T>(50);
  auto padded = random_rectangle<T>(50, 50, 1, 7);
  fill(view_of(padded), a);
  potrf(runtime, Uplo::Lower, view_of(padded), 16);
  EXPECT_LT(cholesky_error(a, padded, Uplo::Lower), rounding<T>(4));
  EXPECT_TRUE(padding_is_untouched(padded));
  EXPECT_LT(potrf_residual(runtime, Uplo::Lower, make_view<T, Kokkos::LayoutRight>(a), view_of(padded)), 1);
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
  auto const a = random_positive_definite<T>(100);
  auto factor = a;
  potrf(runtime, Uplo::Upper, view_of(factor), 16);
  EXPECT_LT(cholesky_error(a, factor, Uplo::Upper), rounding<T>(4));
}

// |P A - L U| at its largest, over the columns of A.
template <class T>
double lu_error(Rectangle<T> a, Rectangle<T> const& lu, Pivots const& pivots) {
  for (std::uint64_t k = 0; k < pivots.size(); ++k) {
    for (std::uint64_t j = 0; j < a.cols; ++j) std::swap(a(k, j), a(pivots[k], j));
  }
  auto const inner = std::min(a.rows, a.cols);
  auto const l = rectangle_of<T>(a.rows, inner, [&](std::uint64_t i, std::uint64_t j) {
    return i == j ? T(1) : i > j ? lu(i, j) : T(0);
  });
  auto const u =
      rectangle_of<T>(inner, a.cols, [&](std::uint64_t i, std::uint64_t j) { return i <= j ? lu(i, j) : T(0); });
  return largest_difference(a, multiply(l, u)) / static_cast<double>(a.cols);
}

TYPED_TEST(ApiFactor, GetrfTakesAnyShapeAndPivotsPartially) {
  using T = TypeParam;
  Runtime runtime({.workers = 2});
  for (auto const& [rows, cols] : {std::pair{1, 1}, {32, 32}, {100, 100}, {130, 70}, {70, 130}, {5, 90}}) {
    auto const a = random_rectangle<T>(static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols));
    auto const left = make_view<T, Kokkos::LayoutLeft>(a);
    auto const right = make_view<T, Kokkos::LayoutRight>(a);
    auto const pivots = getrf(runtime, left, 32);
    EXPECT_EQ(pivots.size(), std::min(a.rows, a.cols));
    EXPECT_LT(lu_error(a, values_of(left), pivots), rounding<T>(16)) << rows << " x " << cols;
    EXPECT_LT(lu_error(a, values_of(right), getrf(runtime, right, 32)), rounding<T>(16)) << rows << " x " << cols;
    EXPECT_LT(getrf_residual(runtime, make_view<T, Kokkos::LayoutRight>(a), left, &pivots), 1);
    // A panel of a View is one leaf: no entry of L exceeds 1.
    for (std::uint64_t i = 0; i < a.rows; ++i) {
      for (std::uint64_t j = 0; j < std::min(i, a.cols); ++j) EXPECT_LT(modulus(left(i, j)), 1.5);
    }
  }
}

TYPED_TEST(ApiFactor, GetrfOfAViewKeepsToALittleMemory) {
  using T = TypeParam;
  Runtime runtime({.workers = 2, .host_memory = 12 * 32 * 32 * sizeof(T)});
  auto const a = random_rectangle<T>(300, 200);
  auto const view = make_view<T, Kokkos::LayoutLeft>(a);
  auto const pivots = getrf(runtime, view, 32);
  EXPECT_LT(lu_error(a, values_of(view), pivots), rounding<T>(32));
  EXPECT_LE(runtime.host_memory_peak(), runtime.options().host_memory);
}

TYPED_TEST(ApiFactor, GetrfCompletesASingularMatrixAndKeepsItsPivots) {
  using T = TypeParam;
  Runtime runtime({.workers = 2});
  auto a = random_rectangle<T>(90, 90);
  for (std::uint64_t i = 0; i < 90; ++i) a(i, 40) = T(0);
  auto const view = make_view<T, Kokkos::LayoutLeft>(a);
  Pivots pivots(TileGrid{});
  try {
    getrf(runtime, view, pivots, 32);
    FAIL() << "accepted";
  } catch (Singular const& error) {
    EXPECT_EQ(error.order(), 41U);
  }
  EXPECT_EQ(pivots.zero_pivot(), 41U);
  EXPECT_LT(lu_error(a, values_of(view), pivots), rounding<T>(16));
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
  laswp(runtime, view, pivots, SwapDirection::Forward);
  EXPECT_EQ(largest_difference(values_of(view), swapped), 0);
  laswp(runtime, view, pivots, SwapDirection::Backward);
  EXPECT_EQ(largest_difference(values_of(view), b), 0);
}

TYPED_TEST(ApiFactor, GetrfNopivReportsGrowthAndRefusesAZeroPivot) {
  using T = TypeParam;
  Runtime runtime({.workers = 2});
  auto const a = random_positive_definite<T>(80);
  auto const view = make_view<T, Kokkos::LayoutLeft>(a);
  auto const growth = getrf_nopiv(runtime, view, 32);
  EXPECT_LT(lu_error(a, values_of(view), Pivots({80, 80, 32})), rounding<T>(1000));
  EXPECT_NEAR(growth.ratio(), 1, 0.01);  // the diagonal is the largest and does not grow
  EXPECT_LT(getrf_residual(runtime, make_view<T, Kokkos::LayoutLeft>(a), view, nullptr, 32), 1);
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
  EXPECT_EQ(default_tile(1), 64U);
  EXPECT_EQ(default_tile(512), 64U);
  EXPECT_EQ(default_tile(513), 96U);
  EXPECT_EQ(default_tile(4096), 512U);
  EXPECT_EQ(default_tile(100000), 512U);
  Runtime runtime({.workers = 2});
  auto const a = random_positive_definite<double>(300);
  auto const view = make_view<double, Kokkos::LayoutLeft>(a);
  potrf(runtime, Uplo::Lower, view);
  EXPECT_LT(cholesky_error(a, values_of(view), Uplo::Lower), rounding<double>(4));
}

}  // namespace
}  // namespace granary::api_factor_test
