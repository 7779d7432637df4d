// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data that share bytes of their homes.
#include "hand.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/journal.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>

namespace granary::test {

using namespace detail;

namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A matrix of 200 bytes and its two halves, all with homes on the disk.
class Overlaps : public ::testing::Test {
 protected:
  [[nodiscard]] std::size_t retired() const { return hand.logged<RetireCommand>().size(); }
  void fail_and_report(TaskId task) {
    hand.finish_copies();
    hand.fail(task);
    report();
  }
  void report() {
    hand.finish_all();
    EXPECT_TRUE(hand.planner.failed());
    hand.planner.handle(TakeFailures{});
    hand.absorb();
  }
  /// It runs to its end without a failure.
  void expect_success(TaskId task) {
    hand.finish_copies();
    EXPECT_TRUE(hand.runs_now(task));
    hand.finish_all();
    EXPECT_FALSE(hand.planner.failed());
  }

  Hand hand{disk_and_host(1000, 8, 4), {.write_back_early = false}};
  DataId whole = hand.stored("whole", 200);
  DataId left = hand.stored("left", 100, {{.other = whole, .covered = true}});
  DataId right = hand.stored("right", 100, {{.other = whole, .covered = true}});
};

TEST_F(Overlaps, AReaderOfAPartGetsWhatWasWrittenToTheWhole) {
  TaskId const writer = hand.submit({read_write(whole)});
  TaskId const reader = hand.submit({read(left)});
  hand.finish_copies();
  EXPECT_TRUE(hand.runs_now(writer));
  EXPECT_THAT(hand.planner.inspect().describe_waiting(), HasSubstr("the handover of 'whole'"));
  EXPECT_EQ(hand.planner.live_tasks(), 3U);
  hand.finish(writer);
  EXPECT_THAT(hand.planner.inspect().describe_waiting(),
              HasSubstr("the handover of 'whole' to what shares its bytes: its values are on their way home"));
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies.front().to, (Place{disk_node, Slot::Home, 0}));
  EXPECT_EQ(hand.copies.front().data, whole);
  hand.finish_copy();
  ASSERT_EQ(hand.copies.size(), 1U) << "only then the part is read";
  EXPECT_EQ(hand.copies.front().data, left);
  EXPECT_TRUE(hand.freed(whole));
  expect_success(reader);
  EXPECT_EQ(hand.planner.statistics().tasks_run, 2U);
  EXPECT_EQ(retired(), 2U);
  EXPECT_TRUE(hand.logged<BeginCommand>().empty());
}

TEST_F(Overlaps, TheWholeGetsWhatWasWrittenToItsParts) {
  TaskId const first = hand.submit({write(left)});
  TaskId const second = hand.submit({write(right)});
  TaskId const reader = hand.submit({read(whole)});
  EXPECT_TRUE(hand.runs_now(first));
  EXPECT_TRUE(hand.runs_now(second)) << "the parts do not wait for each other";
  hand.finish(first);
  EXPECT_THAT(hand.copies, IsEmpty());
  hand.finish(second);
  EXPECT_EQ(hand.copies.size(), 2U);
  hand.finish_copy();
  EXPECT_FALSE(hand.copies_of(whole) > 0);
  expect_success(reader);
  EXPECT_EQ(hand.copies_home(left) + hand.copies_home(right), 2U);
}

TEST_F(Overlaps, ReadersDoNotWaitForEachOther) {
  TaskId const a = hand.submit({read(whole)});
  TaskId const b = hand.submit({read(left), read(whole)});
  hand.finish_copies();
  EXPECT_TRUE(hand.runs_now(a));
  EXPECT_TRUE(hand.runs_now(b));
  EXPECT_EQ(hand.planner.live_tasks(), 2U);
  hand.finish_all();
}

TEST_F(Overlaps, AWriteWaitsForReadersAndOutdatesTheirReplicas) {
  TaskId const reader = hand.submit({read(whole)});
  TaskId const writer = hand.submit({write(left)});
  hand.finish_copies();
  EXPECT_FALSE(hand.runs_now(writer));
  hand.finish(reader);
  EXPECT_TRUE(hand.runs_now(writer));
  EXPECT_TRUE(hand.freed(whole));
  hand.finish(writer);
  TaskId const again = hand.submit({read(whole)});
  expect_success(again);
  EXPECT_EQ(hand.copies_of(whole), 2U) << "it is read anew";
}

// left and right share nothing, but both wait for what the matrix needs.
TEST_F(Overlaps, NeighboursOfWhatIsHandedOverWaitForIt) {
  TaskId const writer = hand.submit({read_write(whole)});
  hand.submit({read(left)});
  TaskId const other = hand.submit({write(right)});
  hand.finish_copies();
  EXPECT_FALSE(hand.runs_now(other));
  hand.finish(writer);
  EXPECT_FALSE(hand.runs_now(other)) << "the way home of the whole changes its bytes";
  hand.finish_copy();
  EXPECT_TRUE(hand.runs_now(other));
  hand.finish_all();
  TaskId const reader = hand.submit({read(whole)});
  hand.finish_copies();
  TaskId const first = hand.submit({write(left)});
  TaskId const second = hand.submit({write(right)});
  EXPECT_FALSE(hand.runs_now(first));
  EXPECT_FALSE(hand.runs_now(second)) << "the claim of the whole is gone, but not its reader";
  hand.finish(reader);
  EXPECT_TRUE(hand.runs_now(first));
  EXPECT_TRUE(hand.runs_now(second));
  hand.finish_all();
}

TEST_F(Overlaps, ANewDatumWaitsForHandoversUnderWay) {
  TaskId const writer = hand.submit({read_write(whole)});
  hand.submit({write(left)});
  DataId const middle = hand.stored("middle", 100, {{.other = whole, .covered = true}, {.other = right}});
  TaskId const reader = hand.submit({read(middle)});
  hand.finish_copies();
  hand.finish(writer);
  EXPECT_EQ(hand.copies_of(middle), 0U) << "the value of the whole is not home";
  hand.finish_copy();
  EXPECT_EQ(hand.copies_of(middle), 1U);
  expect_success(reader);
}

TEST_F(Overlaps, ADatumThatWasUsedBeforeItHadNeighboursIsHandedOver) {
  DataId const a = hand.stored("a", 100);
  hand.finish_all();
  TaskId const writer = hand.submit({read_write(a)});
  DataId const b = hand.stored("b", 100, {{.other = a}});
  TaskId const reader = hand.submit({read(b)});
  hand.finish_copies();
  hand.finish(writer);
  EXPECT_EQ(hand.copies_home(a), 1U);
  expect_success(reader);
}

TEST_F(Overlaps, AReleasedDatumIsHandedOverBeforeItIsForgotten) {
  TaskId const writer = hand.submit({read_write(whole)});
  hand.release(whole);
  TaskId const reader = hand.submit({read(left)});
  hand.finish_copies();
  hand.finish(writer);
  EXPECT_FALSE(hand.runs_now(reader));
  expect_success(reader);
  ASSERT_EQ(hand.logged<ForgetCommand>().size(), 1U);
  EXPECT_EQ(hand.logged<ForgetCommand>().front().data, whole);
  expect_success(hand.submit({write(left)}));
}

TEST_F(Overlaps, WhatDependsOnALostValueIsCancelled) {
  TaskId const writer = hand.submit({write(whole)});
  hand.submit({read(left)});
  hand.submit({write(right)});
  DataId const other = hand.stored("other", 100);
  TaskId const unrelated = hand.submit({write(other)});
  hand.fail(writer);
  EXPECT_EQ(hand.planner.live_tasks(), 1U);
  EXPECT_EQ(hand.planner.statistics().tasks_cancelled, 2U) << "handovers are not counted";
  hand.submit({write(left)});
  hand.submit({read(right)});
  EXPECT_EQ(hand.planner.live_tasks(), 1U) << "until the report";
  hand.finish(unrelated);
  report();
  EXPECT_EQ(
      message_of([&] { hand.submit({read(left)}); }),
      "task 'work' reads data 'left', which shares bytes with data 'whole', which an earlier failure left without "
      "a value: write 'whole' first or destroy its handles");
  EXPECT_THAT(message_of([&] { hand.submit({write(left)}); }), HasSubstr("writes data 'left', which shares"));
  hand.finish(hand.submit({write(whole)}));
  expect_success(hand.submit({read(left)}));
}

TEST_F(Overlaps, WhatDoesNotDependOnALostValueKeepsItsOwn) {
  hand.finish(hand.submit({write(right)}));
  TaskId const writer = hand.submit({write(left)});
  hand.submit({read(whole)});
  hand.submit({write(right)});
  hand.fail(writer);
  EXPECT_EQ(hand.copies_home(right), 0U);
  report();
  TaskId const reader = hand.submit({read(right)});
  EXPECT_TRUE(hand.runs_now(reader)) << "its value was not handed over";
  hand.finish(reader);
  hand.finish(hand.submit({write(left)}));
  expect_success(hand.submit({read(whole)}));
  EXPECT_EQ(hand.copies_home(right), 1U);
}

// A task needs handovers of both, and one fails.
TEST_F(Overlaps, AFailureDoesNotConcernWhatSharesNoBytesWithIt) {
  DataId const table = hand.stored("table", 100);
  DataId const row = hand.stored("row", 50, {{.other = table, .covered = true}});
  TaskId const fails = hand.submit({write(left)});
  hand.finish(hand.submit({write(table)}));
  hand.submit({read(row), read_write(whole)});
  TaskId const reader = hand.submit({read(row)});
  hand.fail(fails);
  hand.finish_copies();
  EXPECT_TRUE(hand.runs_now(reader));
  hand.finish(reader);
  report();
  EXPECT_EQ(hand.planner.statistics().tasks_cancelled, 1U);
  expect_success(hand.submit({read_write(table)}));
}

TEST_F(Overlaps, SeveralCancelledHandoversRestoreTheClaimsBeforeTheFirst) {
  hand.finish(hand.submit({write(left)}));
  TaskId const fails = hand.submit({write(right)});
  hand.submit({read_write(whole)});
  hand.submit({read_write(left)});
  hand.submit({read(whole)});
  hand.submit({write(right)});
  hand.fail(fails);
  report();
  TaskId const reader = hand.submit({read(left)});
  EXPECT_TRUE(hand.runs_now(reader)) << "it has its value where the first task wrote it";
  hand.finish(reader);
  hand.finish(hand.submit({write(right)}));
  expect_success(hand.submit({read(whole)}));
}

TEST_F(Overlaps, ATaskThatOnlyWritesDefinesWhatItCovers) {
  fail_and_report(hand.submit({write(left)}));
  EXPECT_THAT(message_of([&] { hand.submit({read_write(whole)}); }), HasSubstr("write 'left' first"));
  TaskId const writer = hand.submit({write(whole)});
  TaskId const reader = hand.submit({read(left)});
  hand.finish(writer);
  expect_success(reader);
  EXPECT_FALSE(hand.planner.inspect().poisoned(left));
}

TEST_F(Overlaps, ItDefinesNothingIfItDoesNotRun) {
  fail_and_report(hand.submit({write(left)}));
  DataId const input = hand.stored("input", 100);
  TaskId const fails = hand.submit({write(input)});
  hand.submit({write(whole), read(input)});
  hand.submit({read(left)});
  hand.fail(fails);
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
  report();
  EXPECT_THAT(message_of([&] { hand.submit({read(whole)}); }), HasSubstr("write 'left' first"));
  hand.finish(hand.submit({write(left)}));
  expect_success(hand.submit({read(whole)}));
}

// The task that was to define them is cancelled, but has not ended.
TEST_F(Overlaps, BytesThatWouldHaveBeenDefinedAreRefusedOnlyAfterTheReport) {
  fail_and_report(hand.submit({write(left)}));
  DataId const input = hand.stored("input", 100);
  TaskId const running = hand.submit({write(input)});
  hand.submit({write(whole), read(input)});
  hand.cancel_all();
  EXPECT_EQ(hand.planner.live_tasks(), 2U);
  EXPECT_TRUE(hand.planner.defined(left));
  hand.submit({read_write(whole)});
  hand.submit({read(left)});
  hand.submit({write(right), read(left)});
  hand.finish(running);
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
  EXPECT_EQ(hand.planner.statistics().tasks_cancelled, 4U);
  hand.submit({read(left)});
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
  report();
  EXPECT_FALSE(hand.planner.defined(left));
  EXPECT_THAT(message_of([&] { hand.submit({read_write(whole)}); }), HasSubstr("write 'left' first"));
  EXPECT_THAT(message_of([&] { hand.submit({read(left)}); }), HasSubstr("left without a value"));
  hand.finish(hand.submit({write(whole)}));
  expect_success(hand.submit({read(left)}));
}

TEST_F(Overlaps, ItDefinesWhatItCoversIfItIsForgotten) {
  fail_and_report(hand.submit({write(left)}));
  hand.finish(hand.submit({write(whole)}));
  hand.release(whole);
  hand.finish_copies();
  ASSERT_EQ(hand.logged<ForgetCommand>().size(), 1U);
  expect_success(hand.submit({read(left)}));
}

TEST_F(Overlaps, WhatItWasToDefineMayBeForgottenBefore) {
  fail_and_report(hand.submit({write(left)}));
  DataId const input = hand.stored("input", 100);
  TaskId const fails = hand.submit({write(input)});
  hand.submit({write(whole), read(input)});
  hand.release(left);
  ASSERT_EQ(hand.logged<ForgetCommand>().size(), 1U);
  DataId const other = hand.stored("other", 100, {{.other = right}});
  EXPECT_EQ(other, left) << "the id is given again";
  hand.fail(fails);
  report();
  expect_success(hand.submit({read(whole)}));
  expect_success(hand.submit({write(other)}));
  expect_success(hand.submit({read(right)}));
}

TEST_F(Overlaps, WithoutHandlesALostValueIsInNobodysWay) {
  TaskId const writer = hand.submit({write(left)});
  hand.fail(writer);
  hand.release(left);
  hand.submit({read(whole)});
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
  EXPECT_THAT(hand.logged<ForgetCommand>(), IsEmpty());
  report();
  EXPECT_EQ(hand.logged<ForgetCommand>().size(), 1U);
  expect_success(hand.submit({read(whole)}));
}

TEST_F(Overlaps, AFailedWayHomeCancelsWhatWaitsForIt) {
  hand.finish(hand.submit({write(whole)}));
  hand.submit({read(left)});
  ASSERT_EQ(hand.copies_home(whole), 1U);
  hand.fail_copy();
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
  hand.submit({read(right)});
  EXPECT_EQ(hand.planner.live_tasks(), 0U) << "until the report";
  report();
  expect_success(hand.submit({read(left)}));
  EXPECT_EQ(hand.copies_home(whole), 2U);
}

TEST_F(Overlaps, ACancelledRunRestoresClaims) {
  TaskId const writer = hand.submit({write(whole)});
  hand.submit({read(left)});
  hand.submit({write(left)});
  hand.cancel_all();
  hand.finish(writer);
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
  report();
  TaskId const reader = hand.submit({read(whole)});
  EXPECT_TRUE(hand.runs_now(reader));
  hand.finish_all();
  expect_success(hand.submit({read(left)}));
}

// The values pass through a host that tasks fill completely.
TEST_F(Overlaps, AHandoverWaitsOnlyForEarlierTasksAndValuesOnTheirWayHome) {
  Machine machine = three_levels(400, 200);
  machine.add_worker({.name = "cpu", .node = host_node});
  Hand tight(machine);
  DataId const a = tight.stored("a", 200);
  DataId const b = tight.stored("b", 100, {{.other = a, .covered = true}});
  DataId const c = tight.stored("c", 200);
  for (int round = 0; round < 20; ++round) {
    tight.submit({read_write(round % 2 == 0 ? a : b)});
    tight.submit({read_write(c)}, 1);
    tight.submit({read(round % 2 == 0 ? b : a)});
  }
  tight.finish_all();
  EXPECT_FALSE(tight.planner.failed());
  EXPECT_EQ(tight.planner.statistics().tasks_run, 60U);
  EXPECT_TRUE(tight.planner.idle());
}

TEST_F(Overlaps, OneTaskMayNotUseTheSameBytesTwiceAndWriteThem) {
  EXPECT_EQ(message_of([&] {
              hand.submit({read(left), write(whole)});
            }),
            "task 'work' writes data 'whole', which shares bytes with data 'left' of the same task");
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
}

TEST_F(Overlaps, AHandoverComesAfterAllTasksThatCommute) {
  TaskId const first = hand.submit({commute(left)});
  TaskId const second = hand.submit({commute(left)}, 5);
  TaskId const reader = hand.submit({read(whole)});
  TaskId const later = hand.submit({commute(left)});
  EXPECT_EQ(hand.planner.live_tasks(), 6U) << "two handovers";
  hand.finish_copies();
  EXPECT_TRUE(hand.runs_now(first));
  EXPECT_FALSE(hand.runs_now(second));
  hand.finish(first);
  EXPECT_EQ(hand.copies_home(left), 0U);
  EXPECT_TRUE(hand.runs_now(second));
  EXPECT_FALSE(hand.runs_now(later)) << "it is of another run";
  hand.finish(second);
  EXPECT_EQ(hand.copies_home(left), 1U);
  hand.finish_copies();
  EXPECT_TRUE(hand.runs_now(reader));
  EXPECT_FALSE(hand.runs_now(later));
  hand.finish(reader);
  expect_success(later);
}

TEST_F(Overlaps, ATaskThatCommutesWaitsForAHandover) {
  TaskId const writer = hand.submit({write(whole)});
  TaskId const first = hand.submit({commute(left)});
  TaskId const second = hand.submit({commute(left)});
  hand.fail(writer);
  hand.finish_all();
  EXPECT_EQ(hand.planner.statistics().tasks_cancelled, 2U);
  EXPECT_NE(hand.planner.failure_of(first), nullptr);
  EXPECT_NE(hand.planner.failure_of(second), nullptr);
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
}

TEST_F(Overlaps, OnlyBytesOfHomesOnOneNodeAreShared) {
  auto const refusal = [&](DataDescription const& description, std::vector<SharedBytes> const& shares) {
    return message_of([&] { hand.add(description, shares); });
  };
  DataDescription const stored{.name = "x", .bytes = 1, .origin = disk_node, .home = disk_node, .origin_is_home = true};
  EXPECT_EQ(refusal(stored, {{.other = DataId(77)}}), "data 'x' shares bytes with data 77, which is not registered");
  EXPECT_EQ(refusal(stored, {{.other = hand.temporary("t", 1)}}),
            "data 'x' shares bytes with data 't', but not with the same origin and home");
  EXPECT_EQ(refusal(stored, {{.other = left}, {.other = left}}), "data 'x' shares bytes with data 'left', named twice");
}

TEST_F(Overlaps, AreInTheJournal) {
  Journal journal;
  hand.planner.attach(journal);
  hand.stored("x", 10, {{.other = left, .covered = true}});
  auto const shares = std::get<AddData>(journal.entries().front().event).shares;
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].other, left);
  EXPECT_TRUE(shares[0].covered);
}

}  // namespace
}  // namespace granary::test
