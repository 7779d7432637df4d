// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/base/random.hpp>
#include <granary/core/engine/data_bytes.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace granary {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::byte memory[1 << 16];

ByteSet bytes(std::uint64_t first, std::uint64_t count) { return {memory + first, count}; }
std::vector<DataId> overlapping(DataBytes const& all, std::uint32_t data) {
  auto const found = all.overlapping(DataId(data));
  return {found.begin(), found.end()};
}

TEST(DataBytes, FindsExactlyTheSameBytes) {
  DataBytes all;
  all.add(DataId(7), bytes(64, 64));
  EXPECT_EQ(all.find(bytes(64, 64)), DataId(7));
  EXPECT_FALSE(all.find(bytes(64, 63)).valid());
  EXPECT_FALSE(all.find(bytes(65, 64)).valid());
  all.forget(DataId(7));
  EXPECT_FALSE(all.find(bytes(64, 64)).valid());
  all.forget(DataId(7));
  all.forget(DataId(8));
}

TEST(DataBytes, NotesWhatOverlapsUntilOneIsForgotten) {
  DataBytes all;
  all.add(DataId(0), bytes(0, 1000));
  all.add(DataId(1), bytes(1000, 10));
  EXPECT_FALSE(all.any_overlap());
  all.add(DataId(2), bytes(999, 2));
  EXPECT_TRUE(all.any_overlap());
  EXPECT_THAT(overlapping(all, 0), ElementsAre(DataId(2)));
  EXPECT_THAT(overlapping(all, 1), ElementsAre(DataId(2)));
  EXPECT_THAT(overlapping(all, 2), UnorderedElementsAre(DataId(0), DataId(1)));
  EXPECT_THAT(overlapping(all, 3), IsEmpty());
  all.forget(DataId(0));
  EXPECT_THAT(overlapping(all, 2), ElementsAre(DataId(1)));
  all.forget(DataId(2));
  EXPECT_FALSE(all.any_overlap());
  EXPECT_THAT(overlapping(all, 1), IsEmpty());
}

TEST(DataBytes, AgreesWithLookingAtEachPair) {
  Random random(7);
  DataBytes all;
  std::map<std::uint32_t, ByteSet> reference;
  std::size_t met = 0;
  for (std::uint32_t round = 0; round < 3000; ++round) {
    std::uint32_t const data = static_cast<std::uint32_t>(random.below(60));
    if (reference.erase(data) > 0) {
      all.forget(DataId(data));
    } else {
      std::uint64_t const run = 1 + random.below(std::uint64_t{1} << random.below(12));
      ByteSet::Dimension const rows{1 + random.below(5), 1 + random.below(4000)};
      ByteSet const added(memory + random.below(30000), run, {&rows, 1});
      if (all.find(added).valid()) continue;
      all.add(DataId(data), added);
      reference.emplace(data, added);
    }
    for (auto const& [id, set] : reference) {
      std::vector<DataId> expected;
      for (auto const& [other, its] : reference) {
        if (other != id && overlap(its, set)) expected.emplace_back(other);
      }
      met += expected.size();
      ASSERT_THAT(overlapping(all, id), testing::UnorderedElementsAreArray(expected)) << "round " << round;
      ASSERT_EQ(all.find(set), DataId(id));
    }
  }
  EXPECT_GT(met, 1000U);
}

}  // namespace
}  // namespace granary
