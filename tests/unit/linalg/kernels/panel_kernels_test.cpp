// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/panel_kernels.hpp>

#include "unit/linalg/lu.hpp"

namespace granary {

using namespace detail;

namespace {

using testing::random_rectangle;
using testing::Rectangle;

template <class T>
class PanelKernels : public ::testing::Test {};
TYPED_TEST_SUITE(PanelKernels, testing::Scalars);

// A matrix as tiles of `height` rows, each in its own memory, or all in one.
template <class T>
struct Tiles {
  std::vector<Rectangle<T>> memory;
  std::vector<TileView<T>> views;

  Tiles(Rectangle<T> const& a, std::uint64_t height, TileLayout layout, bool in_one) {
    bool const by_columns = layout == TileLayout::ColumnMajor;
    auto const room = [&](std::uint64_t rows) {
      return by_columns ? Rectangle<T>(rows, a.cols, 2) : Rectangle<T>(a.cols, rows, 2);
    };
    if (in_one) memory.push_back(room(a.rows));
    memory.reserve(a.rows + 1);
    for (std::uint64_t first = 0; first < a.rows; first += height) {
      auto const rows = std::min(height, a.rows - first);
      if (!in_one) memory.push_back(room(rows));
      auto& of = memory.back();
      auto const offset = in_one ? first * (by_columns ? 1 : of.ld) : 0;
      views.push_back({of.elements.data() + offset, static_cast<int>(rows), static_cast<int>(a.cols),
                       static_cast<int>(of.ld), layout});
      for (std::uint64_t j = 0; j < a.cols; ++j) {
        for (std::uint64_t i = 0; i < rows; ++i) {
          views.back()(static_cast<int>(i), static_cast<int>(j)) = a(first + i, j);
        }
      }
    }
  }
  [[nodiscard]] Rectangle<T> values(std::uint64_t rows, std::uint64_t height) const {
    return testing::rectangle_of<T>(rows, static_cast<std::uint64_t>(views.front().cols),
                                    [&](std::uint64_t i, std::uint64_t j) {
                                      return views[i / height](static_cast<int>(i % height), static_cast<int>(j));
                                    });
  }
};

struct Shape {
  std::uint64_t rows, cols, height;
};
// Blocks of 64 columns are copied; the last tile is smaller, or there is one tile that is wider than high.
constexpr Shape every_shape[] = {{1, 1, 1},       {40, 20, 20},    {210, 90, 90},
                                 {300, 150, 150}, {350, 200, 200}, {70, 100, 100}};

TYPED_TEST(PanelKernels, MultiplyBackInAnyMemoryAndAnyBlocks) {
  using T = TypeParam;
  for (auto const& [rows, cols, height] : every_shape) {
    auto const a = random_rectangle<T>(rows, cols, rows);
    for (auto const layout : testing::every_layout) {
      for (bool const in_one : {false, true}) {
        for (int const block : {32, 128, 1000}) {
          Tiles<T> const tiles(a, height, layout, in_one);
          std::vector<T> workspace(rows * kernels::panel_block);
          auto const found = kernels::getrf_panel<T>(tiles.views, workspace.data(), block);
          auto const factors = tiles.values(rows, height);
          EXPECT_EQ(found.zero, 0);
          ASSERT_EQ(found.pivots.size(), std::min(rows, cols));
          EXPECT_LE(testing::lu_residual(a, factors, found.pivots), testing::lu_bound(factors))
              << rows << " " << cols << " block " << block;
          EXPECT_LE(testing::largest_modulus(testing::unit_lower(factors)), is_complex<T> ? 1.5 : 1);
        }
      }
    }
  }
}

TYPED_TEST(PanelKernels, NameTheFirstZeroPivotAndContinue) {
  using T = TypeParam;
  auto a = random_rectangle<T>(300, 150, 4);
  for (std::uint64_t i = 0; i < 300; ++i) a(i, 140) = a(i, 70) = T(0);
  for (auto const layout : testing::every_layout) {
    Tiles<T> const tiles(a, 150, layout, false);
    std::vector<T> workspace(300 * kernels::panel_block);
    auto const found = kernels::getrf_panel<T>(tiles.views, workspace.data(), 32);
    EXPECT_EQ(found.zero, 71);
    auto const factors = tiles.values(300, 150);
    EXPECT_LE(testing::lu_residual(a, factors, found.pivots), testing::lu_bound(factors));
  }
}

TYPED_TEST(PanelKernels, ExchangeNoRowsThatDoNotExistForNaN) {
  using T = TypeParam;
  Rectangle<T> a(100, 40);
  std::ranges::fill(a.elements, T(testing::not_a_number<T>));
  Tiles<T> const tiles(a, 40, TileLayout::RowMajor, false);
  std::vector<T> workspace(100 * kernels::panel_block);
  for (int s = 0; int const pivot : kernels::getrf_panel<T>(tiles.views, workspace.data(), 32).pivots) {
    EXPECT_GE(pivot, s++);
    EXPECT_LT(pivot, 100);
  }
}

TYPED_TEST(PanelKernels, TilesThatFollowEachOtherAreOne) {
  using T = TypeParam;
  auto const a = random_rectangle<T>(50, 20);
  for (auto const layout : testing::every_layout) {
    Tiles<T> const apart(a, 20, layout, false), together(a, 20, layout, true);
    EXPECT_EQ(kernels::as_one<T>(apart.views).data, nullptr);
    auto const all = kernels::as_one<T>(together.views);
    EXPECT_EQ(all.data, together.views[0].data);
    EXPECT_EQ(all.rows, 50);
    EXPECT_EQ(all.ld, together.views[0].ld);
  }
}

}  // namespace
}  // namespace granary
