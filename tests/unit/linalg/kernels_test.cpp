// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/backends/blas_threads.hpp>
#include <granary/core/backends/kokkos_compat.hpp>
#include <granary/core/base/error.hpp>
#include <granary/linalg/kernels/blas.hpp>
#include <granary/linalg/kernels/tile_kernels.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace granary {
namespace {

constexpr Uplo uplos[] = {Uplo::Lower, Uplo::Upper};
constexpr Side sides[] = {Side::Left, Side::Right};
constexpr Op ops[] = {Op::NoTrans, Op::Trans};
constexpr Diag diags[] = {Diag::NonUnit, Diag::Unit};
constexpr Layout layouts[] = {Layout::ColumnMajor, Layout::RowMajor};

/// A tile that owns its entries; those between the columns (rows) hold a sentinel that no kernel may touch.
template <class T>
class Tile {
 public:
  static constexpr T sentinel = T(-777);

  Tile(int rows, int cols, Layout layout, int padding = 3)
      : m_rows(rows),
        m_cols(cols),
        m_ld(std::max(1, layout == Layout::ColumnMajor ? rows : cols) + padding),
        m_layout(layout),
        m_entries(static_cast<std::size_t>(m_ld) * static_cast<std::size_t>(std::max(rows, cols) + 1), sentinel) {}

  [[nodiscard]] TileView<T> view() { return {m_entries.data(), m_rows, m_cols, m_ld, m_layout}; }
  T& operator()(int i, int j) { return view()(i, j); }

  Tile& fill_random(unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<T> entry(T(-1), T(1));
    for_each([&](int, int, T& a) { a = entry(generator); });
    return *this;
  }

  /// Adds to the diagonal; with `scale` off the diagonal a triangle is well conditioned with either kind of diagonal.
  Tile& dominate(T diagonal, T scale = T(1)) {
    for_each([&](int i, int j, T& a) { a = scale * a + (i == j ? diagonal : T(0)); });
    return *this;
  }

  template <class Function>
  void for_each(Function const& f) {
    for (int i = 0; i < m_rows; ++i) {
      for (int j = 0; j < m_cols; ++j) {
        f(i, j, (*this)(i, j));
      }
    }
  }

  /// Whether the padding still holds the sentinel.
  [[nodiscard]] bool padding_untouched() {
    std::vector<T> rest = m_entries;
    for_each([&](int, int, T& a) { rest[static_cast<std::size_t>(&a - m_entries.data())] = sentinel; });
    return std::all_of(rest.begin(), rest.end(), [](T x) { return x == sentinel; });
  }

 private:
  int m_rows, m_cols, m_ld;
  Layout m_layout;
  std::vector<T> m_entries;
};

[[nodiscard]] bool in_triangle(Uplo uplo, int i, int j) { return uplo == Uplo::Lower ? i >= j : i <= j; }

/// op(A)(i, j) of the whole matrix.
template <class T>
[[nodiscard]] double entry(Op op, Tile<T>& a, int i, int j) {
  return op == Op::NoTrans ? a(i, j) : a(j, i);
}

/// op(A)(i, j) of a triangle.
template <class T>
[[nodiscard]] double entry(Uplo uplo, Op op, Diag diag, Tile<T>& a, int i, int j) {
  if (i == j && diag == Diag::Unit) {
    return 1;
  }
  auto const [row, col] = op == Op::NoTrans ? std::pair(i, j) : std::pair(j, i);
  return in_triangle(uplo, row, col) ? static_cast<double>(a(row, col)) : 0.0;
}

template <class T>
[[nodiscard]] double tolerance(int n) {
  return 20 * (n + 1) * static_cast<double>(std::numeric_limits<T>::epsilon());
}

template <class T>
class TileKernels : public ::testing::Test {
 protected:
  void SetUp() override { set_blas_threads(1); }
};
using Precisions = ::testing::Types<double, float>;
TYPED_TEST_SUITE(TileKernels, Precisions);

template <class T>
void check_gemm(int m, int n, int k, Layout layout_a, Layout layout_b, Layout layout_c) {
  for (Op op_a : ops) {
    for (Op op_b : ops) {
      bool const plain_a = op_a == Op::NoTrans, plain_b = op_b == Op::NoTrans;
      Tile<T> a(plain_a ? m : k, plain_a ? k : m, layout_a), b(plain_b ? k : n, plain_b ? n : k, layout_b);
      Tile<T> c(m, n, layout_c);
      a.fill_random(1);
      b.fill_random(2);
      c.fill_random(3);
      auto expected = c;
      kernels::gemm(op_a, op_b, T(-1.5), a.view(), b.view(), T(0.5), c.view());
      double worst = 0;
      expected.for_each([&](int i, int j, T& old) {
        double sum = 0.5 * old;
        for (int l = 0; l < k; ++l) {
          sum -= 1.5 * entry(op_a, a, i, l) * entry(op_b, b, l, j);
        }
        worst = std::max(worst, std::abs(sum - static_cast<double>(c(i, j))));
      });
      EXPECT_LE(worst, tolerance<T>(k)) << m << "x" << n << "x" << k;
      EXPECT_TRUE(a.padding_untouched() && b.padding_untouched() && c.padding_untouched());
    }
  }
}

TYPED_TEST(TileKernels, GemmEqualsTripleLoop) {
  for (Layout a : layouts) {
    for (Layout b : layouts) {
      for (Layout c : layouts) {
        for (auto [m, n, k] : {std::array{1, 1, 1}, {7, 5, 3}, {64, 64, 64}, {41, 67, 50}, {90, 33, 1}}) {
          check_gemm<TypeParam>(m, n, k, a, b, c);
        }
      }
    }
  }
}

TYPED_TEST(TileKernels, GemmWithZeroSizes) {
  for (Layout layout : layouts) {
    check_gemm<TypeParam>(50, 60, 0, layout, layout, layout);
    check_gemm<TypeParam>(3, 4, 0, layout, layout, layout);
    check_gemm<TypeParam>(0, 4, 5, layout, layout, layout);
    check_gemm<TypeParam>(4, 0, 5, layout, layout, layout);
    check_gemm<TypeParam>(0, 0, 0, layout, layout, layout);
  }
}

template <class T>
void check_syrk(int n, int k, Layout layout_a, Layout layout_c) {
  for (Uplo uplo : uplos) {
    for (Op op : ops) {
      Tile<T> a(op == Op::NoTrans ? n : k, op == Op::NoTrans ? k : n, layout_a), c(n, n, layout_c);
      a.fill_random(4);
      c.fill_random(5);
      auto before = c;
      kernels::syrk(uplo, op, T(-1), a.view(), T(0.75), c.view());
      double worst = 0;
      before.for_each([&](int i, int j, T& old) {
        if (!in_triangle(uplo, i, j)) {
          EXPECT_EQ(old, c(i, j));
          return;
        }
        double sum = 0.75 * old;
        for (int l = 0; l < k; ++l) {
          sum -= entry(op, a, i, l) * entry(op, a, j, l);
        }
        worst = std::max(worst, std::abs(sum - static_cast<double>(c(i, j))));
      });
      EXPECT_LE(worst, tolerance<T>(k)) << n << " x " << k;
      EXPECT_TRUE(a.padding_untouched() && c.padding_untouched());
    }
  }
}

TYPED_TEST(TileKernels, SyrkEqualsTripleLoop) {
  for (Layout a : layouts) {
    for (Layout c : layouts) {
      for (auto [n, k] : {std::pair{0, 3}, {1, 1}, {5, 9}, {64, 64}, {71, 20}, {40, 0}}) {
        check_syrk<TypeParam>(n, k, a, c);
      }
    }
  }
}

/// op(A) X - alpha B, or X op(A) - alpha B, relative to |op(A)| |X|.
template <class T>
void check_trsm(Side side, int m, int n, Layout layout_a, Layout layout_b) {
  int const order = side == Side::Left ? m : n;
  for (Uplo uplo : uplos) {
    for (Op op : ops) {
      for (Diag diag : diags) {
        Tile<T> a(order, order, layout_a), x(m, n, layout_b);
        a.fill_random(6).dominate(T(2), T(1) / static_cast<T>(order + 1));
        x.fill_random(7);
        auto b = x;
        auto a_before = a;
        kernels::trsm(side, uplo, op, diag, T(2), a.view(), x.view());
        double worst = 0;
        b.for_each([&](int i, int j, T& rhs) {
          double sum = 0;
          for (int l = 0; l < order; ++l) {
            sum += side == Side::Left ? entry(uplo, op, diag, a, i, l) * x(l, j)
                                      : x(i, l) * entry(uplo, op, diag, a, l, j);
          }
          worst = std::max(worst, std::abs(sum - 2.0 * rhs));
        });
        EXPECT_LE(worst, tolerance<T>(order)) << m << "x" << n;
        EXPECT_TRUE(a.padding_untouched() && x.padding_untouched());
        a.for_each([&](int i, int j, T& now) { EXPECT_EQ(now, a_before(i, j)); });
      }
    }
  }
}

TYPED_TEST(TileKernels, TrsmSolves) {
  for (Side side : sides) {
    for (Layout a : layouts) {
      for (Layout b : layouts) {
        for (auto [m, n] :
             {std::pair{0, 4}, {4, 0}, {0, 0}, {1, 1}, {3, 50}, {32, 33}, {33, 32}, {65, 64}, {100, 97}}) {
          check_trsm<TypeParam>(side, m, n, a, b);
        }
      }
    }
  }
}

TYPED_TEST(TileKernels, TrsmOfASingularTriangleGivesInfinityAsBlasDoes) {
  using T = TypeParam;
  Tile<T> a(40, 40, Layout::ColumnMajor), b(40, 40, Layout::ColumnMajor);
  a.fill_random(8).dominate(T(3));
  a(35, 35) = 0;
  b.fill_random(9);
  kernels::trsm(Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, T(1), a.view(), b.view());
  EXPECT_TRUE(std::isfinite(b(34, 0)));
  EXPECT_FALSE(std::isfinite(b(35, 0)));
}

/// The residual stays small although the triangle's condition number is about 1e12 (1e5 in float).
TYPED_TEST(TileKernels, TrsmIsBackwardStableOnIllConditionedTriangles) {
  using T = TypeParam;
  int const n = 160;
  Tile<T> a(n, n, Layout::ColumnMajor), x(n, n, Layout::ColumnMajor);
  a.fill_random(10);
  double const decades = std::is_same_v<T, double> ? 12 : 5;
  a.for_each([&](int i, int j, T& v) { v = i == j ? static_cast<T>(std::pow(10.0, -decades * i / n)) : v / T(n); });
  x.fill_random(11);
  auto b = x;
  kernels::trsm(Side::Right, Uplo::Lower, Op::Trans, Diag::NonUnit, T(1), a.view(), x.view());
  double worst = 0;
  b.for_each([&](int i, int j, T& rhs) {
    double sum = -static_cast<double>(rhs), scale = std::abs(static_cast<double>(rhs));
    for (int l = 0; l <= j; ++l) {
      sum += static_cast<double>(x(i, l)) * a(j, l);
      scale += std::abs(static_cast<double>(x(i, l)) * a(j, l));
    }
    worst = std::max(worst, std::abs(sum) / scale);
  });
  EXPECT_LE(worst, n * static_cast<double>(std::numeric_limits<T>::epsilon()));
}

TYPED_TEST(TileKernels, PotrfFactorsOneTriangle) {
  using T = TypeParam;
  for (Layout layout : layouts) {
    for (Uplo uplo : uplos) {
      for (int n : {0, 1, 7, 33, 100, 193}) {
        Tile<T> a(n, n, layout);
        a.fill_random(12);
        a.for_each([&](int i, int j, T& v) { v = i == j ? static_cast<T>(n + 1) : i > j ? v : a(j, i); });
        auto factor = a;
        ASSERT_EQ(kernels::potrf(uplo, factor.view()), 0);
        double worst = 0;
        a.for_each([&](int i, int j, T& v) {
          if (!in_triangle(uplo, i, j)) {
            EXPECT_EQ(factor(i, j), v);
            return;
          }
          double sum = v;
          for (int l = 0; l <= std::min(i, j); ++l) {
            sum -= uplo == Uplo::Lower ? double(factor(i, l)) * factor(j, l) : double(factor(l, i)) * factor(l, j);
          }
          worst = std::max(worst, std::abs(sum));
        });
        EXPECT_LE(worst, tolerance<T>(n) * (n + 1));
        EXPECT_TRUE(factor.padding_untouched());
      }
    }
  }
}

TYPED_TEST(TileKernels, PotrfNamesTheLeadingMinor) {
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

TYPED_TEST(TileKernels, MismatchedSizesAreRefused) {
  using T = TypeParam;
  Tile<T> square(4, 4, Layout::ColumnMajor), wide(4, 5, Layout::ColumnMajor);
  EXPECT_THROW((void)kernels::potrf(Uplo::Lower, wide.view()), InvalidArgument);
  EXPECT_THROW(kernels::gemm(Op::NoTrans, Op::NoTrans, 1, wide.view(), square.view(), 1, square.view()),
               InvalidArgument);
  EXPECT_THROW(kernels::syrk(Uplo::Lower, Op::Trans, 1, wide.view(), 1, square.view()), InvalidArgument);
  EXPECT_THROW(kernels::trsm(Side::Right, Uplo::Lower, Op::Trans, Diag::NonUnit, 1, square.view(), wide.view()),
               InvalidArgument);
  EXPECT_THROW(kernels::trsm(Side::Left, Uplo::Lower, Op::Trans, Diag::NonUnit, 1, wide.view(), wide.view()),
               InvalidArgument);
  auto short_columns = square.view();
  short_columns.ld = 3;
  EXPECT_THROW((void)kernels::potrf(Uplo::Lower, short_columns), InvalidArgument);
}

/// One factorization of a 2 x 2 arrangement of tiles through all four kernels.
template <class T>
void factor_four_tiles(std::vector<Tile<T>>& tiles, Layout layout, unsigned seed) {
  int const n = 96;
  tiles.clear();
  for (unsigned i = 0; i < 4; ++i) {
    tiles.emplace_back(n, n, layout).fill_random(seed + i).dominate(i == 1 ? T(0) : T(4 * n));
  }
  auto const a00 = tiles[0].view(), a10 = tiles[1].view(), a11 = tiles[2].view(), rest = tiles[3].view();
  ASSERT_EQ(kernels::potrf(Uplo::Lower, a00), 0);
  kernels::trsm(Side::Right, Uplo::Lower, Op::Trans, Diag::NonUnit, 1, a00, a10);
  kernels::syrk(Uplo::Lower, Op::NoTrans, -1, a10, 1, a11);
  kernels::gemm(Op::NoTrans, Op::Trans, -1, a10, a11, 1, rest);
  ASSERT_EQ(kernels::potrf(Uplo::Lower, a11), 0);
}

TYPED_TEST(TileKernels, ConcurrentCallsGiveTheResultsOfSequentialOnes) {
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
  for (auto& thread : threads) {
    thread.join();
  }
}

TEST(Blas, ThreadCountIsChecked) {
  EXPECT_THROW(set_blas_threads(0), InvalidArgument);
  EXPECT_NO_THROW(set_blas_threads(1));
}

TEST(Blas, DescribesItself) { EXPECT_FALSE(blas_description().empty()); }

TEST(Blas, NormsOfASymmetricMatrix) {
  std::vector<double> const a{3, -4, 0, 1};
  std::vector<double> work(2);
  EXPECT_DOUBLE_EQ(blas::lansy(Norm::One, Uplo::Lower, 2, a.data(), 2, work.data()), 7);
  EXPECT_DOUBLE_EQ(blas::lansy(Norm::Frobenius, Uplo::Lower, 2, a.data(), 2), std::sqrt(42.0));
  EXPECT_DOUBLE_EQ(blas::lange(Norm::Max, 2, 2, a.data(), 2), 4);
}

TEST(KokkosCompat, HostInstancesRunKernels) {
  HostKernelLock const lock;
  auto const exec = make_host_instance();
  std::vector<int> values(10);
  int* const data = values.data();
  Kokkos::parallel_for("granary::test", Kokkos::RangePolicy<HostExecutionSpace>(exec, 0, 10),
                       [data](int i) { data[i] = i; });
  exec.fence();
  EXPECT_EQ(values[9], 9);
}

}  // namespace
}  // namespace granary
