// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks that are issued behind their predecessor on a device lane.
#include "hand.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace granary::test {

using namespace detail;

namespace {

using testing::ElementsAre;

constexpr PlannerOptions two_held{.issue_ahead = Duration{0}, .device_issue = 2};

/// Two data on the device, each written there by a task that has ended.
struct OnTheDevice : Hand {
  struct Chain {
    TaskId first, second, third;
  };
  explicit OnTheDevice(PlannerOptions options = two_held, std::string const& scheduler = "eager")
      : Hand(three_levels(4000, 1000), options, scheduler) {
    for (auto const datum : {a, b}) finish(submit({write(datum)}));
  }
  DataId a = temporary("a", 100);
  DataId b = temporary("b", 100);

  /// Three tasks, each of which reads the result of the previous one; only the first is ready.
  Chain chain() {
    TaskId const before = submit({});
    Chain const made{submit({read_write(a)}), submit({read(a), read_write(b)}), submit({read_write(b)})};
    finish(before);
    return made;
  }
  [[nodiscard]] std::vector<std::pair<TaskId, bool>> given() const {
    std::vector<std::pair<TaskId, bool>> all;
    for (auto const& run : runs) all.emplace_back(run.task, run.follows);
    return all;
  }
};

TEST(Followers, AreGivenToTheLaneBehindTheirPredecessor) {
  OnTheDevice hand;
  auto const [first, second, third] = hand.chain();
  EXPECT_THAT(hand.given(), ElementsAre(std::pair(first, false), std::pair(second, true))) << "two at a time";
  hand.planner.inspect().check_invariants();
  hand.finish(first);
  EXPECT_THAT(hand.given(), ElementsAre(std::pair(second, true), std::pair(third, true)));
  hand.planner.inspect().check_invariants();
  hand.finish(second);
  hand.finish(third);
  EXPECT_EQ(hand.planner.statistics().tasks_following, 2U);
  EXPECT_EQ(hand.planner.statistics().tasks_run, 6U);
  hand.planner.inspect().check_invariants();
}

TEST(Followers, AreFoundWhenTheyAreSubmitted) {
  OnTheDevice hand;
  TaskId const first = hand.submit({read_write(hand.a)});
  TaskId const second = hand.submit({read(hand.a), read_write(hand.b)});
  EXPECT_THAT(hand.given(), ElementsAre(std::pair(first, false), std::pair(second, true)));
  TaskId const third = hand.submit({read_write(hand.b)});
  EXPECT_EQ(hand.runs.size(), 2U) << "the lane holds what it may";
  hand.finish(first);
  EXPECT_THAT(hand.given(), ElementsAre(std::pair(second, true), std::pair(third, true)));
  hand.finish_all();
  EXPECT_EQ(hand.planner.statistics().tasks_following, 2U);
  EXPECT_TRUE(hand.planner.idle());
}

// So that many readers of one task's result cost only one look-up each.
TEST(Followers, AreFoundWhenTheyAreSubmittedIfTheyAreTheFirstToWait) {
  OnTheDevice hand({.issue_ahead = Duration{0}, .device_issue = 3});
  DataId const far = hand.stored("far", 100);
  TaskId const before = hand.submit({});
  TaskId const first = hand.submit({read_write(hand.a)});
  hand.submit({read(hand.a), read(far)});
  TaskId const later = hand.submit({read(hand.a), read_write(hand.b)});
  EXPECT_THAT(hand.given(), ElementsAre(std::pair(before, false), std::pair(first, false)));
  hand.finish(before);
  EXPECT_THAT(hand.given(), ElementsAre(std::pair(first, false), std::pair(later, true)));
}

TEST(Followers, AreNotGivenToALaneThatHoldsOneTaskAtATime) {
  OnTheDevice hand({.issue_ahead = Duration{0}, .device_issue = 1});
  hand.chain();
  EXPECT_EQ(hand.runs.size(), 1U);
}

TEST(Followers, ComeAfterReadyTasks) {
  OnTheDevice hand;
  TaskId const first = hand.submit({read_write(hand.a)});
  TaskId const ready = hand.submit({read_write(hand.b)});
  hand.submit({read_write(hand.a)});
  EXPECT_THAT(hand.given(), ElementsAre(std::pair(first, false), std::pair(ready, false)));
}

TEST(Followers, TheMostUrgentIsTaken) {
  OnTheDevice hand;
  TaskId const blocker = hand.submit({read_write(hand.b)});
  TaskId const first = hand.submit({read_write(hand.a)});
  hand.submit({read(hand.a)}, 1);
  TaskId const urgent = hand.submit({read(hand.a)}, 2);
  hand.submit({read(hand.a)}, 2);
  hand.finish(blocker);
  EXPECT_THAT(hand.given(), ElementsAre(std::pair(first, false), std::pair(urgent, true)));
}

TEST(Followers, AreNotTasksThatWaitForAnotherTooOrForData) {
  OnTheDevice hand;
  DataId const far = hand.stored("far", 100);
  TaskId const before = hand.submit({});
  hand.submit({read_write(hand.a)});
  hand.submit({read(hand.a), read(far)});
  hand.finish(before);
  EXPECT_EQ(hand.runs.size(), 1U) << "'far' is on the disk";

  OnTheDevice other;
  TaskId const first = other.submit({read_write(other.a)});
  TaskId const second = other.submit({read_write(other.b)});
  other.submit({read(other.a), read_write(other.b)});
  other.finish(first);
  EXPECT_EQ(other.runs.size(), 2U) << "now it waits for the lane's last task alone";
  other.finish(second);
}

// A failure of its predecessor does not affect a task that only overwrites what that one read.
TEST(Followers, ReadWhatTheTaskBeforeThemWrites) {
  OnTheDevice hand;
  TaskId const before = hand.submit({});
  TaskId const reader = hand.submit({read(hand.a), read_write(hand.b)});
  hand.submit({read_write(hand.a)});
  hand.finish(before);
  EXPECT_THAT(hand.given(), ElementsAre(std::pair(reader, false)));
}

TEST(Followers, AreSkippedWithTheFailureOfTheTaskBefore) {
  OnTheDevice hand;
  auto const [first, second, third] = hand.chain();
  hand.fail(first);
  hand.planner.inspect().check_invariants();
  hand.skip(second);
  hand.planner.inspect().check_invariants();
  EXPECT_TRUE(hand.runs.empty());
  auto const failures = hand.planner.handle(TakeFailures{});
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].task, first);
  EXPECT_THAT(failures[0].poisoned, ElementsAre("a"));
  EXPECT_EQ(hand.planner.statistics().tasks_cancelled, 2U) << third.value();
  EXPECT_FALSE(hand.planner.inspect().poisoned(hand.b));
  hand.finish(hand.submit({read_write(hand.b)}));  // the value was kept
  EXPECT_TRUE(hand.planner.idle());
}

TEST(Followers, ThatRanOnWhatAFailureLeftLeaveNoValue) {
  for (bool const ends_well : {true, false}) {
    OnTheDevice hand;
    auto const [first, second, third] = hand.chain();
    hand.fail(first);
    ends_well ? hand.finish(second) : hand.fail(second, some_error("of garbage"));
    hand.planner.inspect().check_invariants();
    auto const failures = hand.planner.handle(TakeFailures{});
    ASSERT_EQ(failures.size(), 1U) << "the other one follows from it";
    EXPECT_THAT(failures[0].poisoned, ElementsAre("a", "b"));
    EXPECT_TRUE(hand.planner.inspect().poisoned(hand.b));
    EXPECT_EQ(hand.planner.statistics().tasks_run, 3U);
    EXPECT_EQ(hand.planner.statistics().tasks_cancelled, 2U) << third.value();
    EXPECT_TRUE(hand.planner.idle());
  }
}

// The cause of a failure follows from the data, not from their names: all temporaries have the same name.
TEST(Followers, ThatRanOnWhatAFailureLeftAreNamedWithThatFailure) {
  OnTheDevice hand;
  DataId const other = hand.temporary("temporary", 100);
  DataId const first_of_chain = hand.temporary("temporary", 100);
  DataId const second_of_chain = hand.temporary("temporary", 100);
  for (auto const datum : {first_of_chain, second_of_chain}) hand.finish(hand.submit({write(datum)}));
  hand.fail(hand.submit({write(other)}), some_error("another"));
  TaskId const before = hand.submit({});
  TaskId const first = hand.submit({write(first_of_chain)});
  TaskId const second = hand.submit({read(first_of_chain), write(second_of_chain)});
  hand.finish(before);
  ASSERT_THAT(hand.given(), ElementsAre(std::pair(first, false), std::pair(second, true)));
  hand.fail(first, some_error("the cause"));
  hand.finish(second);
  auto const failures = hand.planner.handle(TakeFailures{});
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_THAT(failures[0].poisoned_data, ElementsAre(other));
  EXPECT_EQ(text_of(failures[1].error), "the cause");
  EXPECT_THAT(failures[1].poisoned_data, ElementsAre(first_of_chain, second_of_chain));
  EXPECT_THAT(failures[1].poisoned, ElementsAre("temporary", "temporary"));
}

TEST(Followers, AreIssuedEvenIfTheRestIsCancelled) {
  OnTheDevice hand;
  auto const [first, second, third] = hand.chain();
  hand.planner.handle(CancelAll{some_error("stop")});
  hand.finish(first);
  hand.finish(second);
  EXPECT_EQ(hand.planner.statistics().tasks_run, 5U);
  EXPECT_EQ(hand.planner.statistics().tasks_cancelled, 1U) << third.value();
  EXPECT_TRUE(hand.planner.idle());
}

// Schedulers that have mapped the task elsewhere keep it.
TEST(Followers, TheSchedulerDecides) {
  for (std::string const scheduler :
       {"eager", "lws", "dmda", "dmdar", "dmdas", "heft", "darts", "superblock", "planned"}) {
    OnTheDevice hand(two_held, scheduler);
    TaskId const before = hand.submit({});
    for (int i = 0; i < 2; ++i) hand.submit({read_write(hand.a)});
    hand.finish(before);
    EXPECT_EQ(hand.planner.statistics().tasks_following, 1U) << scheduler;
  }
  for (std::string const scheduler : {"heteroprio", "prio"}) {
    OnTheDevice hand(two_held, scheduler);
    TaskId const before = hand.submit({});
    for (int i = 0; i < 2; ++i) hand.submit({read_write(hand.a)});
    hand.finish(before);
    EXPECT_EQ(hand.planner.statistics().tasks_following, 0U) << scheduler;
  }
}

}  // namespace
}  // namespace granary::test
