// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Solves with Views, with a Runtime.
#include "unit/linalg/api.hpp"
#include "unit/linalg/exact.hpp"

namespace granary::api_solve_test {
namespace {

using namespace testing;

template <class T>
class ApiSolve : public ::testing::Test {};
TYPED_TEST_SUITE(ApiSolve, Scalars);

// Systems with an exact solution: X is known and B := op(A) X.
template <class T>
struct System {
  Rectangle<T> a, x, b;

  explicit System(Rectangle<T> matrix, std::uint64_t columns = 3, Op op = Op::NoTrans)
      : a(std::move(matrix)), x(random_eighths<T>(a.rows, columns, 5)), b(multiply(op_of(op, a), x)) {}
  static System general(std::uint64_t n, std::uint64_t columns = 3, Op op = Op::NoTrans) {
    return System(reversed(ExactLu<T>(n, n).a), columns, op);
  }
  static System without_pivots(std::uint64_t n) { return System(ExactLu<T>(n, n).a); }
  static System definite(std::uint64_t n, std::uint64_t columns = 3) { return System(ExactCholesky<T>(n).a, columns); }
};

template <class T, class LayoutA, class LayoutB>
void solves(std::uint64_t n, std::uint64_t columns) {
  Runtime runtime({.workers = 2});
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    auto const s = System<T>::definite(n, columns);
    auto const a = make_view<T, LayoutA>(s.a);
    auto const b = make_view<T, LayoutB>(s.b, "B");
    posv(runtime, uplo, a, b, 32);
    EXPECT_EQ(largest_difference(values_of(b), s.x), 0) << n;
    fill(b, s.b);
    HostView<T const, LayoutA> const factor = a;
    potrs(runtime, uplo, factor, b, 32);
    EXPECT_EQ(largest_difference(values_of(b), s.x), 0) << n;
  }
  for (auto const op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
    auto const s = System<T>::general(n, columns, op);
    auto const a = make_view<T, LayoutA>(s.a);
    auto const b = make_view<T, LayoutB>(s.b, "B");
    auto const x = make_view<T, LayoutB>(s.b, "X");
    auto const pivots = getrf(runtime, a, 32);
    getrs(runtime, op, a, pivots, x);
    EXPECT_EQ(largest_difference(values_of(x), s.x), 0) << n;
    EXPECT_EQ(solve_residual(runtime, op, make_view<T, LayoutA>(s.a), x, b, 32), 0);
    if (op == Op::NoTrans) {
      fill(a, s.a);
      fill(x, s.b);
      static_cast<void>(gesv(runtime, a, x, 32));
      EXPECT_EQ(largest_difference(values_of(x), s.x), 0) << n;
    }
  }
}

TYPED_TEST(ApiSolve, SolvesInAnyLayoutWithAnyNumberOfColumns) {
  using T = TypeParam;
  solves<T, Kokkos::LayoutLeft, Kokkos::LayoutLeft>(100, 1);
  solves<T, Kokkos::LayoutLeft, Kokkos::LayoutRight>(33, 70);
  solves<T, Kokkos::LayoutRight, Kokkos::LayoutLeft>(64, 32);
  solves<T, Kokkos::LayoutRight, Kokkos::LayoutRight>(1, 2);
}

TYPED_TEST(ApiSolve, ARightHandSideMayBeAColumnWithAnyStride) {
  using T = TypeParam;
  Runtime runtime({.workers = 2});
  for (std::size_t const stride : {1, 3}) {
    auto s = System<T>::definite(70, 1);
    std::vector<T> elements(70 * stride, T(-7));
    ColumnView<T> const x(elements.data(), Kokkos::LayoutStride(70, stride));
    for (std::size_t i = 0; i < 70; ++i) x(i) = s.b(i, 0);
    posv(runtime, Uplo::Lower, view_of(s.a), x, 32);
    for (std::size_t i = 0; i < 70 * stride; ++i) {
      if (i % stride == 0) {
        EXPECT_EQ(elements[i], s.x(i / stride, 0));
      } else {
        EXPECT_EQ(elements[i], T(-7));
      }
    }
  }
  auto s = System<T>::general(70, 1);
  Kokkos::View<T*, Kokkos::HostSpace> const x("x", 70);
  for (std::size_t i = 0; i < 70; ++i) x(i) = s.b(i, 0);
  static_cast<void>(gesv(runtime, view_of(s.a), x));
  for (std::size_t i = 0; i < 70; ++i) EXPECT_EQ(x(i), s.x(i, 0));
}

TYPED_TEST(ApiSolve, WithoutPivotsToo) {
  using T = TypeParam;
  Runtime runtime({.workers = 2});
  auto s = System<T>::without_pivots(100);
  auto b = s.b;
  getrf_nopiv(runtime, view_of(s.a), 32);
  getrs_nopiv(runtime, Op::NoTrans, view_of(s.a), view_of(b), 32);
  EXPECT_EQ(largest_difference(b, s.x), 0);
}

TYPED_TEST(ApiSolve, SaysWhyThereIsNoSolution) {
  using T = TypeParam;
  Runtime runtime({.workers = 2});
  auto s = System<T>::definite(60);
  s.a(40, 40) = T(-1);
  try {
    posv(runtime, Uplo::Lower, view_of(s.a), view_of(s.b), 16);
    FAIL() << "accepted";
  } catch (NotPositiveDefinite const& error) {
    EXPECT_EQ(error.order(), 41U);
  }
  auto g = System<T>::general(60);
  for (std::uint64_t i = 0; i < 60; ++i) g.a(i, 30) = T(0);
  Pivots pivots(detail::TileGrid{});
  try {
    gesv(runtime, view_of(g.a), view_of(g.b), pivots, 16);
    FAIL() << "accepted";
  } catch (Singular const& error) {
    EXPECT_EQ(error.order(), 31U);
    EXPECT_EQ(pivots.zero_pivot(), 31U);
  }
}

TYPED_TEST(ApiSolve, HermitianResidualsReadOneTriangle) {
  using T = TypeParam;
  Runtime runtime({.workers = 2});
  auto const s = System<T>::definite(50);
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    auto half = rectangle_of<T>(50, 50, [&](std::uint64_t i, std::uint64_t j) {
      return in_triangle(uplo, i, j) ? s.a(i, j) : T(std::numeric_limits<detail::RealOf<T>>::quiet_NaN());
    });
    auto x = s.x;
    auto b = s.b;
    EXPECT_EQ(solve_residual(runtime, uplo, view_of(half), view_of(x), view_of(b), 16), 0);
    x(20, 1) += T(1);
    EXPECT_GT(solve_residual(runtime, uplo, view_of(half), view_of(x), view_of(b), 16), 1000);
  }
}

}  // namespace
}  // namespace granary::api_solve_test
