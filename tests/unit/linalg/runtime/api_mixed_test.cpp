// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Solves in mixed precision.
#include "unit/linalg/api.hpp"
#include "unit/linalg/bounds.hpp"
#include "unit/linalg/exact.hpp"

namespace granary::api_mixed_test {
namespace {

using namespace testing;

template <class T>
class ApiMixed : public ::testing::Test {
 protected:
  Runtime runtime{{.workers = 2}};
};
using Doubles = ::testing::Types<double, Kokkos::complex<double>>;
TYPED_TEST_SUITE(ApiMixed, Doubles);

template <class T>
Rectangle<T> general(std::uint64_t n) {
  auto a = random_rectangle<T>(n, n);
  for (std::uint64_t i = 0; i < n; ++i) a((i + 3) % n, i) += T(static_cast<double>(n));
  return a;
}

// The identity except for [1, a; b, c] in rows and columns 40 and 70.
template <class T>
Rectangle<T> with_block(double a, double b, double c) {
  auto m = rectangle_of<T>(96, 96, [](std::uint64_t i, std::uint64_t j) { return T(i == j ? 1.0 : 0.0); });
  m(40, 70) = T(a);
  m(70, 40) = T(b);
  m(70, 70) = T(c);
  return m;
}

// Single precision does not reach it: X is 2^-30 away from all its numbers.
TYPED_TEST(ApiMixed, ReachesTheBackwardErrorOfDoublePrecision) {
  using T = TypeParam;
  std::uint64_t const n = 150;
  double const limit = refined_bound<T>(n);
  auto solution = random_eighths<T>(n, 40, 7);
  for (auto& x : solution.elements) x += T(0x1p-30);
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    auto const a = random_positive_definite<T>(n);
    auto const b = multiply(a, solution);
    auto const a_view = make_view<T, Kokkos::LayoutRight>(a);
    HostView<T const, Kokkos::LayoutRight> const b_view = make_view<T, Kokkos::LayoutRight>(b, "B");
    LeftView<T> const x("X", n, 40);
    auto const report = posv_mixed(this->runtime, uplo, a_view, b_view, x, 32);
    EXPECT_TRUE(report.used_float) << report.reason;
    EXPECT_GT(report.iterations, 0);
    EXPECT_LE(backward_error(a, values_of(x), b), limit);
    EXPECT_EQ(largest_difference(values_of(a_view), a), 0);
  }
  auto const a = general<T>(n);
  auto const b = multiply(a, solution);
  auto const a_view = make_view<T, Kokkos::LayoutLeft>(a);
  auto const b_view = make_view<T, Kokkos::LayoutLeft>(b, "B");
  LeftView<T> const x("X", n, 40);
  auto const report = gesv_mixed(this->runtime, a_view, b_view, x, 32);
  EXPECT_TRUE(report.used_float) << report.reason;
  EXPECT_GT(report.iterations, 0);
  EXPECT_FALSE(report.pivots);
  EXPECT_LE(backward_error(a, values_of(x), b), limit);
  EXPECT_EQ(largest_difference(values_of(a_view), a), 0);
}

// Solves by a call that must fall back; X is then the double precision solution, and A its factor. The backward error
// is at most 3 γ_n ‖|L| |U|‖∞ / ‖A‖∞ (Higham, theorem 9.4): below 10 n² γ_n here, where multipliers and growth are at
// most 2.
template <class T, class Solve>
std::string fallback(Rectangle<T> const& a, Rectangle<T> const& b, Solve&& solve) {
  auto const a_view = make_view<T, Kokkos::LayoutLeft>(a);
  auto const b_view = make_view<T, Kokkos::LayoutLeft>(b, "B");
  LeftView<T> const x("X", b.rows, b.cols);
  MixedReport const report = solve(a_view, b_view, x);
  EXPECT_FALSE(report.used_float);
  EXPECT_LT(backward_error(a, values_of(x), b), 10 * 96 * 96 * gamma_of<T>(96)) << report.reason;
  EXPECT_GT(largest_difference(values_of(a_view), a), 0);
  EXPECT_EQ(largest_difference(values_of(b_view), b), 0);
  return report.reason;
}

TYPED_TEST(ApiMixed, FallsBackWhereSinglePrecisionDoesNotDo) {
  using T = TypeParam;
  auto& r = this->runtime;
  auto const b = random_rectangle<T>(96, 3, 7);
  auto const posv_call = [&](auto const&... x) { return posv_mixed(r, Uplo::Lower, x..., 32); };
  auto const gesv_call = [&](auto const&... x) { return gesv_mixed(r, x..., 32); };

  auto large = random_positive_definite<T>(96);
  large(50, 50) = T(1e60);
  EXPECT_EQ(fallback<T>(large, b, posv_call), "an element of A is too large for single precision");
  EXPECT_EQ(fallback<T>(large, b, gesv_call), "an element of A is too large for single precision");

  auto large_b = b;
  large_b(50, 1) = T(1e60);
  auto const good = random_positive_definite<T>(96);
  EXPECT_EQ(fallback<T>(good, large_b, posv_call), "an element of B is too large for single precision");
  EXPECT_EQ(fallback<T>(good, large_b, gesv_call), "an element of B is too large for single precision");

  // In single precision the block's pivots are 1 and 0.
  double const almost_one = 1 - 0x1p-40;
  EXPECT_EQ(fallback<T>(with_block<T>(almost_one, almost_one, 1), b, posv_call),
            "in single precision " + std::string(NotPositiveDefinite(71).what()));
  EXPECT_EQ(fallback<T>(with_block<T>(1, 1, 1 + 0x1p-40), b, gesv_call),
            "pivot 71 is exactly zero in single precision");
  // The second pivot is 2^-40. In single precision, in which 1 + 2^-24 lies between two numbers, it is 2^-23: a
  // refinement reduces the error only by the factor 1 - 2^-17.
  EXPECT_EQ(fallback<T>(with_block<T>(1 + 0x1p-24 - 0x1p-41, 1, 1 + 0x1p-24 + 0x1p-41), b, gesv_call),
            "no convergence in 30 refinements");

  auto tiny_column = general<T>(96);
  for (std::uint64_t i = 0; i < 96; ++i) tiny_column(i, 40) *= T(1e-60);
  EXPECT_EQ(fallback<T>(tiny_column, b, gesv_call), "pivot 41 is exactly zero in single precision");
}

TYPED_TEST(ApiMixed, ThrowsWhereDoublePrecisionDoes) {
  using T = TypeParam;
  auto bad = random_positive_definite<T>(96);
  bad(50, 50) = T(-1);
  auto b = random_rectangle<T>(96, 3, 7);
  auto x = b;
  EXPECT_THROW(posv_mixed(this->runtime, Uplo::Lower, view_of(bad), view_of(b), view_of(x), 32), NotPositiveDefinite);
  auto singular = general<T>(96);
  for (std::uint64_t i = 0; i < 96; ++i) singular(i, 40) = T(0);
  EXPECT_THROW(gesv_mixed(this->runtime, view_of(singular), view_of(b), view_of(x), 32), Singular);
  this->runtime.wait();
}

}  // namespace
}  // namespace granary::api_mixed_test
