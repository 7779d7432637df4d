// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that submitted tasks book, and when their submitter sleeps.
#include "hand.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/dispatch/booking.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>

namespace granary::test {

using namespace detail;

namespace {

constexpr NodeId ram{0};
constexpr NodeId elsewhere{1};

// A host of 1000 bytes with two workers, and other processes; nothing is below it.
Machine host_and_others() {
  Machine machine;
  machine.add_node({.name = "host", .capacity = 1000});
  for (auto const* const name : {"cpu0", "cpu1"}) machine.add_worker({.name = name, .node = ram});
  machine.add_node({.name = "others", .kind = NodeKind::Peers});
  machine.add_link_pair(ram, elsewhere, 1e9, Duration{0}, 4);
  return machine;
}

struct BookingHand : Hand {
  explicit BookingHand(BookingOptions const& booking, Machine machine = host_and_others())
      : Hand(std::move(machine), {.write_back_early = false}, make_policies("eager", "lru"), booking),
        stub(planner.handle(AddCodelet{{.name = "stub", .external = true, .stub = true}})) {}

  TaskId submit_stub(std::initializer_list<Access> accesses) {
    TaskId const task =
        planner.handle(TaskSubmission{.codelet = stub, .accesses = {accesses.begin(), accesses.size()}});
    absorb();
    return task;
  }
  // A value of another process, and the stub of the task that writes it.
  std::pair<DataId, TaskId> remote(Bytes bytes) {
    DataId const data = add({.name = "remote", .bytes = bytes, .home = elsewhere});
    return {data, submit_stub({write(data)})};
  }
  [[nodiscard]] Bytes booked() const { return planner.statistics().booking.booked; }
  [[nodiscard]] bool asleep() const { return planner.submitter_sleeps(); }

  CodeletId stub;
};

TEST(Booking, SleepsAboveOneThresholdAndWakesBelowTheOther) {
  BookingHand hand({.sleep = 350, .wakeup = 150});
  std::vector<DataId> data;
  std::vector<TaskId> tasks;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(hand.asleep());
    data.push_back(hand.temporary("t", 100));
    EXPECT_EQ(hand.booked(), 100U * static_cast<Bytes>(i)) << "a datum without a value that no task uses";
    tasks.push_back(hand.submit({write(data.back())}));
  }
  EXPECT_TRUE(hand.asleep()) << "another such task would make it 400";
  EXPECT_EQ(hand.booked(), 300U);
  hand.finish(tasks[0]);
  hand.finish(tasks[1]);
  EXPECT_EQ(hand.booked(), 300U) << "nothing takes these values";
  hand.release(data[0]);
  EXPECT_EQ(hand.booked(), 200U);
  EXPECT_TRUE(hand.asleep()) << "as long as more than 150 bytes are booked";
  hand.release(data[1]);
  EXPECT_FALSE(hand.asleep());
  hand.submit({read(data[2])});
  EXPECT_FALSE(hand.asleep());
  hand.finish_all();
  EXPECT_EQ(hand.planner.statistics().booking.peak, 300U);
  EXPECT_EQ(hand.planner.statistics().booking.sleeps, 1U);
  EXPECT_EQ(hand.planner.statistics().booking.alone, 0U);
}

TEST(Booking, WakesWhenNoTaskIsLeftAndThenLetsOneTaskRunAtATime) {
  BookingHand hand({.sleep = 1});
  for (std::uint64_t alone = 1; alone < 4; ++alone) {
    TaskId const task = hand.submit({write(hand.temporary("t", 100))});
    EXPECT_TRUE(hand.asleep());
    hand.finish(task);
    EXPECT_FALSE(hand.asleep());
    EXPECT_EQ(hand.planner.statistics().booking.alone, alone);
  }
}

TEST(Booking, ATaskThatBooksNothingMoreLetsNobodySleep) {
  BookingHand hand({.sleep = 50});
  DataId const kept = hand.temporary("kept", 100);
  hand.submit({write(kept)});
  hand.finish_all();
  for (int i = 0; i < 5; ++i) {
    hand.submit({read_write(kept)});
    EXPECT_FALSE(hand.asleep());
  }
  hand.finish_all();
}

TEST(Booking, DataThatStorageCanTakeAreNotBooked) {
  BookingHand hand({.sleep = 1}, disk_and_host(1000));
  hand.submit({read_write(hand.stored("a", 100)), write(hand.temporary("t", 100))});
  EXPECT_EQ(hand.booked(), 0U);
  EXPECT_FALSE(hand.asleep());
  hand.finish_all();
}

TEST(Booking, ADatumThatAFailureTookIsNotBooked) {
  BookingHand hand({.sleep = 1000});
  DataId const lost = hand.temporary("lost", 100);
  DataId const also = hand.temporary("also", 10);
  TaskId const task = hand.submit({write(lost)});
  hand.submit({read(lost), write(also)});
  EXPECT_EQ(hand.booked(), 110U);
  hand.fail(task);
  EXPECT_EQ(hand.booked(), 0U);
  EXPECT_EQ(hand.planner.handle(TakeFailures{}).size(), 1U);
  hand.submit({write(lost)});
  EXPECT_EQ(hand.booked(), 100U);
  hand.finish_all();
}

// Memory, IV-B.
TEST(Booking, ValuesOfOtherProcessesAreBookedWhileTasksReadThemOrUntilTheyAreForgotten) {
  for (auto const policy :
       {BookingOptions::Policy::Ours, BookingOptions::Policy::Paper, BookingOptions::Policy::None}) {
    bool const paper = policy == BookingOptions::Policy::Paper;
    BookingHand hand({.policy = policy});
    auto const [value, incoming_value] = hand.remote(100);
    EXPECT_EQ(hand.booked(), 0U) << "no task reads it";
    TaskId const first = hand.submit({read(value)});
    TaskId const second = hand.submit({read(value)});
    EXPECT_EQ(hand.booked(), 100U) << "although it has not been announced";
    hand.finish(incoming_value);
    hand.finish_copies();
    hand.finish(first);
    EXPECT_EQ(hand.booked(), 100U);
    hand.finish(second);
    EXPECT_EQ(hand.booked(), paper ? 100U : 0U);
    TaskId const third = hand.submit({read(value)});
    EXPECT_EQ(hand.booked(), 100U);
    hand.release(value);
    EXPECT_EQ(hand.booked(), 100U) << "its last reader has not ended";
    hand.finish(third);
    EXPECT_EQ(hand.booked(), 0U);
  }
}

TEST(Booking, StubsOfOtherProcessesAreNoTasksOfThisOne) {
  BookingHand hand({.sleep = 1, .max_live_tasks = 1});
  auto const [value, incoming_value] = hand.remote(100);
  DataId const own = hand.temporary("own", 100);
  TaskId const writer = hand.submit({write(own)});
  TaskId const outgoing_value = hand.submit_stub({read(own)});
  EXPECT_TRUE(hand.asleep());
  hand.finish(writer);
  EXPECT_FALSE(hand.asleep()) << "only stubs are left";
  hand.finish(incoming_value);
  TaskId const reader = hand.submit({read(value)});
  EXPECT_TRUE(hand.asleep());
  hand.finish_copies();
  hand.finish(reader);
  EXPECT_FALSE(hand.asleep());
  hand.finish(outgoing_value);
}

TEST(Booking, TheDefaultIsTheMemoryWithoutTheLargestTask) {
  BookingHand hand({});
  TaskId const large = hand.submit({write(hand.temporary("a", 250)), write(hand.temporary("b", 250))});
  EXPECT_FALSE(hand.asleep()) << "500 bytes are booked, and are left for another task like this one";
  hand.submit({write(hand.temporary("c", 1))});
  EXPECT_TRUE(hand.asleep());
  hand.finish(large);
  EXPECT_TRUE(hand.asleep()) << "it wakes at 450";
  hand.finish_all();
  EXPECT_EQ(hand.planner.statistics().booking.alone, 1U);
}

TEST(Booking, AnUnboundedHostHasNoLimit) {
  auto machine = host_and_others();
  machine.nodes[ram.index()].capacity = unbounded;
  BookingHand hand({}, machine);
  hand.submit({write(hand.temporary("huge", unbounded / 2))});
  EXPECT_FALSE(hand.asleep());
}

// 200 bytes are in use; 20 between them are too few for anything.
TEST(Booking, GapsInTheMemoryCount) {
  for (Bytes const threshold : {350U, 352U}) {
    BookingHand hand({.sleep = threshold});
    std::vector<DataId> data;
    for (Bytes const bytes : {120U, 100U}) {
      data.push_back(hand.temporary("t", bytes));
      hand.submit({write(data.back())});
      hand.finish_all();
    }
    hand.release(data[0]);
    TaskId const filling = hand.submit({write(hand.temporary("t", 100))});
    EXPECT_TRUE(hand.allocated(data[0]) && hand.freed(data[0], ram));
    EXPECT_FALSE(hand.asleep());
    hand.submit({write(hand.temporary("t", 10))});
    EXPECT_EQ(hand.booked(), 210U);
    EXPECT_EQ(hand.asleep(), threshold == 350U) << "1.1 times that many, and 120 of the next task";
    hand.finish(filling);
    hand.finish_all();
  }
}

TEST(Booking, SleepsWhileTooManyTasksLive) {
  BookingHand hand({.max_live_tasks = 32}, disk_and_host(1000));
  DataId const a = hand.stored("a", 100);
  for (int i = 0; i < 32; ++i) {
    EXPECT_FALSE(hand.asleep());
    hand.submit({read_write(a)});
  }
  EXPECT_TRUE(hand.asleep());
  hand.finish_copies();
  while (hand.planner.live_tasks() > 3) hand.finish(hand.runs.front().task);
  EXPECT_TRUE(hand.asleep());
  hand.finish(hand.runs.front().task);
  EXPECT_FALSE(hand.asleep()) << "a sixteenth is left";
  hand.finish_all();
}

TEST(Booking, NoneLiftsEveryLimit) {
  BookingHand hand({.policy = BookingOptions::Policy::None, .sleep = 1, .max_live_tasks = 1});
  for (int i = 0; i < 3; ++i) hand.submit({write(hand.temporary("t", 100))});
  EXPECT_FALSE(hand.asleep());
  EXPECT_EQ(hand.booked(), 300U) << "it is only counted";
  hand.finish_all();
}

TEST(Booking, BadOptionsAreRefused) {
  EXPECT_EQ(message_of<InvalidArgument>([] { BookingHand({.sleep = 100, .wakeup = 101}); }),
            "submission would wake when 101 bytes are booked, but sleeps only above 100 bytes");
  EXPECT_EQ(booking_named("paper").policy, BookingOptions::Policy::Paper);
  EXPECT_EQ(booking_named("paper").estimate, BookingOptions::Estimate::Bold);
  EXPECT_EQ(booking_named("ours:safe").policy, BookingOptions::Policy::Ours);
  EXPECT_EQ(booking_named("ours:safe").estimate, BookingOptions::Estimate::Safe);
  EXPECT_EQ(message_of<InvalidArgument>([] { static_cast<void>(booking_named("our")); }),
            "unknown booking 'our'; there are none, ours and paper, with :bold, :factor or :safe behind them");
}

// What is booked before the first value is known, for it, and for one of 90 bytes that grew.
std::vector<Bytes> booked_for(BookingOptions::Estimate estimate) {
  BookingHand hand({.estimate = estimate, .sleep = 300, .wakeup = 200});
  DataId const data = hand.add({.name = "x", .bytes = 40, .bound = 100});
  std::vector<Bytes> booked;
  for (Bytes const bytes : {Bytes{30}, Bytes{90}}) {
    TaskId const task = hand.submit({bytes == 30 ? write(data) : read_write(data)});
    booked.push_back(hand.booked());
    hand.planner.handle(Sized{task, data, bytes});
    hand.finish(task);
  }
  booked.push_back(hand.booked());
  return booked;
}

TEST(Booking, EstimatesDataThatGrow) {
  EXPECT_THAT(booked_for(BookingOptions::Estimate::Bold), testing::ElementsAre(40, 30, 90));
  EXPECT_THAT(booked_for(BookingOptions::Estimate::Factor), testing::ElementsAre(80, 80, 90));
  EXPECT_THAT(booked_for(BookingOptions::Estimate::Safe), testing::ElementsAre(100, 100, 100));
}

TEST(Booking, TheSubmitterSleepsWhenDataGrow) {
  BookingHand hand({.sleep = 250, .wakeup = 120});
  DataId const x = hand.add({.name = "x", .bytes = 40, .bound = 100}), y = hand.temporary("y", 100);
  TaskId const first = hand.submit({write(x)});
  TaskId const second = hand.submit({write(y)});
  EXPECT_FALSE(hand.asleep()) << "40 + 100 bytes, and 100 of the next task";
  hand.planner.handle(Sized{first, x, 60});
  hand.finish(first);
  EXPECT_TRUE(hand.asleep()) << "60 + 100 + 100";
  TaskId const third = hand.submit({read_write(x)});
  hand.planner.handle(Sized{third, x, 10});
  hand.finish(third);
  EXPECT_FALSE(hand.asleep()) << "10 + 100 bytes";
  hand.finish(second);
}

// Memory, IV-C.
TEST(Booking, AValueOfAnotherProcessCountsWithItsLargestSizeUntilItIsAnnounced) {
  BookingHand hand({.sleep = 1000});
  DataId const data = hand.add({.name = "remote", .bytes = 40, .home = elsewhere, .bound = 400});
  TaskId const incoming_value = hand.submit_stub({write(data)});
  TaskId const reader = hand.submit({read(data)});
  EXPECT_EQ(hand.booked(), 400U);
  hand.planner.handle(Sized{incoming_value, data, 70});
  hand.finish(incoming_value);
  EXPECT_EQ(hand.booked(), 70U);
  hand.finish_copies();
  hand.finish(reader);
  EXPECT_EQ(hand.booked(), 0U);
}

}  // namespace
}  // namespace granary::test
