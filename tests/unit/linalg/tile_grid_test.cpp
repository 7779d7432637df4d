// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/tile_grid.hpp>

#include <gtest/gtest.h>

namespace granary {
namespace {

TEST(TileGrid, CoversEveryRowOnce) {
  for (std::uint64_t n : {1, 7, 8, 9, 16, 100}) {
    TileGrid const grid{n, 8};
    std::uint64_t rows = 0;
    for (std::uint64_t i = 0; i < grid.count(); ++i) {
      EXPECT_EQ(grid.first(i), rows);
      EXPECT_GE(grid.size(i), 1U);
      rows += grid.size(i);
    }
    EXPECT_EQ(rows, n);
  }
}

TEST(TileGrid, OnlyTheLastTileIsSmaller) {
  TileGrid const grid{20, 8};
  EXPECT_EQ(grid.count(), 3U);
  EXPECT_EQ(grid.size(0), 8U);
  EXPECT_EQ(grid.size(2), 4U);
  EXPECT_EQ(grid.triangle(), 6U);
}

TEST(TileGrid, ATileLargerThanTheMatrixIsCutToIt) {
  TileGrid const grid{5, 8};
  EXPECT_EQ(grid.count(), 1U);
  EXPECT_EQ(grid.size(0), 5U);
}

}  // namespace
}  // namespace granary
