// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/algorithms/qr_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace granary {
namespace {

using detail::Elimination;
using detail::eliminations;
using detail::on_top;

constexpr QrTree::Top every_top[] = {QrTree::Top::Flat, QrTree::Top::Binary, QrTree::Top::Greedy};

TEST(QrTree, EliminatesEachRowOnceAfterAllThatItEliminates) {
  for (auto const top : every_top) {
    for (std::uint64_t const domain : {0U, 1U, 2U, 3U, 4U, 7U, 50U}) {
      QrTree const tree{.domain = domain, .top = top};
      for (std::uint64_t rows = 1; rows < 40; ++rows) {
        std::vector<bool> gone(rows);
        for (auto const& step : eliminations(tree, rows)) {
          ASSERT_LT(step.pivot, step.row);
          ASSERT_LT(step.row, rows);
          EXPECT_FALSE(gone[step.pivot] || gone[step.row]) << step.pivot << " " << step.row << " of " << rows;
          EXPECT_TRUE(on_top(tree, step.pivot));
          EXPECT_EQ(step.triangle, on_top(tree, step.row));
          gone[step.row] = true;
        }
        EXPECT_EQ(std::ranges::count(gone, true), static_cast<std::ptrdiff_t>(rows) - 1);
        EXPECT_FALSE(gone[0]);
      }
    }
  }
}

// The number of eliminations one after the other, if all others may run at the same time.
std::uint64_t depth(QrTree const& tree, std::uint64_t rows) {
  std::vector<std::uint64_t> busy(rows);
  for (auto const& step : eliminations(tree, rows))
    busy[step.pivot] = busy[step.row] = std::max(busy[step.pivot], busy[step.row]) + 1;
  return busy[0];
}

TEST(QrTree, TreesOfTrianglesHaveLogarithmicDepth) {
  for (std::uint64_t rows = 1; rows < 70; ++rows) {
    auto const rounds = static_cast<std::uint64_t>(std::bit_width(rows - 1));
    EXPECT_EQ(depth({.domain = 1, .top = QrTree::Top::Flat}, rows), rows - 1);
    EXPECT_EQ(depth({.domain = 1, .top = QrTree::Top::Binary}, rows), rounds) << rows;
    EXPECT_EQ(depth({.domain = 1, .top = QrTree::Top::Greedy}, rows), rounds) << rows;
    EXPECT_EQ(depth({}, rows), rows - 1);
  }
}

TEST(QrTree, JoinsDomainsFromTheirTops) {
  EXPECT_EQ(eliminations({.domain = 2, .top = QrTree::Top::Binary}, 5),
            (std::vector<Elimination>{{0, 1, false}, {2, 3, false}, {0, 2, true}, {0, 4, true}}));
  EXPECT_EQ(eliminations({.domain = 1, .top = QrTree::Top::Greedy}, 5),
            (std::vector<Elimination>{{1, 3, true}, {2, 4, true}, {1, 2, true}, {0, 1, true}}));
}

}  // namespace
}  // namespace granary
