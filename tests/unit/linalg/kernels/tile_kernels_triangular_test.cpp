// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/kernels/tile_kernels.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "support/scalars.hpp"
#include "unit/linalg/exact.hpp"
#include "unit/linalg/inverse.hpp"
#include "unit/linalg/tile.hpp"

namespace granary {

using namespace detail;

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
using testing::uplos;

template <class T>
class TileTriangles : public ::testing::Test {
 protected:
  void SetUp() override { set_blas_threads(1); }
};
TYPED_TEST_SUITE(TileTriangles, test::Scalars);

// Calls check(uplo, op, diag) for all combinations.
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

// Solves with it are exact. The other triangle of A, and its diagonal if that is Unit, are not read.
template <class T>
[[nodiscard]] Tile<T> triangle(Uplo uplo, Diag diag, int order, TileLayout layout) {
  Tile<T> a(order, order, layout);
  a.assign(testing::exact_triangles<T>(static_cast<std::uint64_t>(order), static_cast<std::uint64_t>(order), 6));
  a.for_each([&](int i, int j, T& value) {
    if (!in_triangle(uplo, i, j) || (i == j && diag == Diag::Unit)) {
      value = T(std::numeric_limits<RealOf<T>>::quiet_NaN());
    }
  });
  return a;
}

template <class T>
void check_trsm(Side side, int m, int n, TileLayout layout_a, TileLayout layout_b) {
  int const order = side == Side::Left ? m : n;
  T const alpha = is_complex<T> ? scalar<T>(0, -2) : T(2);  // exact to divide by
  for_all_flags([&](Uplo uplo, Op op, Diag diag) {
    auto a = triangle<T>(uplo, diag, order, layout_a);
    Tile<T> x(m, n, layout_b);
    auto b = x.fill_random(7);
    kernels::trsm(side, uplo, op, diag, alpha, a.view(), x.view());
    double const error =
        largest_error(b, [&](int i, int j) { return product(side, uplo, op, diag, a, x, i, j, order) / exact(alpha); });
    EXPECT_EQ(error, 0) << m << "x" << n << " " << char(side) << char(uplo) << char(op) << char(diag) << " layouts "
                        << int(layout_a) << int(layout_b);
    EXPECT_TRUE(a.padding_untouched() && x.padding_untouched());
  });
}

template <class T>
void check_trmm(Side side, int m, int n, TileLayout layout_a, TileLayout layout_b) {
  int const order = side == Side::Left ? m : n;
  T const alpha = scalar<T>(2, -1);
  for_all_flags([&](Uplo uplo, Op op, Diag diag) {
    auto a = triangle<T>(uplo, diag, order, layout_a);
    Tile<T> b(m, n, layout_b);
    auto old = b.fill_random(7);
    kernels::trmm(side, uplo, op, diag, alpha, a.view(), b.view());
    double const error = largest_error(
        b, [&](int i, int j) { return exact(alpha) * product(side, uplo, op, diag, a, old, i, j, order); });
    EXPECT_EQ(error, 0) << m << "x" << n << " " << char(side) << char(uplo) << char(op) << char(diag) << " layouts "
                        << int(layout_a) << int(layout_b);
    EXPECT_TRUE(a.padding_untouched() && b.padding_untouched());
  });
}

TYPED_TEST(TileTriangles, TrsmSolves) {
  for (Side side : sides) {
    for (TileLayout a : layouts) {
      for (TileLayout b : layouts) {
        for (auto const& [m, n] : {std::pair{0, 4}, {4, 0}, {0, 0}, {1, 1}, {3, 50}, {32, 33}, {33, 32}, {70, 67}}) {
          check_trsm<TypeParam>(side, m, n, a, b);
        }
      }
    }
  }
}

TYPED_TEST(TileTriangles, TrmmEqualsItsDefinition) {
  for (Side side : sides) {
    for (TileLayout a : layouts) {
      for (TileLayout b : layouts) {
        for (auto const& [m, n] : {std::pair{0, 4}, {4, 0}, {1, 1}, {3, 50}, {33, 32}, {70, 67}}) {
          check_trmm<TypeParam>(side, m, n, a, b);
        }
      }
    }
  }
}

TYPED_TEST(TileTriangles, TrsmOfASingularTriangleGivesInfinityAsBlasDoes) {
  using T = TypeParam;
  Tile<T> a(40, 40, TileLayout::ColumnMajor), b(40, 40, TileLayout::ColumnMajor);
  a.assign(testing::exact_triangles<T>(40, 40, 8));
  a(35, 35) = 0;
  b.fill_random(9);
  kernels::trsm(Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, T(1), a.view(), b.view());
  EXPECT_TRUE(is_finite(b(34, 0)));
  EXPECT_FALSE(is_finite(b(35, 0)));
}

// X A^H = B of order n with A(i, j) = N(i, j) grade(i, j), N having a unit diagonal and entries of modulus below
// 1.24 / n beside it. Returns the largest of |B - X A^H| in units of u, relative to the largest of |X| |A^H| + |B| in
// the same row.
template <class T, class Grade>
[[nodiscard]] double error_of_graded_solve(int n, Grade const& grade) {
  Tile<T> a(n, n, TileLayout::ColumnMajor), x(n, n, TileLayout::ColumnMajor);
  a.fill_random(10).for_each([&](int i, int j, T& value) {
    auto const scale = static_cast<RealOf<T>>(grade(i, j));
    value = i == j ? T(scale) : value * T(scale / static_cast<RealOf<T>>(n));
  });
  auto b = x.fill_random(11);
  kernels::trsm(Side::Right, Uplo::Lower, Op::ConjTrans, Diag::NonUnit, T(1), a.view(), x.view());
  double worst = 0;
  for (int i = 0; i < n; ++i) {
    double rest = 0, size = 0;
    for (int j = 0; j < n; ++j) {
      auto sum = exact(b(i, j));
      double moduli = modulus(sum);
      for (int l = 0; l <= j; ++l) {
        auto const term = exact(x(i, l)) * conjugate(exact(a(j, l)));
        sum -= term;
        moduli += modulus(term);
      }
      rest = std::max(rest, testing::error_of(T(0), sum));
      size = std::max(size, moduli);
    }
    worst = std::max(worst, rest / size);
  }
  return worst / (0.5 * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon()));
}

// Roundings in a sum of n products, in any order: four per complex operation, and some for a division by reciprocal and
// for the scaling.
template <class T>
[[nodiscard]] constexpr double roundings(int n) {
  return (is_complex<T> ? 4 : 1) * n + 10;
}

// Substitution has |B - X A^H| <= γ_n |X| |A^H|, whatever the condition (Higham, Accuracy and Stability, theorem 8.5).
// The test's own sums have as many roundings again.
TYPED_TEST(TileTriangles, TrsmIsBackwardStableWhereTheDiagonalIsSteep) {
  using T = TypeParam;
  double const decades = sizeof(RealOf<T>) == sizeof(double) ? 16 : 7;  // in 32 rows
  int const n = 64;
  double const error = error_of_graded_solve<T>(n, [&](int i, int) { return std::pow(10.0, decades * i / 32); });
  EXPECT_LE(error, 1.01 * 2 * roundings<T>(n));
}

TYPED_TEST(TileTriangles, TrsmIsBackwardStableOnIllConditionedTriangles) {
  using T = TypeParam;
  double const decades = sizeof(RealOf<T>) == sizeof(double) ? 12 : 5;
  int const n = 160;
  double const error = error_of_graded_solve<T>(n, [&](int, int j) { return std::pow(10.0, -decades * j / n); });
  EXPECT_LE(error, 1.01 * 2 * roundings<T>(n));
}

// The largest |B - op(A) X| or |B - X op(A)| in units of u, each entry relative to |op(A)| |X| or |X| |op(A)|. The
// inverse of A has entries up to (1 + 1)^(n-1) with ones beside the diagonal, and B is that of a random solution.
template <class T>
[[nodiscard]] double error_of_solve(Side side, Uplo uplo, Op op, Diag diag, int n, int others) {
  bool const left = side == Side::Left;
  Tile<T> a(n, n, TileLayout::ColumnMajor), b(left ? n : others, left ? others : n, TileLayout::ColumnMajor);
  a.for_each([&](int i, int j, T& value) { value = i == j ? T(1) : T(-1); });
  auto x = b;
  x.fill_random(12);
  b.for_each([&](int i, int j, T& value) {
    Exact<T> sum = product(side, uplo, op, diag, a, x, i, j, n);
    if constexpr (is_complex<T>) {
      value = T(static_cast<RealOf<T>>(sum.real()), static_cast<RealOf<T>>(sum.imag()));
    } else {
      value = static_cast<T>(sum);
    }
  });
  x = b;
  kernels::trsm(side, uplo, op, diag, T(1), a.view(), x.view());
  double worst = 0;
  b.for_each([&](int i, int j, T& value) {
    double moduli = 0;
    for (int l = 0; l < n; ++l) {
      auto const factor = left ? entry(uplo, op, diag, a, i, l) : entry(uplo, op, diag, a, l, j);
      moduli += static_cast<double>(modulus(factor) * modulus(exact(left ? x(l, j) : x(i, l))));
    }
    auto const rest = exact(value) - product(side, uplo, op, diag, a, x, i, j, n);
    worst = std::max(worst, static_cast<double>(modulus(rest)) / moduli);
  });
  return worst / (0.5 * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon()));
}

// What a product by the inverse of a block, of condition 2^31, would not have.
TYPED_TEST(TileTriangles, TrsmIsBackwardStableInEachEntry) {
  using T = TypeParam;
  for (Side side : sides) {
    for_all_flags([&](Uplo uplo, Op op, Diag diag) {
      for (auto const& [n, others] : {std::pair{32, 8}, {32, 50}, {13, 9}, {70, 33}, {32, 3}}) {
        EXPECT_LE(error_of_solve<T>(side, uplo, op, diag, n, others), 1.01 * 2 * roundings<T>(n))
            << n << " " << others << " " << char(side) << char(uplo) << char(op) << char(diag);
      }
    });
  }
}

// A pivot whose reciprocal is subnormal or overflows divides.
TYPED_TEST(TileTriangles, TrsmDividesByTheSmallestAndLargestPivots) {
  using T = TypeParam;
  using R = RealOf<T>;
  R const least = std::numeric_limits<R>::denorm_min(), most = std::numeric_limits<R>::max();
  for (R const pivot : {least, std::numeric_limits<R>::min(), most}) {
    Tile<T> a(20, 20, TileLayout::ColumnMajor), x(20, 20, TileLayout::ColumnMajor);
    a.for_each([&](int i, int j, T& value) { value = i == j ? T(pivot) : T(0); });
    x.for_each([&](int i, int j, T& value) { value = i == j ? T(pivot) : T(0); });
    kernels::trsm(Side::Right, Uplo::Upper, Op::NoTrans, Diag::NonUnit, T(1), a.view(), x.view());
    x.for_each([&](int i, int j, T& value) { EXPECT_EQ(value, T(i == j ? 1 : 0)) << pivot << " " << i << " " << j; });
  }
}

TYPED_TEST(TileTriangles, PotrfFactorsOneTriangle) {
  using T = TypeParam;
  for (int n : {0, 1, 7, 33, 100, 193}) {
    testing::ExactCholesky<T> const known(static_cast<std::uint64_t>(n));
    for (TileLayout layout : layouts) {
      for (Uplo uplo : uplos) {
        Tile<T> a(n, n, layout), expected(n, n, layout);
        a.assign(known.a);
        expected.assign(known.factored(uplo));
        ASSERT_EQ(kernels::potrf(uplo, a.view()), 0);
        a.for_each([&](int i, int j, T& v) {
          ASSERT_EQ(v, expected(i, j)) << n << " " << char(uplo) << " layout " << int(layout) << " " << i << " " << j;
        });
        EXPECT_TRUE(a.padding_untouched());
      }
    }
  }
}

TYPED_TEST(TileTriangles, PotrfNamesTheLeadingMinor) {
  using T = TypeParam;
  for (TileLayout layout : layouts) {
    for (Uplo uplo : uplos) {
      for (int bad : {0, 5, 40, 99}) {
        Tile<T> a(100, 100, layout);
        a.for_each([&](int i, int j, T& v) { v = i != j ? T(0) : i == bad ? T(-1) : T(2); });
        EXPECT_EQ(kernels::potrf(uplo, a.view()), bad + 1);
      }
    }
  }
}

// As LAPACK does; the BLAS' own potrf may continue.
TYPED_TEST(TileTriangles, PotrfNamesAPivotThatIsNotANumber) {
  using T = TypeParam;
  T const not_a_number(std::numeric_limits<RealOf<T>>::quiet_NaN());
  for (TileLayout layout : layouts) {
    for (Uplo uplo : uplos) {
      bool const lower = uplo == Uplo::Lower;
      for (auto const& [i, j] : {std::pair{0, 0}, {5, 5}, {70, 70}, {99, 99}, {7, 3}, {99, 0}, {98, 40}}) {
        Tile<T> a(100, 100, layout);
        a.fill_random(13).for_each([&](int row, int col, T& v) { v = row == col ? T(300) : v; });
        a(lower ? i : j, lower ? j : i) = not_a_number;
        auto later = a;
        EXPECT_EQ(kernels::potrf(uplo, a.view()), i + 1) << char(uplo) << " " << i << " " << j;
        for (int const negative : {2, 60}) {
          auto both = later;
          both(negative, negative) = T(-1);
          EXPECT_EQ(kernels::potrf(uplo, both.view()), std::min(i, negative) + 1) << i << " " << j << " " << negative;
        }
      }
    }
  }
}

// The inverse of an exact triangle is exact, and so are the sums of the squares of its columns.
TYPED_TEST(TileTriangles, TrtriInvertsOneTriangleAndLauumSquaresIt) {
  using T = TypeParam;
  for (int n : {0, 1, 7, 33, 100}) {
    for (TileLayout layout : layouts) {
      for_all_flags([&](Uplo uplo, Op op, Diag diag) {
        if (op != Op::NoTrans) return;
        auto const a = triangle<T>(uplo, diag, n, layout);
        auto inverse = a;
        ASSERT_EQ(kernels::trtri(uplo, diag, inverse.view()), 0);
        testing::expect_inverse(uplo, diag, a, inverse);
        if (diag == Diag::Unit) return;
        for (int k = 0; k < n; ++k) inverse(k, k) = T(real_part(inverse(k, k)));
        auto squared = inverse;
        kernels::lauum(uplo, squared.view());
        testing::expect_square(uplo, inverse, squared);
      });
    }
  }
}

TYPED_TEST(TileTriangles, TrtriNamesAZeroOnTheDiagonal) {
  using T = TypeParam;
  for (TileLayout layout : layouts) {
    for (int bad : {0, 5, 99}) {
      Tile<T> a(100, 100, layout);
      a.for_each([&](int i, int j, T& v) { v = i == j && i != bad ? T(2) : T(0); });
      EXPECT_EQ(kernels::trtri(Uplo::Upper, Diag::NonUnit, a.view()), bad + 1);
      EXPECT_EQ(kernels::trtri(Uplo::Upper, Diag::Unit, a.view()), 0);
    }
  }
}

TYPED_TEST(TileTriangles, MismatchedSizesAreRefused) {
  using T = TypeParam;
  Tile<T> square(4, 4, TileLayout::ColumnMajor), wide(4, 5, TileLayout::ColumnMajor);
  EXPECT_THROW((void)kernels::potrf(Uplo::Lower, wide.view()), InvalidArgument);
  EXPECT_THROW((void)kernels::trtri(Uplo::Lower, Diag::NonUnit, wide.view()), InvalidArgument);
  EXPECT_THROW(kernels::lauum(Uplo::Lower, wide.view()), InvalidArgument);
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
void factor_four_tiles(std::vector<Tile<T>>& tiles, TileLayout layout, testing::ExactCholesky<T> const& known) {
  int const n = 96;
  tiles.clear();
  for (auto const& [row, col] : {std::pair<std::uint64_t, std::uint64_t>{0, 0}, {n, 0}, {n, n}, {0, n}}) {
    tiles.emplace_back(n, n, layout).assign([&, row = row, col = col](std::uint64_t i, std::uint64_t j) {
      return known.a(row + i, col + j);
    });
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
      TileLayout const layout = layouts[t];
      testing::ExactCholesky<T> const known(192, 100 * t);
      std::vector<Tile<T>> first, again;
      factor_four_tiles(first, layout, known);
      for (int round = 0; round < 20; ++round) {
        factor_four_tiles(again, layout, known);
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
