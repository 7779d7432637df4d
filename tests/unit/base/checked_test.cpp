// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/checked.hpp>

#include "support/message_of.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace granary {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

TEST(CheckedProduct, IsExactUpToTheLargestSize) {
  EXPECT_EQ(checked_product({}), 1U);
  EXPECT_EQ(checked_product({3, 5, 7}), 105U);
  EXPECT_EQ(checked_product({largest_size}), largest_size);
  EXPECT_EQ(checked_product({largest_size, 1}), largest_size);
  EXPECT_EQ(checked_product({1ULL << 31U, 1ULL << 31U}), 1ULL << 62U);
}

TEST(CheckedProduct, IsNothingBeyond) {
  EXPECT_EQ(checked_product({1ULL << 63U}), std::nullopt);
  EXPECT_EQ(checked_product({1ULL << 32U, 1ULL << 31U}), std::nullopt);
  EXPECT_EQ(checked_product({1ULL << 33U, 1ULL << 33U}), std::nullopt) << "modulo 2^64 it would be 0";
  EXPECT_EQ(checked_product({(1ULL << 61U) + 512, 8}), std::nullopt) << "modulo 2^64 it would be 4096";
  EXPECT_EQ(checked_product({most, most, most}), std::nullopt);
}

TEST(CheckedProduct, OfAZeroIsZero) {
  EXPECT_EQ(checked_product({0, most, most}), 0U);
  EXPECT_EQ(checked_product({most, most, 0}), 0U);
}

TEST(CheckedSum, IsNothingBeyondTheLargestSize) {
  EXPECT_EQ(checked_sum(3, 4), 7U);
  EXPECT_EQ(checked_sum(largest_size, 0), largest_size);
  EXPECT_EQ(checked_sum(largest_size, 1), std::nullopt);
  EXPECT_EQ(checked_sum(most, most), std::nullopt);
}

TEST(CheckedExtent, RefusesWhatIsNegative) {
  EXPECT_EQ(checked_extent(7), 7U);
  EXPECT_EQ(checked_extent(most), most);
  EXPECT_EQ(test::message_of([] { return checked_extent(-1); }),
            "an array cannot have an extent of -1: extents must be at least 0");
}

TEST(ArrayBytes, NamesTheExtentsOfWhatIsTooLarge) {
  EXPECT_EQ(array_bytes({3, 4}, 8), 96U);
  EXPECT_EQ(array_bytes({}, 8), 8U);
  EXPECT_EQ(test::message_of([] {
              return array_bytes({1ULL << 33U, 1ULL << 33U}, 8);
            }),
            "an array of 8589934592 x 8589934592 elements of 8 bytes is too large: the limit is 2^63 - 1 bytes");
}

}  // namespace
}  // namespace granary
