// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/access.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace granary {
namespace {

Access access(std::uint32_t data, AccessMode mode) { return {DataId(data), mode}; }

TEST(AccessMode, ItsPredicatesFollowItsName) {
  EXPECT_TRUE(reads(AccessMode::Read));
  EXPECT_FALSE(writes(AccessMode::Read));
  EXPECT_FALSE(reads(AccessMode::Write));
  EXPECT_TRUE(writes(AccessMode::Write));
  EXPECT_TRUE(reads(AccessMode::ReadWrite));
  EXPECT_TRUE(writes(AccessMode::ReadWrite));
  EXPECT_FALSE(commutes(AccessMode::ReadWrite));
  EXPECT_TRUE(reads(AccessMode::Commute));
  EXPECT_TRUE(writes(AccessMode::Commute));
  EXPECT_TRUE(commutes(AccessMode::Commute));
  EXPECT_EQ(AccessMode::Read | AccessMode::Write, AccessMode::ReadWrite);
  EXPECT_EQ(AccessMode::Write | AccessMode::Write, AccessMode::Write);
}

TEST(AccessList, MergesTheModesOfARepeatedDatum) {
  std::vector<Access> const given{access(1, AccessMode::Read), access(2, AccessMode::Write),
                                  access(1, AccessMode::Write), access(1, AccessMode::Read)};
  AccessList const list{given};
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list[0].mode, AccessMode::ReadWrite);
  EXPECT_FALSE(list[0].repeated);
  EXPECT_FALSE(list[1].repeated);
  EXPECT_TRUE(list[2].repeated);
  EXPECT_TRUE(list[3].repeated);
}

TEST(AccessList, CommutesOnlyIfAllAccessesOfTheDatumDo) {
  using enum AccessMode;
  EXPECT_EQ(Commute | Commute, Commute);
  for (auto const other : {Read, Write, ReadWrite}) {
    EXPECT_EQ(Commute | other, ReadWrite);
    EXPECT_EQ(other | Commute, ReadWrite);
  }
  std::vector<Access> const given{access(1, Commute), access(2, Commute), access(1, Commute),
                                  access(2, Read),    access(2, Commute), access(3, Read)};
  AccessList const list{given};
  EXPECT_EQ(list[0].mode, Commute);
  EXPECT_EQ(list[1].mode, ReadWrite);
  EXPECT_TRUE(list.commutes());
  EXPECT_FALSE(AccessList(std::span(given).subspan(3, 1)).commutes());
}

TEST(AccessList, KeepsShortAndLongListsInOrderAcrossMoves) {
  for (std::uint32_t const size : {0U, 1U, 4U, 5U, 40U}) {
    std::vector<Access> given;
    for (std::uint32_t d = 0; d < size; ++d) given.push_back(access(d, AccessMode::Read));
    AccessList first{given};
    AccessList const list = std::move(first);
    ASSERT_EQ(list.size(), size);
    for (std::uint32_t d = 0; d < size; ++d) EXPECT_EQ(list[d].data, DataId(d));
  }
}

}  // namespace
}  // namespace granary
