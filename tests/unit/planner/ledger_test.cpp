// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/core/planner/movement/ledger.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

namespace granary::detail {
namespace {

bool anything(DataId) { return true; }

TEST(Ledger, RoundsSizesUpToItsAlignment) {
  Ledger ledger(256, 64);
  EXPECT_EQ(ledger.rounded(1), 64U);
  EXPECT_EQ(ledger.allocate(DataId(0), 65, 0, 256), 0U);
  EXPECT_EQ(ledger.used(), 128U);
  EXPECT_EQ(ledger.allocate(DataId(1), 1, 0, 256), 128U);
  EXPECT_EQ(ledger.free_bytes(), 64U);
  EXPECT_FALSE(ledger.allocate(DataId(2), 65, 0, 256).has_value());
  EXPECT_EQ(ledger.allocate(DataId(2), 64, 0, 256), 192U);
  EXPECT_EQ(ledger.free_bytes(), 0U);
}

TEST(Ledger, TakesTheSmallestGapAndMergesNeighboursWhenFreed) {
  Ledger ledger(100, 1);
  for (std::uint32_t d = 0; d < 5; ++d) EXPECT_EQ(ledger.allocate(DataId(d), 20, 0, 100), d * 20U);
  ledger.free(0);
  ledger.free(20);
  ledger.free(60);
  EXPECT_EQ(ledger.allocate(DataId(9), 15, 0, 100), 60U);
  EXPECT_EQ(ledger.allocate(DataId(8), 40, 0, 100), 0U) << "the two gaps have become one";
}

TEST(Ledger, FreesTheEndOfABlockThatShrinks) {
  Ledger ledger(256, 16);
  ASSERT_EQ(ledger.allocate(DataId(0), 96, 0, 256), 0U);
  ASSERT_EQ(ledger.allocate(DataId(1), 32, 0, 256, Ledger::Fit::Tight), 96U);
  ledger.shrink(0, 50);
  EXPECT_EQ(ledger.used(), 64U + 32U);
  EXPECT_EQ(ledger.blocks().at(0).size, 64U);
  EXPECT_EQ(ledger.allocate(DataId(2), 32, 0, 256), 64U) << "the gap before the next block";
  ledger.shrink(96, 0);
  EXPECT_EQ(ledger.used(), 64U + 32U + 16U) << "a block keeps one unit";
  EXPECT_EQ(ledger.allocate(DataId(3), 144, 0, 256), 112U) << "the end became one gap with that behind it";
  ledger.shrink(112, 144);
  EXPECT_EQ(ledger.free_bytes(), 0U);
  for (Bytes const offset : {Bytes{0}, Bytes{64}, Bytes{96}, Bytes{112}}) ledger.free(offset);
  EXPECT_EQ(ledger.allocate(DataId(4), 256, 0, 256), 0U);
}

TEST(Ledger, StaysInsideTheRangeThatItIsGiven) {
  Ledger ledger(100, 1);
  EXPECT_FALSE(ledger.allocate(DataId(0), 61, 0, 60).has_value());
  EXPECT_EQ(ledger.allocate(DataId(0), 60, 0, 60), 0U);
  EXPECT_FALSE(ledger.allocate(DataId(1), 10, 0, 60).has_value());
  auto const above = ledger.allocate(DataId(1), 10, 60, 100);
  ASSERT_TRUE(above.has_value());
  EXPECT_GE(*above, 60U);
}

TEST(Ledger, CountsGapsThatAreSmallerThanAnyBlock) {
  Ledger ledger(1000, 10);
  EXPECT_EQ(ledger.lost_to_gaps(), 0U);
  for (std::uint32_t d = 0; d < 4; ++d) ASSERT_TRUE(ledger.allocate(DataId(d), 200, 0, 1000).has_value());
  ledger.free(200);
  EXPECT_EQ(ledger.lost_to_gaps(), 0U) << "another block of that size fits";
  EXPECT_EQ(ledger.allocate(DataId(4), 120, 0, 1000), 200U);
  EXPECT_EQ(ledger.lost_to_gaps(), 80U);
  EXPECT_EQ(ledger.allocate(DataId(5), 15, 0, 1000), 320U);
  EXPECT_EQ(ledger.lost_to_gaps(), 0U) << "60 bytes are room for another 20";
  for (Bytes const offset : {0U, 200U, 320U, 400U, 600U}) ledger.free(offset);
  EXPECT_EQ(ledger.allocate(DataId(6), 600, 0, 1000), 0U);
  EXPECT_EQ(ledger.lost_to_gaps(), 400U) << "sizes of blocks that are gone do not count once the memory was empty";
}

TEST(Ledger, FindsTheWindowThatEvictsTheFewestBytes) {
  Ledger ledger(100, 1);
  for (std::uint32_t d = 0; d < 5; ++d) ASSERT_TRUE(ledger.allocate(DataId(d), 20, 0, 100).has_value());
  ledger.free(40);  // datum 2
  EXPECT_EQ(ledger.window(40, 0, 100, anything).size(), 1U);
  EXPECT_TRUE(ledger.window(40, 0, 100, [](DataId) { return false; }).empty());
  auto const not_next = ledger.window(40, 0, 100, [](DataId d) { return d != DataId(1) && d != DataId(3); });
  EXPECT_TRUE(not_next.empty()) << "between the two there are only 20 bytes";
  auto const right = ledger.window(40, 0, 100, [](DataId d) { return d != DataId(1); });
  EXPECT_EQ(right, (std::vector<DataId>{DataId(3)}));
}

TEST(Ledger, AWindowRatherHasWhatWouldBeEvictedNext) {
  Ledger ledger(100, 1);
  for (std::uint32_t d = 0; d < 4; ++d) ASSERT_TRUE(ledger.allocate(DataId(d), 20, 0, 100).has_value());
  ASSERT_EQ(ledger.allocate(DataId(4), 16, 0, 100), 80U);
  EXPECT_EQ(ledger.window(20, 0, 100, anything), (std::vector<DataId>{DataId(4)})) << "16 bytes beside 4 free ones";
  EXPECT_EQ(ledger.window(20, 0, 100, anything, DataId(2)), (std::vector<DataId>{DataId(2)}));
  EXPECT_EQ(ledger.window(4, 0, 100, anything, DataId(2)), (std::vector<DataId>{})) << "they are free";
  ledger.shrink(80, 2);
  EXPECT_EQ(ledger.window(20, 0, 100, anything, DataId(2)), (std::vector<DataId>{DataId(4)})) << "less than a quarter";
}

// Tiles of 40 bytes, and those at the edges of a matrix.
TEST(Ledger, KeepsSlotsForTheUsualSize) {
  Ledger ledger(400, 1);
  EXPECT_EQ(ledger.slot(), 0U);
  for (std::uint32_t d = 0; d < 9; ++d) ASSERT_EQ(ledger.allocate(DataId(d), 40, 0, 400), d * 40U);
  EXPECT_EQ(ledger.slot(), 40U);
  ledger.free(80);
  EXPECT_EQ(ledger.allocate(DataId(20), 10, 0, 400), 80U) << "the smallest gap that is long enough";
  EXPECT_EQ(ledger.allocate(DataId(21), 12, 0, 400), 90U) << "the rest of a slot, although another one is free";
  EXPECT_EQ(ledger.allocate(DataId(22), 30, 0, 400), 360U);
  ledger.free(120);
  EXPECT_EQ(ledger.allocate(DataId(23), 38, 0, 400), 120U)
      << "about the usual size, and not across the border before it";
  ledger.free(120);
  ledger.free(80);
  EXPECT_EQ(ledger.allocate(DataId(24), 40, 0, 400), 120U) << "not where the gap begins, which would break two slots";
  EXPECT_EQ(ledger.allocate(DataId(25), 39, 0, 400), std::nullopt);
  EXPECT_EQ(ledger.free_bytes(), 10U + 18U + 10U);
}

TEST(Ledger, FillsMemoryWithoutALimitFromItsStart) {
  Ledger ledger(unbounded, 4096);
  for (std::uint32_t d = 0; d < 4; ++d) ASSERT_EQ(ledger.allocate(DataId(d), 40960, 0, unbounded), d * 40960U);
  EXPECT_EQ(ledger.allocate(DataId(4), 4096, 0, unbounded), 4 * 40960U) << "a scratch file is as long as what it has";
}

TEST(Ledger, TakesWhatIsFreeWhereNoSlotIs) {
  Ledger ledger(100, 1);
  ASSERT_EQ(ledger.allocate(DataId(0), 20, 0, 100), 0U);
  ASSERT_EQ(ledger.allocate(DataId(1), 40, 0, 100), 20U);
  EXPECT_EQ(ledger.slot(), 40U);
  EXPECT_EQ(ledger.allocate(DataId(2), 40, 0, 100), 60U) << "the only gap";
}

TEST(Ledger, HasNoSlotsWhereSizesAreMixed) {
  Ledger ledger(1000, 1);
  ASSERT_EQ(ledger.allocate(DataId(0), 100, 0, 1000), 0U);
  ASSERT_EQ(ledger.allocate(DataId(1), 60, 0, 1000), 100U);
  EXPECT_EQ(ledger.slot(), 0U) << "fewer than two thirds";
  ASSERT_EQ(ledger.allocate(DataId(2), 100, 0, 1000), 160U);
  EXPECT_EQ(ledger.slot(), 100U);
  ASSERT_EQ(ledger.allocate(DataId(3), 104, 0, 1000), 312U) << "sizes that differ by less than an eighth are one";
  EXPECT_EQ(ledger.slot(), 104U);
  ledger.free(312);
  EXPECT_EQ(ledger.slot(), 104U) << "the grid stays";
}

TEST(Ledger, FillsAnEmptyRangeTightly) {
  Ledger ledger(100, 1);
  for (Bytes const size : {40U, 34U, 26U})
    ASSERT_TRUE(
        ledger.allocate(DataId(static_cast<std::uint32_t>(size)), size, 0, 100, Ledger::Fit::Tight).has_value());
  EXPECT_EQ(ledger.free_bytes(), 0U);
}

// The slow reference: one entry per byte.
TEST(Ledger, AgreesWithAMapOfBytesOnRandomUse) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    Bytes const alignment = Bytes{1} << random.below(4);
    Bytes const capacity = 200 + random.below(200);
    Ledger ledger(capacity, alignment);
    std::vector<std::uint32_t> owner(capacity, std::numeric_limits<std::uint32_t>::max());
    auto const is_free = [&](Bytes at) { return owner[at] == std::numeric_limits<std::uint32_t>::max(); };
    std::map<Bytes, Bytes> taken;
    for (std::uint32_t step = 0; step < 500; ++step) {
      if (random.chance(0.6)) {
        Bytes const bytes = 1 + random.below(60);
        Bytes const size = ledger.rounded(bytes);
        Bytes longest = 0;
        for (Bytes at = 0, run = 0; at < capacity / alignment * alignment; ++at) {
          run = is_free(at) ? run + 1 : 0;
          longest = std::max(longest, run);
        }
        auto const offset = ledger.allocate(DataId(step), bytes, 0, capacity);
        ASSERT_EQ(offset.has_value(), longest >= size) << "seed " << seed << ", step " << step;
        if (!offset) continue;
        ASSERT_EQ(*offset % alignment, 0U);
        ASSERT_LE(*offset + size, capacity);
        for (Bytes at = *offset; at < *offset + size; ++at) {
          ASSERT_TRUE(is_free(at)) << "seed " << seed << ", step " << step;
          owner[at] = step;
        }
        taken[*offset] = size;
      } else if (!taken.empty()) {
        auto const one = std::next(taken.begin(), static_cast<std::ptrdiff_t>(random.below(taken.size())));
        ledger.free(one->first);
        for (Bytes at = one->first; at < one->first + one->second; ++at) {
          owner[at] = std::numeric_limits<std::uint32_t>::max();
        }
        taken.erase(one);
      }
      Bytes sum = 0;
      for (auto const& [offset, size] : taken) sum += size;
      ASSERT_EQ(ledger.used(), sum);
    }
  }
}

}  // namespace
}  // namespace granary::detail
