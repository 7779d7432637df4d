// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/random.hpp>

#include <gtest/gtest.h>

#include <set>

namespace granary {
namespace {

TEST(Random, FollowsThePublishedSequence) {
  detail::Random random(1234567);  // the reference values of SplitMix64
  EXPECT_EQ(random.next(), 6457827717110365317U);
  EXPECT_EQ(random.next(), 3203168211198807973U);
  EXPECT_EQ(random.next(), 9817491932198370423U);
}

TEST(Random, StaysWithinItsBounds) {
  detail::Random random(7);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_LT(random.below(10), 10U);
    seen.insert(random.between(-2, 2));
    double const u = random.uniform();
    EXPECT_TRUE(u >= 0 && u < 1);
  }
  EXPECT_EQ(seen, (std::set<std::int64_t>{-2, -1, 0, 1, 2}));
}

TEST(Random, DrawsWithExtremeChancesAndBounds) {
  detail::Random random(7);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(random.chance(0));
    EXPECT_TRUE(random.chance(1));
    EXPECT_EQ(random.below(1), 0U);
    EXPECT_EQ(random.between(5, 5), 5);
  }
}

}  // namespace
}  // namespace granary
