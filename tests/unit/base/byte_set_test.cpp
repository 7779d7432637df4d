// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/byte_set.hpp>
#include <granary/detail/core/base/random.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

namespace granary {
namespace {

using Dimensions = std::vector<detail::ByteSet::Dimension>;

std::array<std::byte, 4096> memory;

detail::ByteSet set_of(std::uint64_t first, std::uint64_t run, Dimensions const& dimensions = {}) {
  return {memory.data() + first, run, dimensions};
}

std::set<std::uint64_t> bytes_of(std::uint64_t first, std::uint64_t run, Dimensions const& dimensions) {
  std::set<std::uint64_t> starts{first};
  for (auto const& [extent, stride] : dimensions) {
    auto const before = starts;
    for (auto const start : before) {
      for (std::uint64_t i = 1; i < extent; ++i) starts.insert(start + i * stride);
    }
  }
  std::set<std::uint64_t> bytes;
  for (auto const start : starts) {
    for (std::uint64_t x = 0; x < run; ++x) bytes.insert(start + x);
  }
  return bytes;
}

TEST(ByteSet, TheSameBytesAreEqualWhateverTheRank) {
  EXPECT_EQ(set_of(0, 8, {{64, 8}}), set_of(0, 512));
  EXPECT_EQ(set_of(0, 8, {{8, 8}, {8, 64}}), set_of(0, 8, {{8, 64}, {8, 8}}));
  EXPECT_EQ(set_of(0, 8, {{4, 8}, {3, 100}}), set_of(0, 32, {{3, 100}}));
  EXPECT_EQ(set_of(0, 8, {{4, 16}, {3, 64}}), set_of(0, 8, {{12, 16}}));
  EXPECT_EQ(set_of(0, 8, {{1, 1000}, {5, 8}}), set_of(0, 40));
  EXPECT_EQ(set_of(0, 8, {{5, 0}}), set_of(0, 8));
  EXPECT_NE(set_of(0, 8, {{5, 16}}), set_of(0, 8, {{5, 24}}));
  EXPECT_NE(set_of(0, 8), set_of(8, 8));
  EXPECT_NE(set_of(0, 8, {{2, 16}}), set_of(0, 24)) << "the first and the last byte are the same, the middle is not";
}

TEST(ByteSet, KnowsItsRange) {
  auto const set = set_of(100, 8, {{3, 50}, {2, 1000}});
  EXPECT_EQ(set.span(), 8U + 2 * 50 + 1000);
  EXPECT_EQ(set.end() - set.first(), set.span());
  EXPECT_TRUE(detail::ByteSet().empty());
  EXPECT_FALSE(overlap(detail::ByteSet(), set));
}

TEST(ByteSet, TilesOfAMatrixInterleaveAndDoNotOverlap) {
  std::uint64_t const leading = 240;  // a column of 30 doubles
  auto const tile = [&](std::uint64_t i, std::uint64_t j) {
    return set_of(i * 80 + j * 5 * leading, 80, {{5, leading}});
  };
  EXPECT_FALSE(overlap(tile(0, 0), tile(1, 0)));
  EXPECT_FALSE(overlap(tile(2, 0), tile(1, 0)));
  EXPECT_FALSE(overlap(tile(2, 0), tile(0, 1)));
  EXPECT_TRUE(overlap(tile(1, 1), tile(1, 1)));
  EXPECT_TRUE(overlap(tile(1, 1), set_of(0, 12 * leading)));
}

// The reference: the sets themselves, byte by byte.
TEST(ByteSet, OverlapsExactlyWhereBytesAreShared) {
  detail::Random random(20261122);
  int overlapping = 0;
  int disjoint = 0;
  for (int round = 0; round < 20000; ++round) {
    auto const draw = [&](std::uint64_t least, std::uint64_t most) { return least + random.below(most - least + 1); };
    auto const dimensions = [&] {
      Dimensions drawn(draw(0, 3));
      for (auto& dimension : drawn) dimension = {draw(1, 4), draw(0, 60)};
      return drawn;
    };
    std::uint64_t const first_a = draw(0, 150);
    std::uint64_t const first_b = draw(0, 150);
    std::uint64_t const run_a = draw(1, 6);
    std::uint64_t const run_b = draw(1, 6);
    auto const in_a = dimensions();
    auto const in_b = random.below(2) == 0 ? in_a : dimensions();
    auto const a = set_of(first_a, run_a, in_a);
    auto const b = set_of(first_b, run_b, in_b);
    auto const bytes_a = bytes_of(first_a, run_a, in_a);
    auto const bytes_b = bytes_of(first_b, run_b, in_b);
    bool shared = false;
    for (auto const byte : bytes_b) shared = shared || bytes_a.contains(byte);
    ASSERT_EQ(overlap(a, b), shared) << "round " << round;
    ASSERT_EQ(overlap(b, a), shared) << "round " << round;
    ASSERT_TRUE(a != b || bytes_a == bytes_b) << "round " << round;
    ++(shared ? overlapping : disjoint);
  }
  EXPECT_GT(overlapping, 1000);
  EXPECT_GT(disjoint, 1000);
}

TEST(ByteSet, KnowsWhichOfTwoCoversTheOther) {
  std::uint64_t const leading = 240;
  auto const block = [&](std::uint64_t i, std::uint64_t j, std::uint64_t rows, std::uint64_t cols) {
    return set_of(i * 8 + j * leading, rows * 8, {{cols, leading}});
  };
  auto const whole = set_of(0, 12 * leading);
  EXPECT_TRUE(covers(whole, block(3, 2, 4, 5)));
  EXPECT_FALSE(covers(block(3, 2, 4, 5), whole));
  EXPECT_TRUE(covers(block(3, 2, 4, 5), block(3, 2, 4, 5)));
  EXPECT_TRUE(covers(block(3, 2, 4, 5), block(4, 3, 1, 4))) << "a row of a block";
  EXPECT_TRUE(covers(block(3, 2, 4, 5), block(3, 6, 4, 1))) << "its last column";
  EXPECT_FALSE(covers(block(3, 2, 4, 5), block(3, 7, 4, 1))) << "the column behind it";
  EXPECT_FALSE(covers(block(3, 2, 4, 5), block(6, 3, 2, 1))) << "one row too many";
  EXPECT_FALSE(covers(block(3, 2, 4, 5), block(2, 3, 2, 1)));
  EXPECT_TRUE(covers(set_of(0, 8, {{30, 16}}), set_of(32, 8, {{5, 48}}))) << "every third of its elements";
  EXPECT_FALSE(covers(set_of(0, 8, {{30, 16}}), set_of(32, 8, {{5, 40}})));
  EXPECT_TRUE(covers(set_of(0, 8, {{4, 16}, {3, 100}, {2, 1000}}), set_of(116, 8, {{2, 32}, {2, 1000}})));
}

// Never wrong, and exact for nested strides.
TEST(ByteSet, CoversWhatItContains) {
  detail::Random random(20261123);
  int covered = 0;
  for (int round = 0; round < 20000; ++round) {
    auto const draw = [&](std::uint64_t least, std::uint64_t most) { return least + random.below(most - least + 1); };
    std::uint64_t const run = draw(1, 3);
    std::uint64_t const inner = run + draw(0, 3);
    std::uint64_t const rows = draw(1, 5);
    std::uint64_t const outer = rows * inner + draw(0, 6);
    Dimensions const in_a{{rows, inner}, {draw(1, 5), outer}};
    bool const nested = random.chance(0.6);
    Dimensions const in_b{{draw(1, 4), inner * (nested ? draw(1, 2) : 1) + (nested ? 0 : draw(0, 4))},
                          {draw(1, 4), outer * (nested ? draw(1, 2) : 1) + (nested ? 0 : draw(0, 4))}};
    std::uint64_t const first_b = draw(0, 40);
    std::uint64_t const run_b = draw(1, 3);
    auto const bytes_a = bytes_of(0, run, in_a);
    auto const bytes_b = bytes_of(first_b, run_b, in_b);
    bool contained = true;
    for (auto const byte : bytes_b) contained = contained && bytes_a.contains(byte);
    bool const found = covers(set_of(0, run, in_a), set_of(first_b, run_b, in_b));
    ASSERT_TRUE(contained || !found) << "round " << round;
    // Not exact where the inner dimension of b steps from one column of a into the next, as do merged dimensions.
    bool const within = nested && in_b[0].extent * in_b[0].stride != in_b[1].stride && run < inner &&
                        rows * inner < outer &&
                        first_b % outer + (in_b[0].extent - 1) * in_b[0].stride + run_b <= outer;
    if (within) {
      ASSERT_EQ(found, contained) << "round " << round;
    }
    covered += found ? 1 : 0;
  }
  EXPECT_GT(covered, 500);
}

TEST(ByteSet, EnumeratesItsRuns) {
  using Runs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  auto const runs_of = [](detail::ByteSet const& set) {
    Runs runs;
    set.for_each_run([&](std::uint64_t offset, std::uint64_t bytes) { runs.emplace_back(offset, bytes); });
    return runs;
  };
  EXPECT_EQ(runs_of({}), Runs());
  EXPECT_EQ(runs_of(set_of(16, 24)), Runs({{0, 24}}));
  EXPECT_EQ(runs_of(set_of(0, 8, {{3, 8}})), Runs({{0, 24}}));
  EXPECT_EQ(runs_of(set_of(8, 8, {{2, 100}, {2, 1000}})), Runs({{0, 8}, {100, 8}, {1000, 8}, {1100, 8}}));
}

TEST(ByteSet, MatricesOfDifferentPitchesAreToldApart) {
  // Every 7th and every 11th double: they meet at multiples of 77 only.
  EXPECT_TRUE(overlap(set_of(0, 8, {{20, 56}}), set_of(77 * 8, 8, {{20, 88}})));
  EXPECT_FALSE(overlap(set_of(0, 8, {{11, 56}}), set_of(88, 8, {{6, 88}})));
}

}  // namespace
}  // namespace granary
