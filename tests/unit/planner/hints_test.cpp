// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hints: values that are brought before a task asks, and values that are not needed soon.
#include "hand.hpp"

#include <granary/detail/core/base/error.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>

namespace granary::test {

using namespace detail;

namespace {

using ::testing::IsEmpty;

TEST(Hints, AValueIsBroughtBeforeATaskAsks) {
  Hand hand(disk_and_host(100));
  DataId const a = hand.stored("a", 60);
  hand.planner.handle(Prefetch{a, host_node});
  hand.absorb();
  ASSERT_EQ(hand.copies.size(), 1U);
  hand.planner.handle(Prefetch{a, host_node});
  hand.absorb();
  EXPECT_EQ(hand.copies.size(), 1U) << "it is on its way";
  hand.finish_copy();
  EXPECT_TRUE(hand.planner.idle());
  TaskId const task = hand.submit({read(a)});
  EXPECT_TRUE(hand.runs_now(task));
  hand.finish_all();
  EXPECT_EQ(hand.copies_of(a), 1U);
}

TEST(Hints, ATaskTakesOverWhatIsOnItsWay) {
  Hand hand(disk_and_host(100));
  DataId const a = hand.stored("a", 60);
  hand.planner.handle(Prefetch{a, host_node});
  hand.absorb();
  TaskId const task = hand.submit({read(a)});
  EXPECT_EQ(hand.copies.size(), 1U);
  hand.finish_copy();
  EXPECT_TRUE(hand.runs_now(task));
  hand.finish_all();
}

TEST(Hints, NothingIsEvictedAndNobodyHasToWait) {
  Hand hand(disk_and_host(100));
  DataId const a = hand.stored("a", 60);
  DataId const b = hand.stored("b", 60);
  hand.submit({read(a)});
  hand.finish_copies();
  hand.planner.handle(Prefetch{b, host_node});
  hand.absorb();
  EXPECT_THAT(hand.copies, IsEmpty()) << "there is no room";
  hand.finish_all();
  hand.planner.handle(Prefetch{b, host_node});
  hand.absorb();
  EXPECT_THAT(hand.copies, IsEmpty()) << "a stays";
  TaskId const task = hand.submit({read(b)});
  hand.finish_copies();
  EXPECT_TRUE(hand.runs_now(task)) << "a task evicts it";
  hand.finish_all();
}

TEST(Hints, AFailureOfTheCopyIsNone) {
  Hand hand(disk_and_host(100));
  DataId const a = hand.stored("a", 60);
  hand.planner.handle(Prefetch{a, host_node});
  hand.absorb();
  hand.fail_copy();
  EXPECT_TRUE(hand.planner.idle());
  EXPECT_FALSE(hand.planner.failed());
  TaskId const task = hand.submit({read(a)});
  hand.finish_copies();
  EXPECT_TRUE(hand.runs_now(task));
  hand.finish_all();
}

TEST(Hints, NoWayThroughOtherMemoriesAndNoUnknownNode) {
  Hand hand(three_levels(100, 100));
  DataId const a = hand.stored("a", 60);
  hand.planner.handle(Prefetch{a, device_node});
  hand.absorb();
  EXPECT_THAT(hand.copies, IsEmpty());
  EXPECT_EQ(message_of([&] {
              hand.planner.handle(Prefetch{a, NodeId(9)});
            }),
            "data 'a' cannot be prefetched to memory node 9: there is no such node");
  EXPECT_EQ(message_of([&] { hand.planner.handle(Prefetch{DataId(9), host_node}); }), "data 9 are not registered");
}

TEST(Hints, WhatIsNotUsedSoonGoesHomeAndFreesItsPlace) {
  Hand hand(disk_and_host(200), {.write_back_early = false});
  DataId const changed = hand.stored("changed", 60);
  DataId const seen = hand.stored("seen", 60);
  DataId const temporary = hand.temporary("temporary", 60);
  hand.submit({write(changed), read(seen), write(temporary)});
  hand.planner.handle(WillNotUse{seen});
  hand.absorb();
  EXPECT_FALSE(hand.freed(seen)) << "a submitted task uses it";
  hand.finish_all();
  for (DataId const data : {changed, seen, temporary}) hand.planner.handle(WillNotUse{data});
  hand.absorb();
  EXPECT_TRUE(hand.freed(seen));
  ASSERT_EQ(hand.copies.size(), 1U) << "a temporary stays where it is";
  EXPECT_EQ(hand.copies[0].data, changed);
  hand.finish_all();
  EXPECT_FALSE(hand.freed(temporary));
}

}  // namespace
}  // namespace granary::test
