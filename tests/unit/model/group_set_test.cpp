// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/group_set.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace granary {
namespace {

using ::testing::ElementsAre;

detail::GroupSet of(std::initializer_list<std::uint32_t> groups) {
  detail::GroupSet set;
  for (auto const group : groups) set.insert(GroupId(group));
  return set;
}

std::vector<std::uint32_t> members(detail::GroupSet set) {
  std::vector<std::uint32_t> found;
  for (GroupId const group : set) found.push_back(group.value());
  return found;
}

TEST(GroupSet, HoldsGroupsUpToItsCapacityInIncreasingOrder) {
  auto set = of({63, 0, 31, 32, 0});
  EXPECT_THAT(members(set), ElementsAre(0, 31, 32, 63));
  EXPECT_EQ(set.size(), 4U);
  EXPECT_TRUE(set.contains(GroupId(63)));
  EXPECT_FALSE(set.contains(GroupId(62)));
  set.erase(GroupId(31));
  set.erase(GroupId(5));
  EXPECT_EQ(set, of({0, 32, 63}));
}

TEST(GroupSet, IsEmptyAtFirstAndWithoutItsLastMember) {
  detail::GroupSet set;
  EXPECT_TRUE(set.empty());
  EXPECT_THAT(members(set), ElementsAre());
  set.insert(GroupId(7));
  EXPECT_FALSE(set.empty());
  set.erase(GroupId(7));
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set, detail::GroupSet());
}

TEST(GroupSet, IntersectsAndIsARange) {
  EXPECT_EQ(of({1, 2, 40}) & of({2, 3, 40}), of({2, 40}));
  EXPECT_TRUE((of({1}) & of({2})).empty());
  EXPECT_TRUE(std::ranges::any_of(of({4, 9}), [](GroupId group) { return group == GroupId(9); }));
}

TEST(GroupSet, LeavesOutTheGroupsOfAnotherSet) {
  EXPECT_EQ(of({1, 2, 40, 63}) - of({2, 3, 63}), of({1, 40}));
  EXPECT_EQ(of({5}) - detail::GroupSet(), of({5}));
  EXPECT_TRUE((of({1}) - of({0, 1})).empty());
}

}  // namespace
}  // namespace granary
