// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/access.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace granary {
namespace {

detail::Access access(std::uint32_t data, detail::AccessMode mode) { return {DataId(data), mode}; }

TEST(AccessMode, ItsPredicatesFollowItsName) {
  EXPECT_TRUE(reads(detail::AccessMode::Read));
  EXPECT_FALSE(writes(detail::AccessMode::Read));
  EXPECT_FALSE(reads(detail::AccessMode::Write));
  EXPECT_TRUE(writes(detail::AccessMode::Write));
  EXPECT_TRUE(reads(detail::AccessMode::ReadWrite));
  EXPECT_TRUE(writes(detail::AccessMode::ReadWrite));
  EXPECT_FALSE(commutes(detail::AccessMode::ReadWrite));
  EXPECT_TRUE(reads(detail::AccessMode::Commute));
  EXPECT_TRUE(writes(detail::AccessMode::Commute));
  EXPECT_TRUE(commutes(detail::AccessMode::Commute));
  EXPECT_EQ(detail::AccessMode::Read | detail::AccessMode::Write, detail::AccessMode::ReadWrite);
  EXPECT_EQ(detail::AccessMode::Write | detail::AccessMode::Write, detail::AccessMode::Write);
}

TEST(AccessList, MergesTheModesOfARepeatedDatum) {
  std::vector<detail::Access> const given{access(1, detail::AccessMode::Read), access(2, detail::AccessMode::Write),
                                          access(1, detail::AccessMode::Write), access(1, detail::AccessMode::Read)};
  detail::AccessList const list{given};
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list[0].mode, detail::AccessMode::ReadWrite);
  EXPECT_FALSE(list[0].repeated);
  EXPECT_FALSE(list[1].repeated);
  EXPECT_TRUE(list[2].repeated);
  EXPECT_TRUE(list[3].repeated);
}

TEST(AccessList, CommutesOnlyIfAllAccessesOfTheDatumDo) {
  using enum detail::AccessMode;
  EXPECT_EQ(Commute | Commute, Commute);
  for (auto const other : {Read, Write, ReadWrite}) {
    EXPECT_EQ(Commute | other, ReadWrite);
    EXPECT_EQ(other | Commute, ReadWrite);
  }
  std::vector<detail::Access> const given{access(1, Commute), access(2, Commute), access(1, Commute),
                                          access(2, Read),    access(2, Commute), access(3, Read)};
  detail::AccessList const list{given};
  EXPECT_EQ(list[0].mode, Commute);
  EXPECT_EQ(list[1].mode, ReadWrite);
  EXPECT_TRUE(list.commutes());
  EXPECT_FALSE(detail::AccessList(std::span(given).subspan(3, 1)).commutes());
}

TEST(AccessList, KeepsShortAndLongListsInOrderAcrossMoves) {
  for (std::uint32_t const size : {0U, 1U, 4U, 5U, 40U}) {
    std::vector<detail::Access> given;
    for (std::uint32_t d = 0; d < size; ++d) given.push_back(access(d, detail::AccessMode::Read));
    detail::AccessList first{given};
    detail::AccessList const list = std::move(first);
    ASSERT_EQ(list.size(), size);
    for (std::uint32_t d = 0; d < size; ++d) EXPECT_EQ(list[d].data, DataId(d));
  }
}

}  // namespace
}  // namespace granary
