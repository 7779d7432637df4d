// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel that factors the pivot rows of panels that are rank-deficient to working precision.
#include <granary/detail/linalg/kernels/lu_kernels.hpp>

#include <gtest/gtest.h>

#include "lapack/ratios.hpp"
#include "support/scalars.hpp"
#include "unit/linalg/lu.hpp"

namespace granary::bounded_pivots_test {
namespace {

using testing::Rectangle;

// A copy of a matrix in either layout.
template <class T>
class Stored {
 public:
  Stored(Rectangle<T> const& a, detail::TileLayout layout)
      : m_layout(layout), m_rows(a.rows), m_cols(a.cols), m_elements((a.rows + 2) * (a.cols + 2)) {
    for (std::uint64_t i = 0; i < a.rows; ++i) {
      for (std::uint64_t j = 0; j < a.cols; ++j) view()(static_cast<int>(i), static_cast<int>(j)) = a(i, j);
    }
  }
  [[nodiscard]] detail::TileView<T> view() {
    auto const ld = (m_layout == detail::TileLayout::ColumnMajor ? m_rows : m_cols) + 2;
    return {m_elements.data(), static_cast<int>(m_rows), static_cast<int>(m_cols), static_cast<int>(ld), m_layout};
  }
  [[nodiscard]] Rectangle<T> values() {
    return testing::rectangle_of<T>(m_rows, m_cols, [this](std::uint64_t i, std::uint64_t j) {
      return view()(static_cast<int>(i), static_cast<int>(j));
    });
  }

 private:
  detail::TileLayout m_layout;
  std::uint64_t m_rows;
  std::uint64_t m_cols;
  std::vector<T> m_elements;
};

template <class T>
class BoundedPivots : public ::testing::Test {};
TYPED_TEST_SUITE(BoundedPivots, test::Scalars);

constexpr std::array layouts = {detail::TileLayout::ColumnMajor, detail::TileLayout::RowMajor};

TYPED_TEST(BoundedPivots, AreNotBelowTheirRoundingErrors) {
  using T = TypeParam;
  double const u = std::numeric_limits<detail::RealOf<T>>::epsilon() / 2;
  for (auto const& [m, n] : {std::pair<std::uint64_t, std::uint64_t>{48, 48}, {48, 20}, {20, 48}}) {
    auto const a = testing::multiply(testing::random_rectangle<T>(m, 2, 5), testing::random_rectangle<T>(2, n, 6));
    for (auto const layout : layouts) {
      Stored<T> lu(a, layout);
      std::vector<T> workspace(m * n);
      static_cast<void>(kernels::getrf_bounded<T>(lu.view(), workspace.data()));
      auto const factors = lu.values();
      auto const order = std::min(m, n);
      EXPECT_LE(testing::lu_residual(a, factors, testing::identity(order)), testing::lu_bound(factors));
      for (std::uint64_t j = 0; j < order; ++j) {
        if (factors(j, j) == T(0)) continue;
        double size = static_cast<double>(detail::modulus(a(j, j)));
        for (std::uint64_t k = 0; k < j; ++k)
          size += static_cast<double>(detail::modulus(T(factors(j, k) * factors(k, j))));
        EXPECT_GE(static_cast<double>(detail::modulus(factors(j, j))), 0.49 * std::sqrt(double(j + 1)) * u * size) << j;
      }
    }
  }
}

TYPED_TEST(BoundedPivots, NameTheFirstZeroAndGoOn) {
  using T = TypeParam;
  testing::ExactLu<T> const known(40, 40, 1, 12);
  Stored<T> lu(known.a, detail::TileLayout::RowMajor);
  std::vector<T> workspace(40 * 40);
  EXPECT_EQ(kernels::getrf_bounded<T>(lu.view(), workspace.data()), 13);
  EXPECT_EQ(testing::largest_difference(lu.values(), known.factors), 0);
}

}  // namespace
}  // namespace granary::bounded_pivots_test
