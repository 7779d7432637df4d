// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Solves in mixed precision.
#include "unit/linalg/api.hpp"

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

// Q D Q with Q = I - 2 v v^T / v^T v and D from 1 to 1 / condition, geometrically: real, symmetric, positive definite.
template <class T>
Rectangle<T> ill_conditioned(std::uint64_t n, double condition) {
  auto const v = random_rectangle<double>(n, 1, 9);
  double square = 0;
  for (std::uint64_t i = 0; i < n; ++i) square += v(i, 0) * v(i, 0);
  auto const q = rectangle_of<double>(
      n, n, [&](std::uint64_t i, std::uint64_t j) { return (i == j ? 1.0 : 0.0) - 2 * v(i, 0) * v(j, 0) / square; });
  auto const scaled = rectangle_of<double>(n, n, [&](std::uint64_t i, std::uint64_t j) {
    return std::pow(condition, -static_cast<double>(i) / static_cast<double>(n - 1)) * q(i, j);
  });
  auto const product = multiply(q, scaled);
  return rectangle_of<T>(n, n,
                         [&](std::uint64_t i, std::uint64_t j) { return T(product(i, j) / 2 + product(j, i) / 2); });
}

TYPED_TEST(ApiMixed, ReachesTheBackwardErrorOfDoublePrecision) {
  using T = TypeParam;
  auto const b = random_rectangle<T>(150, 40, 7);
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    auto const a = random_positive_definite<T>(150);
    auto const a_view = make_view<T, Kokkos::LayoutRight>(a);
    HostView<T const, Kokkos::LayoutRight> const b_view = make_view<T, Kokkos::LayoutRight>(b, "B");
    LeftView<T> const x("X", 150, 40);
    auto const report = posv_mixed(this->runtime, uplo, a_view, b_view, x, 32);
    EXPECT_TRUE(report.used_float) << report.reason;
    EXPECT_GT(report.iterations, 0);
    EXPECT_LT(report.iterations, 6);
    EXPECT_LT(solve_residual(this->runtime, uplo, a_view, x, b_view, 32), 30);
    EXPECT_EQ(largest_difference(values_of(a_view), a), 0);
  }
  auto const a = general<T>(150);
  auto const a_view = make_view<T, Kokkos::LayoutLeft>(a);
  auto const b_view = make_view<T, Kokkos::LayoutLeft>(b, "B");
  LeftView<T> const x("X", 150, 40);
  auto const report = gesv_mixed(this->runtime, a_view, b_view, x, 32);
  EXPECT_TRUE(report.used_float) << report.reason;
  EXPECT_FALSE(report.pivots);
  EXPECT_LT(report.iterations, 6);
  EXPECT_LT(solve_residual(this->runtime, Op::NoTrans, a_view, x, b_view, 32), 30);
  EXPECT_EQ(largest_difference(values_of(a_view), a), 0);
}

// Solves by a call that must fall back; X then is double precision's, and A its factor.
template <class T, class Solve>
std::string fallback(Runtime& runtime, Rectangle<T> const& a, Rectangle<T> const& b, Solve&& solve) {
  auto const a_view = make_view<T, Kokkos::LayoutLeft>(a);
  auto const b_view = make_view<T, Kokkos::LayoutLeft>(b, "B");
  LeftView<T> const x("X", b.rows, b.cols);
  MixedReport const report = solve(a_view, b_view, x);
  EXPECT_FALSE(report.used_float);
  EXPECT_LT(solve_residual(runtime, Op::NoTrans, make_view<T, Kokkos::LayoutLeft>(a), x, b_view, 32), 30);
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
  EXPECT_EQ(fallback<T>(r, large, b, posv_call), "an element of A is too large for single precision");
  EXPECT_EQ(fallback<T>(r, large, b, gesv_call), "an element of A is too large for single precision");

  auto large_b = b;
  large_b(50, 1) = T(1e60);
  auto const good = random_positive_definite<T>(96);
  EXPECT_EQ(fallback<T>(r, good, large_b, posv_call), "an element of B is too large for single precision");
  EXPECT_EQ(fallback<T>(r, good, large_b, gesv_call), "an element of B is too large for single precision");

  EXPECT_NE(fallback<T>(r, ill_conditioned<T>(96, 1e12), b, posv_call).find("is not positive"), std::string::npos);
  EXPECT_EQ(fallback<T>(r, ill_conditioned<T>(96, 1e12), b, gesv_call), "no convergence in 30 refinements");

  auto tiny_column = general<T>(96);
  for (std::uint64_t i = 0; i < 96; ++i) tiny_column(i, 40) *= T(1e-60);
  EXPECT_EQ(fallback<T>(r, tiny_column, b, gesv_call), "in single precision pivot 41 is exactly zero");
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
