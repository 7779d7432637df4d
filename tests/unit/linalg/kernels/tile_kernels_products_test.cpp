// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/kernels/tile_kernels.hpp>

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <utility>

#include "support/scalars.hpp"
#include "unit/linalg/tile.hpp"

namespace granary {

using namespace detail;

namespace {

using testing::entry;
using testing::Exact;
using testing::exact;
using testing::hermitian_entry;
using testing::in_triangle;
using testing::largest_error;
using testing::layouts;
using testing::ops;
using testing::scalar;
using testing::sides;
using testing::Tile;
using testing::uplos;

template <class T>
class TileProducts : public ::testing::Test {
 protected:
  void SetUp() override { set_blas_threads(1); }
};
TYPED_TEST_SUITE(TileProducts, test::Scalars);

// NaN if beta is 0: the old values of C must not count.
template <class T>
void fill_output(Tile<T>& c, T beta) {
  c.fill_random(3);
  if (beta == T(0)) c.fill(T(std::numeric_limits<RealOf<T>>::quiet_NaN()));
}
template <class T>
[[nodiscard]] Exact<T> scaled(T beta, T const& old) {
  return beta == T(0) ? Exact<T>(0) : exact(beta) * exact(old);
}

template <class T>
void check_gemm(int m, int n, int k, T beta, TileLayout layout_a, TileLayout layout_b, TileLayout layout_c) {
  T const alpha = scalar<T>(-1.5, 0.25);
  for (Op op_a : ops) {
    for (Op op_b : ops) {
      bool const plain_a = op_a == Op::NoTrans, plain_b = op_b == Op::NoTrans;
      Tile<T> a(plain_a ? m : k, plain_a ? k : m, layout_a), b(plain_b ? k : n, plain_b ? n : k, layout_b);
      Tile<T> c(m, n, layout_c);
      a.fill_random(1);
      b.fill_random(2);
      fill_output(c, beta);
      auto old = c;
      kernels::gemm(op_a, op_b, alpha, a.view(), b.view(), beta, c.view());
      double const error = largest_error(c, [&](int i, int j) {
        Exact<T> sum(0);
        for (int l = 0; l < k; ++l) sum += entry(op_a, a, i, l) * entry(op_b, b, l, j);
        return exact(alpha) * sum + scaled(beta, old(i, j));
      });
      EXPECT_EQ(error, 0) << m << "x" << n << "x" << k << " ops " << char(op_a) << char(op_b) << " layouts "
                          << int(layout_a) << int(layout_b) << int(layout_c);
      EXPECT_TRUE(a.padding_untouched() && b.padding_untouched() && c.padding_untouched());
    }
  }
}

template <class T>
void check_gemm_in_all_layouts(int m, int n, int k, T beta) {
  for (TileLayout a : layouts) {
    for (TileLayout b : layouts) {
      for (TileLayout c : layouts) check_gemm<T>(m, n, k, beta, a, b, c);
    }
  }
}

TYPED_TEST(TileProducts, GemmEqualsTripleLoop) {
  for (auto const& [m, n, k] : {std::array{1, 1, 1}, {7, 5, 3}, {41, 67, 50}, {90, 33, 1}, {20, 24, 150}}) {
    check_gemm_in_all_layouts<TypeParam>(m, n, k, scalar<TypeParam>(0.5, 0.75));
  }
}

TYPED_TEST(TileProducts, GemmOverwritesWhereBetaIsZero) {
  for (auto const& [m, n, k] : {std::array{7, 5, 3}, {50, 45, 40}, {50, 45, 0}, {3, 4, 0}, {20, 24, 150}}) {
    check_gemm_in_all_layouts<TypeParam>(m, n, k, TypeParam(0));
  }
}

TYPED_TEST(TileProducts, GemmWithZeroSizes) {
  for (auto const& [m, n, k] : {std::array{50, 60, 0}, {3, 4, 0}, {0, 4, 5}, {4, 0, 5}, {0, 0, 0}}) {
    check_gemm_in_all_layouts<TypeParam>(m, n, k, TypeParam(0.5));
  }
}

// SYRK (Trans) or HERK (ConjTrans) on one triangle; the other one does not change.
template <class T, class Real, class Kernel>
void check_rank_update(Op adjoint, int n, int k, Real beta, TileLayout layout_a, TileLayout layout_c,
                       Kernel const& kernel) {
  auto const alpha = scalar<Real>(-1.5, 0.25);
  for (Uplo uplo : uplos) {
    for (Op op : {Op::NoTrans, adjoint}) {
      bool const plain = op == Op::NoTrans;
      Tile<T> a(plain ? n : k, plain ? k : n, layout_a), c(n, n, layout_c);
      a.fill_random(4);
      fill_output(c, T(beta));
      // A Hermitian matrix has a real diagonal.
      for (int i = 0; i < n && adjoint == Op::ConjTrans; ++i) c(i, i) = T(real_part(c(i, i)));
      auto old = c;
      kernel(uplo, op, alpha, a.view(), beta, c.view());
      double const error = largest_error(uplo, c, old, [&](int i, int j) {
        Exact<T> sum(0);
        for (int l = 0; l < k; ++l) {
          auto const other = entry(op, a, j, l);
          sum += entry(op, a, i, l) * (adjoint == Op::ConjTrans ? conjugate(other) : other);
        }
        return exact(T(alpha)) * sum + scaled(T(beta), old(i, j));
      });
      EXPECT_EQ(error, 0) << n << " x " << k << " uplo " << char(uplo) << " op " << char(op) << " layouts "
                          << int(layout_a) << int(layout_c);
      EXPECT_TRUE(a.padding_untouched() && c.padding_untouched());
    }
  }
}

TYPED_TEST(TileProducts, HerkEqualsItsDefinition) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (TileLayout a : layouts) {
    for (TileLayout c : layouts) {
      for (auto const& [n, k] : {std::pair{0, 3}, {1, 1}, {5, 9}, {64, 64}, {71, 20}, {40, 0}}) {
        for (R const beta : {R(0.75), R(0)}) {
          check_rank_update<T, R>(Op::ConjTrans, n, k, beta, a, c,
                                  [](auto... operands) { kernels::herk<T>(operands...); });
        }
      }
    }
  }
}

TYPED_TEST(TileProducts, SyrkEqualsItsDefinition) {
  using T = TypeParam;
  for (TileLayout a : layouts) {
    for (TileLayout c : layouts) {
      for (auto const& [n, k] : {std::pair{0, 3}, {1, 1}, {5, 9}, {64, 64}, {71, 20}, {40, 0}}) {
        for (T const& beta : {scalar<T>(0.75, -0.5), T(0)}) {
          check_rank_update<T, T>(Op::Trans, n, k, beta, a, c, [](auto... operands) { kernels::syrk<T>(operands...); });
        }
      }
    }
  }
}

template <class T>
void check_hemm(Side side, int m, int n, T beta, TileLayout layout_a, TileLayout layout_b, TileLayout layout_c) {
  T const alpha = scalar<T>(-1.5, 0.25);
  int const order = side == Side::Left ? m : n;
  for (Uplo uplo : uplos) {
    Tile<T> a(order, order, layout_a), b(m, n, layout_b), c(m, n, layout_c);
    a.fill_random(1);
    b.fill_random(2);
    fill_output(c, beta);
    auto old = c;
    kernels::hemm(side, uplo, alpha, a.view(), b.view(), beta, c.view());
    double const error = largest_error(c, [&](int i, int j) {
      Exact<T> sum(0);
      for (int l = 0; l < order; ++l) {
        sum += side == Side::Left ? hermitian_entry(uplo, a, i, l) * exact(b(l, j))
                                  : exact(b(i, l)) * hermitian_entry(uplo, a, l, j);
      }
      return exact(alpha) * sum + scaled(beta, old(i, j));
    });
    EXPECT_EQ(error, 0) << m << "x" << n << " " << char(side) << char(uplo) << " layouts " << int(layout_a)
                        << int(layout_b) << int(layout_c);
    EXPECT_TRUE(a.padding_untouched() && b.padding_untouched() && c.padding_untouched());
  }
}

TYPED_TEST(TileProducts, HemmEqualsItsDefinition) {
  using T = TypeParam;
  for (TileLayout a : layouts) {
    for (TileLayout b : layouts) {
      for (TileLayout c : layouts) {
        for (Side side : sides) {
          for (auto const& [m, n] : {std::pair{0, 3}, {3, 0}, {1, 1}, {5, 9}, {140, 10}, {11, 140}}) {
            for (T const& beta : {scalar<T>(0.75, -0.5), T(0)}) check_hemm<T>(side, m, n, beta, a, b, c);
          }
        }
      }
    }
  }
}

// Neither the other triangle of a Hermitian operand nor the imaginary parts of its diagonal count.
TYPED_TEST(TileProducts, HemmReadsOneTriangle) {
  using T = TypeParam;
  T const not_a_number(std::numeric_limits<RealOf<T>>::quiet_NaN());
  for (TileLayout a_layout : layouts) {
    for (TileLayout b_layout : layouts) {
      Tile<T> a(150, 150, a_layout), b(150, 20, b_layout), c(150, 20, TileLayout::RowMajor);
      a.fill_random(5).for_each([&](int i, int j, T& value) { value = i >= j ? value : not_a_number; });
      b.fill_random(6);
      c.fill_random(7);
      kernels::hemm(Side::Left, Uplo::Lower, T(1), a.view(), b.view(), T(1), c.view());
      c.for_each([](int, int, T& value) { EXPECT_TRUE(is_finite(value)); });
    }
  }
}

TYPED_TEST(TileProducts, MismatchedSizesAreRefused) {
  using T = TypeParam;
  Tile<T> square(4, 4, TileLayout::ColumnMajor), wide(4, 5, TileLayout::ColumnMajor);
  EXPECT_THROW(kernels::gemm(Op::NoTrans, Op::NoTrans, T(1), wide.view(), square.view(), T(1), square.view()),
               InvalidArgument);
  EXPECT_THROW(kernels::syrk(Uplo::Lower, Op::Trans, T(1), wide.view(), T(1), square.view()), InvalidArgument);
  EXPECT_THROW(kernels::herk(Uplo::Lower, Op::ConjTrans, 1, wide.view(), 1, square.view()), InvalidArgument);
  EXPECT_THROW(kernels::hemm(Side::Left, Uplo::Lower, T(1), wide.view(), square.view(), T(1), square.view()),
               InvalidArgument);
  EXPECT_THROW(kernels::hemm(Side::Right, Uplo::Lower, T(1), square.view(), wide.view(), T(1), wide.view()),
               InvalidArgument);
}

TYPED_TEST(TileProducts, ComplexRankUpdatesHaveTheirOwnOps) {
  using T = TypeParam;
  Tile<T> a(4, 4, TileLayout::ColumnMajor), c(4, 4, TileLayout::ColumnMajor);
  a.fill_random(1);
  if constexpr (is_complex<T>) {
    EXPECT_THROW(kernels::syrk(Uplo::Lower, Op::ConjTrans, T(1), a.view(), T(0), c.view()), InvalidArgument);
    EXPECT_THROW(kernels::herk(Uplo::Lower, Op::Trans, 1, a.view(), 0, c.view()), InvalidArgument);
  } else {
    EXPECT_NO_THROW(kernels::syrk(Uplo::Lower, Op::ConjTrans, T(1), a.view(), T(0), c.view()));
    EXPECT_NO_THROW(kernels::herk(Uplo::Lower, Op::Trans, 1, a.view(), 0, c.view()));
  }
}

}  // namespace
}  // namespace granary
