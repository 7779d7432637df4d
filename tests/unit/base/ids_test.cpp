// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/ids.hpp>

#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

namespace granary {
namespace {

static_assert(!std::is_convertible_v<TaskId, DataId> && !std::is_convertible_v<int, DataId>);
static_assert(!std::is_constructible_v<NodeId, detail::LinkId>);
static_assert(sizeof(DataId) == 4 && sizeof(TaskId) == 8);

TEST(Id, IsInvalidUntilGivenAValue) {
  EXPECT_FALSE(DataId().valid());
  EXPECT_TRUE(DataId(0).valid());
  EXPECT_EQ(DataId(), DataId());
}

TEST(Id, ComparesByValue) {
  EXPECT_EQ(TaskId(3), TaskId(3));
  EXPECT_LT(TaskId(3), TaskId(4));
  EXPECT_LT(TaskId(4), TaskId());
  EXPECT_EQ(TaskId(5).index(), 5U);
}

TEST(Id, IsAKeyOfUnorderedContainers) {
  std::unordered_set<detail::WorkerId> const workers{detail::WorkerId(0), detail::WorkerId(1), detail::WorkerId(0)};
  EXPECT_EQ(workers.size(), 2U);
  EXPECT_TRUE(workers.contains(detail::WorkerId(1)));
}

}  // namespace
}  // namespace granary
