// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/data/strided_shape.hpp>

#include <gtest/gtest.h>

namespace granary {
namespace {

constexpr detail::MatrixShape by_columns{4, 3, 7, detail::TileLayout::ColumnMajor};
constexpr detail::MatrixShape by_rows{4, 3, 7, detail::TileLayout::RowMajor};

TEST(StridedShape, HasLinesInItsLayout) {
  EXPECT_EQ(by_columns.line(), 4U);
  EXPECT_EQ(by_columns.lines(), 3U);
  EXPECT_EQ(by_rows.line(), 3U);
  EXPECT_EQ(by_rows.lines(), 4U);
}

TEST(StridedShape, OffsetsFollowTheLeadingDimension) {
  EXPECT_EQ(by_columns.offset(2, 1), 9U);
  EXPECT_EQ(by_rows.offset(2, 1), 15U);
  detail::TileShape const tile{100000, 100000, 100000, detail::TileLayout::ColumnMajor};
  EXPECT_EQ(tile.offset(0, 99999), 9999900000U) << "offsets of a tile need more than 32 bits";
}

TEST(StridedShape, APartKeepsTheLeadingDimension) {
  EXPECT_EQ(by_columns.part(2, 2), (detail::MatrixShape{2, 2, 7, detail::TileLayout::ColumnMajor}));
}

TEST(StridedShape, TheTransposeHasTheSameBytes) {
  EXPECT_EQ(by_columns.transposed(), (detail::MatrixShape{3, 4, 7, detail::TileLayout::RowMajor}));
  EXPECT_EQ(by_columns.transposed().bytes(8), by_columns.bytes(8));
  EXPECT_EQ(by_columns.transposed().offset(1, 2), by_columns.offset(2, 1));
}

TEST(StridedShape, BecomesLinesOfBytes) {
  EXPECT_EQ(by_columns.bytes(8), (detail::ByteLines{.line = 32, .count = 3, .pitch = 56}));
  EXPECT_EQ(by_rows.part(2, 3).bytes(4), (detail::ByteLines{.line = 12, .count = 2, .pitch = 28}));
}

}  // namespace
}  // namespace granary
