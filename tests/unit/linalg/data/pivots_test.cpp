// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/linalg/data/pivots.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace granary {
namespace {

using detail::PanelExchanges;
using Rows = std::vector<std::int64_t>;

// Applies the exchanges one by one to the rows 0, 1, ...
Rows in_turn(std::int64_t rows, std::int64_t first, std::span<std::int64_t const> pivots) {
  Rows result(static_cast<std::size_t>(rows));
  std::iota(result.begin(), result.end(), 0);
  for (std::size_t s = 0; s < pivots.size(); ++s) {
    std::swap(result[static_cast<std::size_t>(first) + s], result[static_cast<std::size_t>(pivots[s])]);
  }
  return result;
}

// Applies the disjoint exchanges and then the permutation of the slots to them.
Rows at_once(std::int64_t rows, std::int64_t first, std::int64_t slots, PanelExchanges const& exchanges) {
  Rows result(static_cast<std::size_t>(rows));
  std::iota(result.begin(), result.end(), 0);
  for (std::int64_t s = 0; s < slots; ++s) {
    auto const partner = exchanges.partners[static_cast<std::size_t>(s)];
    if (partner == PanelExchanges::none) continue;
    EXPECT_GE(partner, first + slots);
    std::swap(result[static_cast<std::size_t>(first + s)], result[static_cast<std::size_t>(partner)]);
  }
  auto const before = result;
  for (std::int64_t s = 0; s < slots; ++s) {
    result[static_cast<std::size_t>(first + s)] =
        before[static_cast<std::size_t>(first + exchanges.sources[static_cast<std::size_t>(s)])];
  }
  return result;
}

struct Panel {
  explicit Panel(std::uint64_t slots) : words(1 + 3 * slots), exchanges(PanelExchanges::at(bytes(), slots)) {}
  std::byte* bytes() { return reinterpret_cast<std::byte*>(words.data()); }
  std::vector<std::int64_t> words;
  PanelExchanges exchanges;
};

TEST(PanelExchanges, AreWhatTheExchangesInTurnAre) {
  std::vector<Rows> const cases{
      {0, 1, 2, 3},  // none
      {1, 2, 3, 3},  // a cycle among the slots
      {6, 6, 6, 6},  // one lower row repeatedly
      {7, 6, 5, 4},  // four different ones
      {3, 3, 6, 6},  // both
      {6, 3, 6, 3},  // a row that returns
      {2, 7, 7, 4},
  };
  for (auto const& pivots : cases) {
    Panel panel(4);
    std::ranges::copy(pivots, panel.exchanges.pivots.begin());
    panel.exchanges.derive(0, 4, 4);
    EXPECT_EQ(at_once(8, 0, 4, panel.exchanges), in_turn(8, 0, pivots));
  }
}

TEST(PanelExchanges, AreSoForRandomPivotsInEveryShape) {
  detail::Random random(1);
  for (int repeat = 0; repeat < 2000; ++repeat) {
    auto const first = random.between(0, 3), slots = random.between(1, 8), below = random.between(0, 12);
    auto const count = random.between(1, slots), rows = first + slots + below;
    Panel panel(8);
    Rows pivots;
    for (std::int64_t s = 0; s < count; ++s) pivots.push_back(random.between(first + s, rows - 1));
    std::ranges::copy(pivots, panel.exchanges.pivots.begin());
    panel.exchanges.derive(first, slots, count);
    ASSERT_EQ(at_once(rows, first, slots, panel.exchanges), in_turn(rows, first, pivots)) << repeat;
  }
}

TEST(PanelExchanges, BringRowsInAnyOrderToTheTop) {
  detail::Random random(2);
  for (int repeat = 0; repeat < 2000; ++repeat) {
    auto const first = random.between(0, 3), count = random.between(1, 8), rows = first + count + random.between(0, 12);
    Rows order;
    for (auto row = first; row < rows; ++row) order.push_back(row);
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      std::swap(order[i], order[static_cast<std::size_t>(random.between(static_cast<std::int64_t>(i),
                                                                        static_cast<std::int64_t>(order.size()) - 1))]);
    }
    order.resize(static_cast<std::size_t>(count));
    Panel panel(8);
    panel.exchanges.set_order(first, order);
    Rows const pivots(panel.exchanges.pivots.begin(), panel.exchanges.pivots.begin() + count);
    for (std::int64_t s = 0; s < count; ++s) ASSERT_GE(pivots[static_cast<std::size_t>(s)], first + s);
    auto const result = in_turn(rows, first, pivots);
    ASSERT_TRUE(std::equal(order.begin(), order.end(), result.begin() + first)) << repeat;
  }
}

TEST(Pivots, ExchangeNothingAtFirst) {
  Pivots pivots({50, 40, 16});
  EXPECT_EQ(pivots.size(), 40U);
  for (std::uint64_t i = 0; i < 40; ++i) EXPECT_EQ(pivots[i], i);
  EXPECT_EQ(pivots.zero_pivot(), std::nullopt);
}

TEST(Pivots, AreWhatThePanelsSay) {
  detail::TileGrid const grid{50, 40, 16};
  Pivots pivots(grid);
  PanelExchanges::at(pivots.panel(1), 16).pivots[3] = 44;
  PanelExchanges::at(pivots.panel(2), 16).zero_pivot = 35;
  EXPECT_EQ(pivots[19], 44U);
  EXPECT_EQ(pivots.zero_pivot(), std::optional<std::uint64_t>(35));
  EXPECT_EQ(pivot_bytes(grid, 0), 8U * 49);
  EXPECT_EQ(pivot_bytes({50, 50, 16}, 3), 8U * 7) << "two rows at the edge";
  EXPECT_EQ(pivot_bytes({3, 40, 16}, 0), 8U * 10) << "fewer rows than a tile";
}

}  // namespace
}  // namespace granary
