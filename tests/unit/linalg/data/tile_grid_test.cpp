// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/data/tile_grid.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace granary {
namespace {

TEST(TileGrid, CoversEveryRowOnce) {
  for (std::uint64_t n : {1, 7, 8, 9, 16, 100}) {
    auto const grid = square_grid(n, 8);
    std::uint64_t rows = 0;
    for (std::uint64_t i = 0; i < grid.tile_rows(); ++i) {
      EXPECT_EQ(grid.first(i), rows);
      EXPECT_GE(grid.rows_in(i), 1U);
      rows += grid.rows_in(i);
    }
    EXPECT_EQ(rows, n);
  }
}

TEST(TileGrid, AnEvenTileCoversLittleMoreThanTheMatrix) {
  EXPECT_EQ(even_tile(20480, 512), 512U);
  EXPECT_EQ(even_tile(20001, 512), 512U) << "512 covers 479 more, which is less than one part in 32";
  EXPECT_EQ(even_tile(12289, 512), 504U) << "25 tiles of 512 cover 511 more, of 504 311";
  EXPECT_EQ(even_tile(8191, 512), 512U);
  EXPECT_EQ(even_tile(801, 100), 89U) << "no multiple of 8 is even";
  EXPECT_EQ(even_tile(799, 100), 100U) << "fewer than eight tiles";
  EXPECT_EQ(even_tile(9, 1), 1U);
  EXPECT_EQ(even_tile(1, 1), 1U);
  for (std::uint64_t const tile : {64U, 100U, 256U, 512U, 768U}) {
    for (auto extent = 8 * tile; extent < 70 * tile; extent += 1 + tile / 13) {
      auto const size = even_tile(extent, tile);
      auto const rows = (extent + size - 1) / size;
      EXPECT_EQ(rows, (extent + tile - 1) / tile) << extent << " by " << tile;
      EXPECT_LE(rows * size - extent, std::max(extent / 32, rows - 1)) << extent << " by " << tile;
      EXPECT_LE(size, tile);
    }
  }
}

TEST(TileGrid, OnlyTheLastTileIsSmaller) {
  auto const grid = square_grid(20, 8);
  EXPECT_EQ(grid.tile_rows(), 3U);
  EXPECT_EQ(grid.rows_in(0), 8U);
  EXPECT_EQ(grid.rows_in(2), 4U);
  EXPECT_EQ(count_tiles(grid, MatrixPart::Lower), 6U);
}

TEST(TileGrid, ATileLargerThanTheMatrixIsCutToIt) {
  auto const grid = square_grid(5, 8);
  EXPECT_EQ(grid.tile_rows(), 1U);
  EXPECT_EQ(grid.rows_in(0), 5U);
}

TEST(TileGrid, TilesHoldTheElementsOfTheMatrixAndNoMore) {
  for (detail::TileGrid const grid :
       {detail::TileGrid{100, 3, 16}, {3, 100, 16}, {100, 1, 16}, {50, 70, 16}, {5, 5, 16}, {32, 32, 16}}) {
    std::uint64_t elements = 0;
    for (std::uint64_t i = 0; i < grid.tile_rows(); ++i) {
      for (std::uint64_t j = 0; j < grid.tile_cols(); ++j) {
        elements += grid.elements_in(i, j);
        EXPECT_LE(grid.elements_in(i, j), grid.largest_tile());
      }
    }
    EXPECT_EQ(elements, grid.rows * grid.cols);
  }
}

TEST(TileGrid, ItsSizeIsThatOfTheMatrixWhateverTheTile) {
  EXPECT_NO_THROW(check_size({5, 7, std::uint64_t{1} << 62U}, 8));
  EXPECT_EQ(detail::TileGrid({5, 7, std::uint64_t{1} << 62U}).largest_tile(), 35U);
  EXPECT_THROW(check_size({5, 7, std::uint64_t{1} << 63U}, 8), InvalidArgument);
  EXPECT_THROW(check_size({std::uint64_t{1} << 31U, std::uint64_t{1} << 31U, 512}, 16), InvalidArgument);
  EXPECT_NO_THROW(check_size({std::uint64_t{1} << 40U, 1, 512}, 16));
}

TEST(TileGrid, CountsTheTilesOfEveryPartOfARectangle) {
  for (std::uint64_t rows = 1; rows <= 5; ++rows) {
    for (std::uint64_t cols = 1; cols <= 5; ++cols) {
      detail::TileGrid const grid{rows * 8 - 3, cols * 8, 8};
      for (auto const part : {MatrixPart::All, MatrixPart::Lower, MatrixPart::Upper}) {
        std::uint64_t tiles = 0;
        for (std::uint64_t slot = 0; slot < rows * cols; ++slot)
          tiles += holds(part, grid.row_of(slot), grid.col_of(slot));
        EXPECT_EQ(count_tiles(grid, part), tiles);
      }
    }
  }
}

}  // namespace
}  // namespace granary
