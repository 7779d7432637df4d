// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/api/view_lines.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace granary::detail {
namespace {

ViewShape shape(std::initializer_list<std::size_t> extents, std::initializer_list<std::size_t> strides) {
  ViewShape of{.rank = extents.size()};
  std::ranges::copy(extents, of.extents.begin());
  std::ranges::copy(strides, of.strides.begin());
  return of;
}

void expect_lines(ViewShape const& of, Bytes line, std::uint64_t count, Bytes pitch) {
  auto const lines = lines_of(of, 8);
  ASSERT_TRUE(lines) << describe(of);
  EXPECT_EQ(lines->line, line) << describe(of);
  EXPECT_EQ(lines->count, count) << describe(of);
  EXPECT_EQ(lines->pitch, pitch) << describe(of);
  EXPECT_EQ(lines->packed, line) << describe(of);
}

std::vector<std::size_t> packed(ViewShape const& of) {
  auto const strides = packed_strides(of);
  return {strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(of.rank)};
}

TEST(ViewLines, ContiguousElementsHaveNone) {
  expect_lines(shape({}, {}), 0, 0, 0);
  expect_lines(shape({7}, {1}), 0, 0, 0);
  expect_lines(shape({3, 5}, {1, 3}), 0, 0, 0);
  expect_lines(shape({3, 5}, {5, 1}), 0, 0, 0);
  expect_lines(shape({3, 5, 2}, {2, 6, 1}), 0, 0, 0);
  expect_lines(shape({1, 5}, {77, 1}), 0, 0, 0);
  expect_lines(shape({0, 5}, {1, 9}), 0, 0, 0);
}

TEST(ViewLines, GapsInOneDimensionMakeThem) {
  expect_lines(shape({7}, {3}), 8, 7, 24);
  expect_lines(shape({3, 5}, {1, 10}), 24, 5, 80);
  expect_lines(shape({3, 5}, {10, 1}), 40, 3, 80);
  expect_lines(shape({1, 5}, {1, 10}), 8, 5, 80);
  expect_lines(shape({3, 5}, {2, 6}), 8, 15, 16);           // every other element of 3 x 5
  expect_lines(shape({3, 4, 5}, {1, 10, 40}), 24, 20, 80);  // a leading dimension of 10
  expect_lines(shape({3, 4, 5}, {1, 3, 20}), 96, 5, 160);   // matrices apart
  expect_lines(shape({5, 4, 3}, {20, 3, 1}), 96, 5, 160);
}

TEST(ViewLines, OtherViewsCannotLeaveTheirPlace) {
  EXPECT_FALSE(lines_of(shape({3, 5}, {2, 10}), 8)) << "gaps in two dimensions";
  EXPECT_FALSE(lines_of(shape({3, 4, 5}, {1, 10, 50}), 8));
  EXPECT_FALSE(lines_of(shape({3}, {0}), 8)) << "one element under three names";
  EXPECT_FALSE(lines_of(shape({3, 5}, {1, 2}), 8)) << "columns overlap";
  EXPECT_FALSE(lines_of(shape({3, 5}, {1, 1}), 8));
}

TEST(ViewLines, PackedStridesKeepTheOrderOfTheDimensions) {
  using Strides = std::vector<std::size_t>;
  EXPECT_EQ(packed(shape({7}, {3})), Strides({1}));
  EXPECT_EQ(packed(shape({3, 5}, {1, 10})), Strides({1, 3}));
  EXPECT_EQ(packed(shape({3, 5}, {10, 1})), Strides({5, 1}));
  EXPECT_EQ(packed(shape({3, 4, 5}, {5, 90, 1})), Strides({5, 15, 1}));
  EXPECT_EQ(packed(shape({3, 1, 5}, {1, 1, 9})), Strides({1, 1, 3}));
}

TEST(ViewLines, AShapeIsDescribedInOneLine) {
  EXPECT_EQ(describe(shape({3, 5}, {2, 10})), "extents 3 x 5, strides 2 x 10");
}

}  // namespace
}  // namespace granary::detail
