// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/kernels/lu_kernels.hpp>

#include "unit/linalg/lu.hpp"

namespace granary {
namespace {

using kernels::BadPivot;
using testing::random_rectangle;
using testing::Rectangle;
using testing::rectangle_of;

template <class T>
class LuKernels : public ::testing::Test {};
TYPED_TEST_SUITE(LuKernels, testing::Scalars);

// A copy of a matrix in its own memory, in a layout, and its values.
template <class T>
struct Placed {
  Rectangle<T> memory;
  detail::TileView<T> view;

  Placed(Rectangle<T> const& a, detail::TileLayout layout)
      : memory(layout == detail::TileLayout::ColumnMajor ? Rectangle<T>(a.rows, a.cols, 2)
                                                         : Rectangle<T>(a.cols, a.rows, 2)),
        view{memory.elements.data(), static_cast<int>(a.rows), static_cast<int>(a.cols), static_cast<int>(memory.ld),
             layout} {
    for (std::uint64_t j = 0; j < a.cols; ++j) {
      for (std::uint64_t i = 0; i < a.rows; ++i) view(static_cast<int>(i), static_cast<int>(j)) = a(i, j);
    }
  }
  [[nodiscard]] Rectangle<T> values() const {
    return rectangle_of<T>(
        static_cast<std::uint64_t>(view.rows), static_cast<std::uint64_t>(view.cols),
        [&](std::uint64_t i, std::uint64_t j) { return view(static_cast<int>(i), static_cast<int>(j)); });
  }
};

constexpr testing::Extents every_tile[] = {{1, 1},   {5, 5},   {31, 32},   {32, 32},   {33, 33}, {64, 64},
                                           {70, 33}, {33, 70}, {100, 100}, {130, 129}, {1, 50},  {50, 1}};

TYPED_TEST(LuKernels, FactorWithoutPivotingInEveryShapeAndLayout) {
  using T = TypeParam;
  for (auto const layout : testing::every_layout) {
    for (auto const& [rows, cols] : every_tile) {
      testing::ExactLu<T> const known(rows, cols);
      for (auto const policy : {BadPivot::Stop, BadPivot::Skip}) {
        Placed<T> placed(known.a, layout);
        ASSERT_EQ(kernels::getrf_nopiv<T>(policy, 0, placed.view), 0);
        EXPECT_EQ(testing::largest_difference(placed.values(), known.factors), 0) << rows << " " << cols;
      }
    }
  }
}

TYPED_TEST(LuKernels, StopAtABadPivotOrSkipAZero) {
  using T = TypeParam;
  for (auto const layout : testing::every_layout) {
    for (std::uint64_t zero : {0, 31, 32, 50, 99}) {
      testing::ExactLu<T> const known(100, 100, 1, zero);
      Placed<T> stopped(known.a, layout), skipped(known.a, layout);
      EXPECT_EQ(kernels::getrf_nopiv<T>(BadPivot::Stop, 0, stopped.view), static_cast<int>(zero) + 1);
      EXPECT_EQ(stopped.values()(zero, zero), T(0));
      EXPECT_EQ(kernels::getrf_nopiv<T>(BadPivot::Skip, 0, skipped.view), static_cast<int>(zero) + 1);
      EXPECT_EQ(testing::largest_difference(skipped.values(), known.factors), 0);
    }
  }
}

TYPED_TEST(LuKernels, RefusePivotsBelowTheLimit) {
  using T = TypeParam;
  Rectangle<T> a(2, 2);
  a(0, 0) = a(1, 1) = T(1);
  Placed<T> placed(a, detail::TileLayout::ColumnMajor);
  EXPECT_EQ(kernels::getrf_nopiv<T>(BadPivot::Stop, 1, placed.view), 0);
  EXPECT_EQ(kernels::getrf_nopiv<T>(BadPivot::Stop, 2, placed.view), 1);
}

// X U = B where U's pivots are not zero; the zero ones change no later column, since X has zeros there.
TYPED_TEST(LuKernels, SolveAroundZeroPivots) {
  using T = TypeParam;
  using R = detail::RealOf<T>;
  for (std::uint64_t n : {10, 32, 90}) {
    auto u = testing::upper(testing::exact_triangles<T>(n, n));
    u(n / 2, n / 2) = T(0);
    u(n - 1, n - 1) = T(std::numeric_limits<R>::min() / 4);
    auto x = testing::random_eighths<T>(20, n);
    for (std::uint64_t i = 0; i < 20; ++i) x(i, n / 2) = T(0);
    for (std::uint64_t i = 0; i < 20; ++i) x(i, n - 1) = T(0);
    auto b = testing::multiply(x, u);
    Placed<T> factor(u, detail::TileLayout::RowMajor), solved(b, detail::TileLayout::ColumnMajor);
    kernels::trsm_ru_skip<T>(factor.view, solved.view);
    EXPECT_EQ(testing::largest_difference(solved.values(), x), 0);
  }
}

TYPED_TEST(LuKernels, ExchangeRowsInTurn) {
  using T = TypeParam;
  std::vector<std::pair<int, int>> const pairs{{0, 2}, {3, 3}, {0, 1}, {4, 2}};
  for (auto const layout : testing::every_layout) {
    auto const a = random_rectangle<T>(5, 7, 1), b = random_rectangle<T>(4, 7, 2);
    Placed<T> first(a, layout), second(b, layout), alone(a, layout);
    auto const swap = [&](auto const& x, auto const& y) {
      kernels::swap_rows<T>(x.view, std::vector<kernels::RowSwaps<T>>{{pairs, y.view}});
    };
    swap(first, second);
    auto expected_a = a, expected_b = b, expected = a;
    for (auto const& [i, j] : pairs) {
      for (std::uint64_t col = 0; col < 7; ++col) {
        auto const x = static_cast<std::uint64_t>(i), y = static_cast<std::uint64_t>(j);
        std::swap(expected_a(x, col), expected_b(y, col));
        std::swap(expected(x, col), expected(y, col));
      }
    }
    EXPECT_EQ(testing::largest_difference(first.values(), expected_a), 0);
    EXPECT_EQ(testing::largest_difference(second.values(), expected_b), 0);
    swap(alone, alone);
    EXPECT_EQ(testing::largest_difference(alone.values(), expected), 0);
    Placed<T> narrow(random_rectangle<T>(5, 6), layout);
    EXPECT_THROW(swap(first, narrow), InvalidArgument);
  }
}

}  // namespace
}  // namespace granary
