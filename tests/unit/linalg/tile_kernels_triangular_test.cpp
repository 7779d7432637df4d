// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/backends/blas_threads.hpp>
#include <granary/core/base/error.hpp>
#include <granary/linalg/kernels/tile_kernels.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "unit/linalg/tile.hpp"

namespace granary {
namespace {

using testing::diags;
using testing::entry;
using testing::Exact;
using testing::exact;
using testing::in_triangle;
using testing::largest_error;
using testing::layouts;
using testing::ops;
using testing::scalar;
using testing::sides;
using testing::Tile;
using testing::tolerance;
using testing::uplos;

template <class T>
class TileTriangles : public ::testing::Test {
 protected:
  void SetUp() override { set_blas_threads(1); }
};
using Scalars = ::testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(TileTriangles, Scalars);

// Calls check(uplo, op, diag) for all of them.
template <class Check>
void for_all_flags(Check const& check) {
  for (Uplo uplo : uplos) {
    for (Op op : ops) {
      for (Diag diag : diags) check(uplo, op, diag);
    }
  }
}

// (op(A) X)(i, j) or (X op(A))(i, j).
template <class T>
[[nodiscard]] Exact<T> product(Side side, Uplo uplo, Op op, Diag diag, Tile<T>& a, Tile<T>& x, int i, int j,
                               int order) {
  Exact<T> sum(0);
  for (int l = 0; l < order; ++l) {
    sum += side == Side::Left ? entry(uplo, op, diag, a, i, l) * exact(x(l, j))
                              : exact(x(i, l)) * entry(uplo, op, diag, a, l, j);
  }
  return sum;
}

// The other triangle of A, and its diagonal where that is Unit, are not looked at.
template <class T>
[[nodiscard]] Tile<T> triangle(Uplo uplo, Diag diag, int order, Layout layout) {
  Tile<T> a(order, order, layout);
  a.fill_random(6).dominate(2, 1.0 / (order + 1));
  a.for_each([&](int i, int j, T& value) {
    if (!in_triangle(uplo, i, j) || (i == j && diag == Diag::Unit)) {
      value = T(std::numeric_limits<RealOf<T>>::quiet_NaN());
    }
  });
  return a;
}

template <class T>
void check_trsm(Side side, int m, int n, Layout layout_a, Layout layout_b) {
  int const order = side == Side::Left ? m : n;
  T const alpha = scalar<T>(2, -1);
  for_all_flags([&](Uplo uplo, Op op, Diag diag) {
    auto a = triangle<T>(uplo, diag, order, layout_a);
    Tile<T> x(m, n, layout_b);
    auto b = x.fill_random(7);
    kernels::trsm(side, uplo, op, diag, alpha, a.view(), x.view());
    double const error =
        largest_error(b, [&](int i, int j) { return product(side, uplo, op, diag, a, x, i, j, order) / exact(alpha); });
    EXPECT_LE(error, tolerance<T>(order)) << m << "x" << n << " " << char(side) << char(uplo) << char(op) << char(diag)
                                          << " layouts " << int(layout_a) << int(layout_b);
    EXPECT_TRUE(a.padding_untouched() && x.padding_untouched());
  });
}

template <class T>
void check_trmm(Side side, int m, int n, Layout layout_a, Layout layout_b) {
  int const order = side == Side::Left ? m : n;
  T const alpha = scalar<T>(2, -1);
  for_all_flags([&](Uplo uplo, Op op, Diag diag) {
    auto a = triangle<T>(uplo, diag, order, layout_a);
    Tile<T> b(m, n, layout_b);
    auto old = b.fill_random(7);
    kernels::trmm(side, uplo, op, diag, alpha, a.view(), b.view());
    double const error = largest_error(
        b, [&](int i, int j) { return exact(alpha) * product(side, uplo, op, diag, a, old, i, j, order); });
    EXPECT_LE(error, tolerance<T>(order)) << m << "x" << n << " " << char(side) << char(uplo) << char(op) << char(diag)
                                          << " layouts " << int(layout_a) << int(layout_b);
    EXPECT_TRUE(a.padding_untouched() && b.padding_untouched());
  });
}

TYPED_TEST(TileTriangles, TrsmSolves) {
  for (Side side : sides) {
    for (Layout a : layouts) {
      for (Layout b : layouts) {
        for (auto const& [m, n] : {std::pair{0, 4}, {4, 0}, {0, 0}, {1, 1}, {3, 50}, {32, 33}, {33, 32}, {70, 67}}) {
          check_trsm<TypeParam>(side, m, n, a, b);
        }
      }
    }
  }
}

TYPED_TEST(TileTriangles, TrmmEqualsItsDefinition) {
  for (Side side : sides) {
    for (Layout a : layouts) {
      for (Layout b : layouts) {
        for (auto const& [m, n] : {std::pair{0, 4}, {4, 0}, {1, 1}, {3, 50}, {33, 32}, {70, 67}}) {
          check_trmm<TypeParam>(side, m, n, a, b);
        }
      }
    }
  }
}

TYPED_TEST(TileTriangles, TrsmOfASingularTriangleGivesInfinityAsBlasDoes) {
  using T = TypeParam;
  Tile<T> a(40, 40, Layout::ColumnMajor), b(40, 40, Layout::ColumnMajor);
  a.fill_random(8).dominate(3);
  a(35, 35) = 0;
  b.fill_random(9);
  kernels::trsm(Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, T(1), a.view(), b.view());
  EXPECT_TRUE(is_finite(b(34, 0)));
  EXPECT_FALSE(is_finite(b(35, 0)));
}

// The residual stays small although the triangle's condition number is about 1e12 (1e5 in single precision).
TYPED_TEST(TileTriangles, TrsmIsBackwardStableOnIllConditionedTriangles) {
  using T = TypeParam;
  int const n = 160;
  double const decades = sizeof(RealOf<T>) == sizeof(double) ? 12 : 5;
  Tile<T> a(n, n, Layout::ColumnMajor), x(n, n, Layout::ColumnMajor);
  a.fill_random(10).dominate(0, 1.0 / n);
  for (int i = 0; i < n; ++i) a(i, i) = scalar<T>(std::pow(10.0, -decades * i / n), 0);
  auto b = x.fill_random(11);
  kernels::trsm(Side::Right, Uplo::Lower, Op::ConjTrans, Diag::NonUnit, T(1), a.view(), x.view());
  double worst = 0;
  b.for_each([&](int i, int j, T& rhs) {
    auto sum = -exact(rhs);
    double scale = modulus(exact(rhs));
    for (int l = 0; l <= j; ++l) {
      auto const term = exact(x(i, l)) * conjugate(exact(a(j, l)));
      sum += term;
      scale += modulus(term);
    }
    worst = std::max(worst, modulus(sum) / scale);
  });
  EXPECT_LE(worst, n * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon()));
}

TYPED_TEST(TileTriangles, PotrfFactorsOneTriangle) {
  using T = TypeParam;
  for (Layout layout : layouts) {
    for (Uplo uplo : uplos) {
      for (int n : {0, 1, 7, 33, 100, 193}) {
        Tile<T> a(n, n, layout);
        a.fill_random(12);
        a.for_each([&](int i, int j, T& v) { v = i == j ? T(static_cast<RealOf<T>>(2 * n + 1)) : v; });
        auto factor = a;
        ASSERT_EQ(kernels::potrf(uplo, factor.view()), 0);
        double const error = largest_error(uplo, a, a, [&](int i, int j) {
          Exact<T> sum(0);
          for (int l = 0; l <= std::min(i, j); ++l) {
            sum += uplo == Uplo::Lower ? exact(factor(i, l)) * conjugate(exact(factor(j, l)))
                                       : conjugate(exact(factor(l, i))) * exact(factor(l, j));
          }
          return sum;
        });
        EXPECT_LE(error, tolerance<T>(n) * (n + 1)) << n << " " << char(uplo) << " layout " << int(layout);
        a.for_each([&](int i, int j, T& v) { EXPECT_TRUE(in_triangle(uplo, i, j) || factor(i, j) == v); });
        EXPECT_TRUE(factor.padding_untouched());
      }
    }
  }
}

TYPED_TEST(TileTriangles, PotrfNamesTheLeadingMinor) {
  using T = TypeParam;
  for (Layout layout : layouts) {
    for (Uplo uplo : uplos) {
      for (int bad : {0, 5, 40, 99}) {
        Tile<T> a(100, 100, layout);
        a.for_each([&](int i, int j, T& v) { v = i != j ? T(0) : i == bad ? T(-1) : T(2); });
        EXPECT_EQ(kernels::potrf(uplo, a.view()), bad + 1);
      }
    }
  }
}

TYPED_TEST(TileTriangles, MismatchedSizesAreRefused) {
  using T = TypeParam;
  Tile<T> square(4, 4, Layout::ColumnMajor), wide(4, 5, Layout::ColumnMajor);
  EXPECT_THROW((void)kernels::potrf(Uplo::Lower, wide.view()), InvalidArgument);
  for (auto const& kernel : {kernels::trsm<T>, kernels::trmm<T>}) {
    EXPECT_THROW(kernel(Side::Right, Uplo::Lower, Op::Trans, Diag::NonUnit, 1, square.view(), wide.view()),
                 InvalidArgument);
    EXPECT_THROW(kernel(Side::Left, Uplo::Lower, Op::Trans, Diag::NonUnit, 1, wide.view(), wide.view()),
                 InvalidArgument);
  }
  auto short_columns = square.view();
  short_columns.ld = 3;
  EXPECT_THROW((void)kernels::potrf(Uplo::Lower, short_columns), InvalidArgument);
}

// One factorization of a 2 x 2 arrangement of tiles through all four kernels.
template <class T>
void factor_four_tiles(std::vector<Tile<T>>& tiles, Layout layout, unsigned seed) {
  int const n = 96;
  tiles.clear();
  for (unsigned i = 0; i < 4; ++i) {
    tiles.emplace_back(n, n, layout).fill_random(seed + i).dominate(i == 1 ? 0 : 4 * n);
  }
  auto const a00 = tiles[0].view(), a10 = tiles[1].view(), a11 = tiles[2].view(), rest = tiles[3].view();
  ASSERT_EQ(kernels::potrf(Uplo::Lower, a00), 0);
  kernels::trsm(Side::Right, Uplo::Lower, Op::ConjTrans, Diag::NonUnit, 1, a00, a10);
  kernels::herk(Uplo::Lower, Op::NoTrans, -1, a10, 1, a11);
  kernels::gemm(Op::NoTrans, Op::ConjTrans, -1, a10, a11, 1, rest);
  ASSERT_EQ(kernels::potrf(Uplo::Lower, a11), 0);
}

TYPED_TEST(TileTriangles, ConcurrentCallsGiveTheResultsOfSequentialOnes) {
  using T = TypeParam;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 2; ++t) {
    threads.emplace_back([t] {
      Layout const layout = layouts[t];
      std::vector<Tile<T>> first, again;
      factor_four_tiles(first, layout, 100 * t);
      for (int round = 0; round < 20; ++round) {
        factor_four_tiles(again, layout, 100 * t);
        for (std::size_t i = 0; i < first.size(); ++i) {
          first[i].for_each([&](int row, int col, T& v) { ASSERT_EQ(v, again[i](row, col)); });
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace granary
