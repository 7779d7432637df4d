// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels that factor tournament panels that are rank-deficient to working precision.
#include <granary/linalg/kernels/lu_kernels.hpp>

#include <gtest/gtest.h>

#include "lapack/ratios.hpp"
#include "unit/linalg/lu.hpp"

namespace granary::bounded_solve_test {
namespace {

using testing::Rectangle;

// A copy of a matrix in either layout.
template <class T>
class Stored {
 public:
  Stored(Rectangle<T> const& a, Layout layout)
      : m_layout(layout), m_rows(a.rows), m_cols(a.cols), m_elements((a.rows + 2) * (a.cols + 2)) {
    for (std::uint64_t i = 0; i < a.rows; ++i) {
      for (std::uint64_t j = 0; j < a.cols; ++j) view()(static_cast<int>(i), static_cast<int>(j)) = a(i, j);
    }
  }
  [[nodiscard]] TileView<T> view() {
    auto const ld = (m_layout == Layout::ColumnMajor ? m_rows : m_cols) + 2;
    return {m_elements.data(), static_cast<int>(m_rows), static_cast<int>(m_cols), static_cast<int>(ld), m_layout};
  }
  [[nodiscard]] Rectangle<T> values() {
    return testing::rectangle_of<T>(m_rows, m_cols, [this](std::uint64_t i, std::uint64_t j) {
      return view()(static_cast<int>(i), static_cast<int>(j));
    });
  }

 private:
  Layout m_layout;
  std::uint64_t m_rows;
  std::uint64_t m_cols;
  std::vector<T> m_elements;
};

// The largest entry of |B - X U| divided by that of |B| + |X| |U|, in units of the proven bound: γ_n for substitution
// and the same for rounding errors that become 0.
template <class T>
double solve_error(Rectangle<T> const& b, Rectangle<T> const& x, Rectangle<T> const& u) {
  long double largest = 0;
  long double size = 0;
  for (std::uint64_t i = 0; i < b.rows; ++i) {
    for (std::uint64_t j = 0; j < b.cols; ++j) {
      auto rest = testing::lengthen<T>(b(i, j));
      auto moduli = modulus(rest);
      for (std::uint64_t k = 0; k <= j; ++k) {
        auto const product = testing::lengthen<T>(x(i, k)) * testing::lengthen<T>(u(k, j));
        rest -= product;
        moduli += modulus(product);
      }
      size = std::max(size, moduli);
      largest = std::max(largest, modulus(rest));
    }
  }
  return static_cast<double>(largest / size) / (4 * testing::gamma_of<T>(u.cols));
}

// Random, with pivots that decrease from 1 to the ratio.
template <class T>
Rectangle<T> triangle(std::uint64_t n, double ratio) {
  auto u = testing::random_rectangle<T>(n, n, 3);
  for (std::uint64_t i = 0; i < n; ++i) {
    auto const scale = static_cast<RealOf<T>>(std::pow(ratio, static_cast<double>(i) / static_cast<double>(n - 1)));
    for (std::uint64_t j = 0; j < n; ++j) u(i, j) *= T(scale / (i == j ? modulus(u(i, i)) : static_cast<RealOf<T>>(n)));
  }
  return u;
}

template <class T>
class BoundedSolve : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(BoundedSolve, Scalars);

constexpr std::array layouts = {Layout::ColumnMajor, Layout::RowMajor};

TYPED_TEST(BoundedSolve, SolvesWithGoodAndGradedTriangles) {
  using T = TypeParam;
  double const epsilon = std::numeric_limits<RealOf<T>>::epsilon();
  for (double const ratio : {1.0, 1e-3, epsilon}) {
    for (auto const layout_u : layouts) {
      for (auto const layout_b : layouts) {
        auto const u = triangle<T>(70, ratio);
        // Rows of X U with entries of X below 1: the solution is not larger.
        auto const b = testing::multiply(testing::random_rectangle<T>(150, 70),
                                         testing::triangle_of(Uplo::Upper, Diag::NonUnit, u));
        Stored<T> stored_u(u, layout_u);
        Stored<T> x(b, layout_b);
        kernels::trsm_ru_bounded<T>(stored_u.view(), x.view());
        EXPECT_LE(solve_error(b, x.values(), u), 1) << ratio;
        EXPECT_EQ(testing::largest_difference(stored_u.values(), u), 0);
      }
    }
  }
}

TYPED_TEST(BoundedSolve, DoesNotDivideRoundingErrorsByTinyPivots) {
  using T = TypeParam;
  using R = RealOf<T>;
  // Rank 1 up to rounding, and pivots that are far below the rounding errors.
  auto const x = testing::random_rectangle<T>(90, 1, 5);
  auto const y = testing::random_rectangle<T>(1, 20, 6);
  auto const b = testing::multiply(x, y);
  auto u = testing::rectangle_of<T>(20, 20, [&](std::uint64_t i, std::uint64_t j) {
    R const tiny = std::numeric_limits<R>::epsilon() * std::numeric_limits<R>::epsilon() * R(0.01);
    return i == 0 ? y(0, j) : i <= j ? T(tiny) : T(0);
  });
  for (auto const layout : layouts) {
    Stored<T> stored_u(u, layout);
    Stored<T> l(b, layout);
    kernels::trsm_ru_bounded<T>(stored_u.view(), l.view());
    EXPECT_LT(testing::largest_modulus(l.values()), 100) << "as large as x / y(0, 0)";
    EXPECT_LE(solve_error(b, l.values(), u), 1);
  }
}

TYPED_TEST(BoundedSolve, FactorsATileOfLowRankWithBoundedMultipliers) {
  using T = TypeParam;
  for (auto const& [m, n] : {std::pair<std::uint64_t, std::uint64_t>{48, 48}, {48, 20}, {20, 48}}) {
    auto const a = testing::multiply(testing::random_rectangle<T>(m, 2, 5), testing::random_rectangle<T>(2, n, 6));
    for (auto const layout : layouts) {
      Stored<T> lu(a, layout);
      std::vector<T> workspace(m * n);
      static_cast<void>(kernels::getrf_bounded<T>(lu.view(), workspace.data()));
      auto const factors = lu.values();
      EXPECT_LE(testing::lu_residual(a, factors, testing::identity(std::min(m, n))), testing::lu_bound(factors));
    }
  }
}

TYPED_TEST(BoundedSolve, NamesTheFirstZeroPivotAndGoesOn) {
  using T = TypeParam;
  testing::ExactLu<T> const known(40, 40, 1, 12);
  Stored<T> lu(known.a, Layout::RowMajor);
  std::vector<T> workspace(40 * 40);
  EXPECT_EQ(kernels::getrf_bounded<T>(lu.view(), workspace.data()), 13);
  EXPECT_EQ(testing::largest_difference(lu.values(), known.factors), 0);
}

}  // namespace
}  // namespace granary::bounded_solve_test
