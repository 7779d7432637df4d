// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/engine/data_bytes.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace granary {

using namespace detail;

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::byte memory[1 << 16];

ByteSet bytes(std::uint64_t first, std::uint64_t count) { return {memory + first, count}; }
std::vector<DataId> sharing(DataBytes const& all, ByteSet const& set) {
  std::vector<DataId> data;
  for (auto const& shared : all.sharing(set)) data.push_back(shared.other);
  return data;
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

TEST(DataBytes, KnowsWhoSharesBytesAndCoversWhom) {
  DataBytes all;
  all.add(DataId(0), bytes(0, 1000));
  all.add(DataId(1), bytes(1000, 10));
  all.add(DataId(2), {});
  EXPECT_THAT(sharing(all, bytes(1010, 10)), IsEmpty());
  EXPECT_THAT(sharing(all, {}), IsEmpty());
  EXPECT_THAT(sharing(all, bytes(999, 2)), UnorderedElementsAre(DataId(0), DataId(1)));
  auto const part = all.sharing(bytes(10, 20));
  ASSERT_EQ(part.size(), 1U);
  EXPECT_TRUE(part[0].covered);
  EXPECT_FALSE(part[0].covers);
  auto const larger = all.sharing(bytes(1000, 20));
  ASSERT_EQ(larger.size(), 1U);
  EXPECT_FALSE(larger[0].covered);
  EXPECT_TRUE(larger[0].covers);
  all.forget(DataId(0));
  all.forget(DataId(2));
  EXPECT_THAT(sharing(all, bytes(999, 2)), ElementsAre(DataId(1)));
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
        if (overlap(its, set)) expected.emplace_back(other);
      }
      met += expected.size();
      ASSERT_THAT(sharing(all, set), testing::UnorderedElementsAreArray(expected)) << "round " << round;
      ASSERT_EQ(all.find(set), DataId(id));
    }
  }
  EXPECT_GT(met, 1000U);
}

}  // namespace
}  // namespace granary
