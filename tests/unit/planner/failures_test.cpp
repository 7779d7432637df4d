// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The consequences of a failed task or run, and what it does not affect, rule by rule.
#include "hand.hpp"

#include <granary/detail/core/base/error.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>

namespace granary::test {

using namespace detail;

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Failures, PoisonTheOutputsByName) {
  Hand hand(disk_and_host(1000));
  DataId const in = hand.stored("in", 10);
  DataId const out = hand.stored("out", 10);
  TaskId const task = hand.submit({read(in), read_write(out)});
  hand.finish_copies();
  hand.fail(task, some_error("division by zero"));
  EXPECT_TRUE(hand.planner.inspect().poisoned(out));
  EXPECT_FALSE(hand.planner.inspect().poisoned(in));
  EXPECT_TRUE(hand.planner.failed());
  auto const failures = hand.planner.handle(TakeFailures{});
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].task, task);
  EXPECT_THAT(failures[0].what, HasSubstr("'work'"));
  EXPECT_EQ(text_of(failures[0].error), "division by zero");
  EXPECT_THAT(failures[0].poisoned, ElementsAre("out"));
  EXPECT_THAT(failures[0].poisoned_data, ElementsAre(out));
  EXPECT_EQ(hand.planner.statistics().tasks_failed, 1U);
}

TEST(Failures, NeverReachAHome) {
  Hand hand(disk_and_host(1000), {.write_back_early = true});
  DataId const a = hand.stored("a", 10);
  TaskId const task = hand.submit({read_write(a)});
  hand.finish_copies();
  hand.fail(task);
  hand.flush();
  hand.finish_all();
  EXPECT_EQ(hand.copies_home(a), 0U);
  EXPECT_TRUE(hand.planner.idle());
}

TEST(Failures, CancelWhatDependsOnThemAndNothingElse) {
  Hand hand(disk_and_host(1000, 8, 2));
  DataId const a = hand.temporary("a", 10);
  DataId const b = hand.temporary("b", 10);
  DataId const c = hand.temporary("c", 10);
  TaskId const broken = hand.submit({write(a)});
  hand.submit({read(a), write(b)});
  hand.submit({read(b)});
  TaskId const unrelated = hand.submit({write(c)});
  TaskId const also_unrelated = hand.submit({read_write(c)});
  hand.fail(broken);
  hand.finish_all();
  EXPECT_THAT(hand.order_of_runs(), ElementsAre(broken.value(), unrelated.value(), also_unrelated.value()));
  EXPECT_EQ(hand.planner.statistics().tasks_cancelled, 2U);
  EXPECT_EQ(hand.logged<RetireCommand>().size(), 5U);
  EXPECT_TRUE(hand.planner.idle());
  EXPECT_EQ(hand.planner.handle(TakeFailures{}).size(), 1U) << "cancelled tasks are no failures of their own";
}

TEST(Failures, LeaveTheDataOfCancelledTasksAsTheyWere) {
  Hand hand(disk_and_host(1000));
  DataId const a = hand.temporary("a", 10);
  DataId const b = hand.stored("b", 10);
  TaskId const broken = hand.submit({write(a)});
  hand.submit({read(a), read_write(b)});
  TaskId const reader_of_cancelled = hand.submit({read(b)});
  hand.fail(broken);
  hand.finish_all();
  EXPECT_THAT(hand.order_of_runs(), ElementsAre(broken.value()))
      << "b lacks what the cancelled task would have written";
  static_cast<void>(reader_of_cancelled);
  hand.planner.handle(TakeFailures{});
  EXPECT_FALSE(hand.planner.inspect().poisoned(b));
  TaskId const reader = hand.submit({read(b)});
  hand.finish_copies();
  EXPECT_TRUE(hand.runs_now(reader));
  hand.finish_all();
}

TEST(Failures, TakeOldValuesThatNobodyMayRead) {
  for (bool const commuting : {false, true}) {
    Hand hand(disk_and_host(1000));
    DataId const a = hand.temporary("a", 10);
    DataId const b = hand.temporary("b", 10);
    hand.planner.handle(KeepNoOldValue{b});
    hand.submit({write(b)});
    hand.finish_all();
    TaskId const broken = hand.submit({write(a)});
    hand.submit({read(a), commuting ? commute(b) : read_write(b)});
    TaskId const beside = commuting ? hand.submit({commute(b)}) : hand.submit({read(b)});
    hand.fail(broken);
    hand.finish_all();
    EXPECT_FALSE(hand.planner.inspect().poisoned(b)) << "a task may still overwrite it";
    EXPECT_EQ(hand.planner.handle(TakeFailures{}).size(), 1U);
    EXPECT_TRUE(hand.planner.inspect().poisoned(b));
    EXPECT_TRUE(hand.freed(b));
    EXPECT_EQ(message_of([&] { hand.submit({read(b)}); }),
              "task 'work' reads data 'b', which an earlier failure left without a value");
    TaskId const again = hand.submit({write(b)});
    hand.finish(again);
    TaskId const reader = hand.submit({read(b)});
    EXPECT_TRUE(hand.runs_now(reader));
    hand.finish_all();
    static_cast<void>(beside);
  }
}

TEST(Failures, LeaveAValueThatATaskWroteInstead) {
  Hand hand(disk_and_host(1000));
  DataId const a = hand.temporary("a", 10);
  DataId const b = hand.temporary("b", 10);
  hand.planner.handle(KeepNoOldValue{b});
  TaskId const broken = hand.submit({write(a)});
  hand.submit({read(a), write(b)});
  hand.submit({write(b)});
  hand.fail(broken);
  hand.finish_all();
  hand.planner.handle(TakeFailures{});
  EXPECT_FALSE(hand.planner.inspect().poisoned(b));
  hand.submit({read(b)});
  hand.finish_all();
  EXPECT_EQ(message_of([&] { hand.planner.handle(KeepNoOldValue{DataId(9)}); }), "data 9 are not registered");
}

TEST(Failures, OfOneDatumTakeItsOldValue) {
  Hand hand(disk_and_host(1000));
  DataId const a = hand.temporary("a", 10);
  DataId const b = hand.temporary("b", 10);
  DataId const c = hand.temporary("c", 10);
  for (DataId const data : {b, c}) {
    hand.planner.handle(KeepNoOldValue{data});
    hand.submit({write(data)});
  }
  hand.finish_all();
  TaskId const broken = hand.submit({write(a)});
  hand.submit({read(a), read_write(b), read_write(c)});
  hand.fail(broken);
  EXPECT_EQ(hand.planner.handle(TakeFailures{b}).size(), 1U);
  EXPECT_TRUE(hand.planner.inspect().poisoned(b));
  EXPECT_FALSE(hand.planner.inspect().poisoned(c));
  EXPECT_EQ(hand.planner.handle(TakeFailures{}).size(), 1U);
  EXPECT_TRUE(hand.planner.inspect().poisoned(c));
}

TEST(Failures, AreReportedOnceInTheOrderOfSubmission) {
  Hand hand(disk_and_host(1000, 8, 2));
  DataId const a = hand.temporary("a", 10);
  DataId const b = hand.temporary("b", 10);
  TaskId const first = hand.submit({write(a)});
  TaskId const second = hand.submit({write(b)});
  hand.fail(second, some_error("second"));
  hand.fail(first, some_error("first"));
  auto const failures = hand.planner.handle(TakeFailures{});
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_EQ(text_of(failures[0].error), "first");
  EXPECT_EQ(text_of(failures[1].error), "second");
  EXPECT_FALSE(hand.planner.failed());
  EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
}

TEST(Failures, MakeLaterUseOfTheirDataAnErrorOnceTheyAreReported) {
  Hand hand(disk_and_host(1000));
  DataId const a = hand.temporary("result", 10);
  TaskId const broken = hand.submit({write(a)});
  hand.fail(broken);
  // The submitting loop may not know yet: such a task is cancelled.
  hand.submit({read(a)});
  EXPECT_EQ(hand.planner.statistics().tasks_cancelled, 1U);
  hand.planner.handle(TakeFailures{});
  try {
    hand.submit({read(a)});
    FAIL() << "accepted";
  } catch (InvalidArgument const& error) {
    EXPECT_THAT(error.what(), HasSubstr("'result'"));
  }
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
  DataId const other = hand.temporary("other", 10);
  TaskId const fine = hand.submit({write(other)});
  EXPECT_TRUE(hand.runs_now(fine));
  hand.finish_all();
  EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
  hand.release(a);
  EXPECT_EQ(hand.logged<ForgetCommand>().size(), 1U) << "poisoned data can be given up";
}

TEST(Failures, AreOverForADatumThatATaskOnlyWrites) {
  Hand hand(disk_and_host(1000), {.write_back_early = false});
  DataId const a = hand.stored("a", 10);
  TaskId const broken = hand.submit({write(a)});
  hand.fail(broken);
  hand.planner.handle(TakeFailures{});
  EXPECT_THROW(hand.submit({read(a)}), InvalidArgument);
  EXPECT_THROW(hand.submit({read_write(a)}), InvalidArgument);
  EXPECT_THROW(hand.submit({write(a), read(a)}), InvalidArgument) << "it reads what it writes";
  TaskId const writer = hand.submit({write(a)});
  TaskId const reader = hand.submit({read(a)});
  EXPECT_TRUE(hand.runs_now(writer));
  EXPECT_TRUE(hand.planner.inspect().poisoned(a)) << "until it was written";
  hand.finish(writer);
  EXPECT_FALSE(hand.planner.inspect().poisoned(a));
  EXPECT_TRUE(hand.runs_now(reader));
  hand.finish_all();
  hand.flush();
  hand.finish_all();
  EXPECT_EQ(hand.copies_home(a), 1U);
  EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
}

TEST(Failures, AreOverForADatumThatATaskOnlyWritesBeforeTheyAreReported) {
  Hand hand(disk_and_host(1000));
  DataId const a = hand.temporary("a", 10);
  TaskId const broken = hand.submit({write(a)});
  hand.fail(broken);
  TaskId const writer = hand.submit({write(a)});
  EXPECT_EQ(hand.planner.handle(TakeFailures{}).size(), 1U) << "while the writer runs";
  TaskId const reader = hand.submit({read_write(a)});
  hand.finish(writer);
  EXPECT_TRUE(hand.runs_now(reader));
  hand.finish_all();
  EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
  hand.finish(hand.submit({read(a)}));
}

TEST(Failures, OfTheTaskThatWasToWriteADatumAgainLeaveItAsItWas) {
  for (bool const runs : {true, false}) {
    Hand hand(disk_and_host(1000));
    DataId const a = hand.temporary("a", 10);
    DataId const b = hand.temporary("b", 10);
    hand.fail(hand.submit({write(a)}));
    hand.planner.handle(TakeFailures{});
    TaskId const cause = runs ? TaskId() : hand.submit({write(b)});
    TaskId const writer = runs ? hand.submit({write(a)}) : hand.submit({read(b), write(a)});
    hand.submit({read(a)});
    hand.fail(runs ? writer : cause);
    hand.finish_all();
    EXPECT_EQ(hand.planner.statistics().tasks_run, 0U);
    EXPECT_EQ(hand.planner.handle(TakeFailures{}).size(), 1U);
    EXPECT_TRUE(hand.planner.inspect().poisoned(a));
    EXPECT_THROW(hand.submit({read(a)}), InvalidArgument);
    hand.finish(hand.submit({write(a)}));
    hand.finish(hand.submit({read(a)}));
    EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
  }
}

// A released id names another datum, which the failure does not concern.
TEST(Failures, DoNotConcernADatumThatGotAnIdAnew) {
  Hand hand(disk_and_host(1000));
  DataId const a = hand.temporary("a", 10);
  DataId const b = hand.temporary("b", 10);
  TaskId const broken = hand.submit({write(b)});
  hand.submit({read(b), write(a)});
  hand.fail(broken);  // now the writer of 'a' is cancelled
  hand.release(a);
  DataId const anew = hand.temporary("anew", 10);
  ASSERT_EQ(anew, a);
  hand.planner.handle(TakeFailures{});
  hand.finish(hand.submit({write(anew)}));
  hand.finish(hand.submit({read(anew)}));
  EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
}

// Who registers the same bytes again gets the same datum, and not the value from before the cancelled write.
TEST(Failures, KeepReleasedDataWhoseBytesMayReturn) {
  for (bool const elsewhere : {false, true}) {
    Hand hand(disk_and_host(1000), {.write_back_early = false});
    DataId const view = hand.add({.name = "view",
                                  .bytes = 10,
                                  .origin = disk_node,
                                  .home = disk_node,
                                  .origin_is_home = true,
                                  .may_return = true});
    DataId const input = hand.stored("input", 10);
    if (elsewhere) hand.finish(hand.submit({write(view)}));
    TaskId const broken = hand.submit({write(input)});
    hand.submit({read(input), write(view)});
    hand.release(view);
    hand.fail(broken);
    EXPECT_EQ(hand.copies_home(view), elsewhere ? 1U : 0U) << "its memory may be gone before the report";
    hand.finish_copies();
    ASSERT_TRUE(hand.logged<ForgetCommand>().empty());
    hand.retain(view);
    hand.submit({read(view)});
    EXPECT_EQ(hand.planner.live_tasks(), 0U);
    EXPECT_EQ(hand.planner.statistics().tasks_cancelled, 2U);
    hand.release(view);
    EXPECT_TRUE(hand.logged<ForgetCommand>().empty());
    EXPECT_EQ(hand.planner.handle(TakeFailures{}).size(), 1U);
    hand.absorb();
    EXPECT_EQ(hand.logged<ForgetCommand>().size(), 1U);
  }
}

TEST(Failures, OfTheOnlyWriterCancelledLeaveNoValueToRead) {
  Hand hand(disk_and_host(1000));
  DataId const a = hand.temporary("a", 10);
  DataId const b = hand.temporary("b", 10);
  TaskId const broken = hand.submit({write(a)});
  hand.submit({read(a), write(b)});
  hand.fail(broken);
  hand.planner.handle(TakeFailures{});
  EXPECT_THROW(hand.submit({read(b)}), InvalidArgument);
  TaskId const writer = hand.submit({write(b)});
  hand.submit({read(b)});
  hand.finish(writer);
  hand.finish_all();
  EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
}

TEST(Failures, CancellingAllLetsRunningTasksEnd) {
  Hand hand(disk_and_host(1000), {.depth = 2});
  DataId const a = hand.stored("a", 10);
  DataId const b = hand.stored("b", 10);
  TaskId const running = hand.submit({read_write(a)});
  hand.submit({read_write(a)});
  hand.submit({read_write(b)});
  hand.finish_copy();
  EXPECT_TRUE(hand.runs_now(running));
  hand.cancel_all();
  hand.finish_all();
  EXPECT_THAT(hand.order_of_runs(), ElementsAre(running.value()));
  EXPECT_EQ(hand.logged<RetireCommand>().size(), 3U);
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
  auto const failures = hand.planner.handle(TakeFailures{});
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(text_of(failures[0].error), "interrupted");
  EXPECT_FALSE(hand.planner.inspect().poisoned(a));
  EXPECT_FALSE(hand.planner.inspect().poisoned(b));
  hand.submit({read(a), read(b)});
  hand.finish_all();
  hand.flush();
  hand.finish_all();
  EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
}

TEST(Failures, ThatADeviceIsLostIsSaidOnceHoweverManyOperationsSaySo) {
  Hand hand(disk_and_host(1000));
  auto const lost = std::make_exception_ptr(DeviceLost("unplugged"));
  for (int i = 0; i < 3; ++i) {
    hand.submit({read_write(hand.stored("a" + std::to_string(i), 10))});
    hand.cancel_all(lost);
  }
  hand.cancel_all();
  hand.finish_all();
  EXPECT_EQ(hand.planner.statistics().tasks_cancelled, 3U);
  EXPECT_EQ(hand.planner.handle(TakeFailures{}).size(), 2U) << "the loss, and the interruption";
  hand.cancel_all(lost);
  EXPECT_EQ(hand.planner.handle(TakeFailures{}).size(), 1U);
}

}  // namespace
}  // namespace granary::test
