// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RankDeficient goes to other processes as text, and comes back as it was.
#include <granary/detail/core/base/error_kinds.hpp>
#include <granary/detail/linalg/algorithms/rank_deficient.hpp>

#include <gtest/gtest.h>

#include <numeric>

namespace granary {
namespace {

void expect_returns(RankDeficient const& error) {
  auto const text = detail::text_of(error);
  EXPECT_EQ(text.kind, "RankDeficient");
  auto const made = detail::error_of(text);
  ASSERT_NE(made, nullptr);
  try {
    std::rethrow_exception(made);
  } catch (RankDeficient const& again) {
    EXPECT_EQ(again.column(), error.column());
    EXPECT_EQ(again.others(), error.others());
    EXPECT_STREQ(again.what(), error.what());
  }
}

TEST(RankDeficientColumn, IsTheSameInAnotherProcess) {
  expect_returns(RankDeficient(3, {1, 2}));
  expect_returns(RankDeficient(3, {1}));
  expect_returns(RankDeficient(3, {}));
  expect_returns(RankDeficient(3));
}

TEST(RankDeficientColumn, NamesAtMostEightOthers) {
  std::vector<std::uint64_t> others(20);
  std::iota(others.begin(), others.end(), std::uint64_t{1});
  EXPECT_STREQ(RankDeficient(21, others).what(),
               "column 21 is a linear combination of the columns 1, 2, 3, 4, 5, 6, 7, 8 and 12 others: they do not "
               "determine a unique solution");
  EXPECT_STREQ(RankDeficient(2, {1}).what(),
               "column 2 is a multiple of column 1: they do not determine a unique solution");
  EXPECT_STREQ(RankDeficient(2, {}).what(), "column 2 is zero: the columns do not determine a unique solution");
}

}  // namespace
}  // namespace granary
