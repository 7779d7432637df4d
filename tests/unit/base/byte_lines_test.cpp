// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/byte_lines.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace granary {
namespace {

TEST(ByteLines, CountsBytesWithAndWithoutGaps) {
  detail::ByteLines const gaps{.line = 10, .count = 3, .pitch = 16};
  EXPECT_EQ(gaps.bytes(), 30U);
  EXPECT_EQ(gaps.span(), 42U);
  EXPECT_FALSE(gaps.contiguous());
  detail::ByteLines const none{.line = 16, .count = 3, .pitch = 16};
  EXPECT_EQ(none.bytes(), none.span());
  EXPECT_TRUE(none.contiguous());
  EXPECT_TRUE((detail::ByteLines{.line = 10, .count = 1, .pitch = 16}.contiguous())) << "one line has no gap";
  EXPECT_EQ(detail::ByteLines{}.span(), 0U);
}

TEST(ByteLines, OverlapOnlyInTheirLines) {
  std::array<std::byte, 48> memory{};
  auto const left = detail::bytes_at(memory.data(), {.line = 10, .count = 3, .pitch = 16});
  auto const between = detail::bytes_at(memory.data() + 10, {.line = 6, .count = 2, .pitch = 16});
  auto const wider = detail::bytes_at(memory.data() + 9, {.line = 7, .count = 2, .pitch = 16});
  EXPECT_FALSE(overlap(left, between));
  EXPECT_TRUE(overlap(left, wider));
  EXPECT_EQ(detail::bytes_at(memory.data(), {.line = 16, .count = 3, .pitch = 16}), detail::ByteSet(memory.data(), 48));
}

}  // namespace
}  // namespace granary
