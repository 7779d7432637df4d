// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/units.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace granary {
namespace {

using namespace std::chrono_literals;

TEST(ParseBytes, ReadsPlainNumbers) {
  EXPECT_EQ(parse_bytes("0"), 0U);
  EXPECT_EQ(parse_bytes("4096"), 4096U);
  EXPECT_EQ(parse_bytes("4096B"), 4096U);
}

TEST(ParseBytes, ReadsPowersOf1024) {
  EXPECT_EQ(parse_bytes("1K"), 1_KiB);
  EXPECT_EQ(parse_bytes("3KiB"), 3_KiB);
  EXPECT_EQ(parse_bytes("512MiB"), 512_MiB);
  EXPECT_EQ(parse_bytes("2G"), 2_GiB);
  EXPECT_EQ(parse_bytes("1TiB"), 1024_GiB);
}

TEST(ParseBytes, ReadsPowersOf1000) {
  EXPECT_EQ(parse_bytes("7kB"), 7000U);
  EXPECT_EQ(parse_bytes("150MB"), 150'000'000U);
  EXPECT_EQ(parse_bytes("2TB"), 2'000'000'000'000U);
}

TEST(ParseBytes, ReadsFractionsAndSpaces) {
  EXPECT_EQ(parse_bytes("1.5G"), 1536_MiB);
  EXPECT_EQ(parse_bytes("0.5KiB"), 512U);
  EXPECT_EQ(parse_bytes("1e3"), 1000U);
  EXPECT_EQ(parse_bytes("512 MiB"), 512_MiB);
  EXPECT_EQ(parse_bytes("1.9B"), 1U);
}

TEST(ParseBytes, ReadsTheLargestAndRefusesMore) {
  EXPECT_EQ(parse_bytes("8388607TiB"), 8388607 * 1024_GiB);
  EXPECT_THROW((void)parse_bytes("8388608TiB"), InvalidArgument);
  EXPECT_THROW((void)parse_bytes("1e300"), InvalidArgument);
}

class Malformed : public testing::TestWithParam<char const*> {};

TEST_P(Malformed, IsRefusedByName) {
  try {
    (void)parse_bytes(GetParam());
    FAIL() << "accepted '" << GetParam() << "'";
  } catch (InvalidArgument const& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(std::string("'") + GetParam() + "'"));
  }
}

INSTANTIATE_TEST_SUITE_P(ParseBytes, Malformed,
                         testing::Values("", " ", "MiB", "-1", "-1MiB", "+5", "five", "12XB", "12 MiB ", " 12MiB",
                                         "1.2.3G", "5 5", "512mib", "0x10", "inf", "nan", "infMiB", "1e999", "1,5G",
                                         "512MiBs", "10%"));

TEST(FormatBytes, ChoosesTheUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1_KiB), "1.0 KiB");
  EXPECT_EQ(format_bytes(150_MiB), "150.0 MiB");
  EXPECT_EQ(format_bytes(1536_MiB), "1.5 GiB");
  EXPECT_EQ(format_bytes(5000 * 1024_GiB), "5000.0 TiB");
}

TEST(RoundUp, GivesTheNextMultiple) {
  EXPECT_EQ(round_up(0, 4096), 0U);
  EXPECT_EQ(round_up(1, 4096), 4096U);
  EXPECT_EQ(round_up(4096, 4096), 4096U);
  EXPECT_EQ(round_up(4097, 4096), 8192U);
  EXPECT_EQ(round_up(7, 1), 7U);
}

TEST(Seconds, StopWhereSumsOfTwoCanStillBeCounted) {
  for (double const seconds : {1e10, 1e30, 1e308, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(from_seconds(seconds), longest_duration);
    EXPECT_EQ(from_seconds(-seconds), -longest_duration);
  }
  EXPECT_GT(from_seconds(4.6e9), Duration{0});
  EXPECT_LT(from_seconds(4.6e9), longest_duration);
  EXPECT_EQ(from_seconds(std::numeric_limits<double>::quiet_NaN()), Duration{0});
}

TEST(Seconds, ConvertBothWaysToTheNearestNanosecond) {
  EXPECT_EQ(from_seconds(1.5), 1500ms);
  EXPECT_EQ(from_seconds(-1.5), -1500ms);
  EXPECT_EQ(from_seconds(0.6e-9), 1ns);
  EXPECT_DOUBLE_EQ(seconds(250ms), 0.25);
}

}  // namespace
}  // namespace granary
