// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/runtime/call_operand.hpp>

#include <gtest/gtest.h>

#include <set>

namespace granary::detail {
namespace {

std::set<std::uint64_t> bytes_of(HostLines const& lines) {
  std::set<std::uint64_t> bytes;
  for (std::uint64_t i = 0; i < lines.lines; ++i) {
    for (std::uint64_t x = 0; x < lines.line; ++x) bytes.insert(lines.first + i * lines.leading + x);
  }
  return bytes;
}
bool share_bytes(HostLines const& a, HostLines const& b) {
  auto const in_a = bytes_of(a);
  for (auto const byte : bytes_of(b)) {
    if (in_a.contains(byte)) return true;
  }
  return false;
}

TEST(CallOperand, LinesWithOneLeadingDimensionOverlapExactlyWhereTheyShareABytes) {
  for (std::uint64_t const leading : {1, 3, 7}) {
    HostLines const a{100, std::min<std::uint64_t>(3, leading), 4, leading};
    for (std::uint64_t first = 60; first < 140; ++first) {
      for (std::uint64_t line = 1; line <= leading; ++line) {
        for (std::uint64_t const lines : {1, 2, 5}) {
          HostLines const b{first, line, lines, leading};
          EXPECT_EQ(overlap(a, b), share_bytes(a, b)) << leading << " " << first << " " << line << " " << lines;
          EXPECT_EQ(overlap(b, a), share_bytes(a, b));
        }
      }
    }
  }
}

TEST(CallOperand, ASingleLineHasAnyLeadingDimension) {
  HostLines const a{100, 3, 4, 7};
  for (std::uint64_t first = 60; first < 140; ++first) {
    for (std::uint64_t const line : {1, 4, 5, 20}) {
      HostLines const b{first, line, 1, line};
      EXPECT_EQ(overlap(a, b), share_bytes(a, b)) << first << " " << line;
      EXPECT_EQ(overlap(b, a), share_bytes(a, b)) << first << " " << line;
    }
  }
}

TEST(CallOperand, OtherwiseTheRangesCount) {
  HostLines const a{100, 3, 4, 7};  // up to 124
  EXPECT_TRUE(overlap(a, {104, 1, 2, 8}));
  EXPECT_TRUE(overlap(a, {123, 1, 2, 8}));
  EXPECT_FALSE(overlap(a, {124, 1, 2, 8}));
  EXPECT_FALSE(overlap(a, {91, 1, 2, 8}));
}

}  // namespace
}  // namespace granary::detail
