// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The consequences of a failed copy, and what it does not affect, rule by rule.
#include "hand.hpp"

#include <gmock/gmock.h>

namespace granary::test {

using namespace detail;

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CopyFailures, OfACopyLetATaskStartThatWaitedForItsEndAlone) {
  Hand hand(disk_and_host(1000));
  DataId const a = hand.stored("a", 10);
  DataId const b = hand.stored("b", 10);
  hand.submit({read(a), read(b)});
  TaskId const writer = hand.submit({write(b)});
  hand.fail_copy();  // of a: the reader fails, and the copy of b writes to the place that the writer needs
  EXPECT_FALSE(hand.runs_now(writer));
  hand.fail_copy();
  EXPECT_TRUE(hand.runs_now(writer));
}

TEST(CopyFailures, OfAFetchFailTheTasksThatWaitForIt) {
  Hand hand(disk_and_host(1000), {.depth = 8});
  DataId const in = hand.stored("in", 10);
  DataId const out = hand.stored("out", 10);
  DataId const other = hand.stored("other", 10);
  TaskId const task = hand.submit({read(in), write(out)});
  TaskId const unrelated = hand.submit({read_write(other)});
  hand.fail_copy(some_error("bad sector"));
  hand.finish_all();
  EXPECT_THAT(hand.order_of_runs(), ElementsAre(unrelated.value()));
  auto const failures = hand.planner.handle(TakeFailures{});
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].task, task);
  EXPECT_EQ(text_of(failures[0].error), "bad sector");
  EXPECT_FALSE(hand.planner.inspect().poisoned(in));
  EXPECT_FALSE(hand.planner.inspect().poisoned(out)) << "the task did not run: its data keep their values";
  TaskId const again = hand.submit({read(in), read(out)});
  hand.finish_copies();
  EXPECT_TRUE(hand.runs_now(again));
  hand.finish_all();
}

TEST(CopyFailures, OfAFetchThroughANodeBetweenFailTheTasksToo) {
  for (int const hop : {0, 1}) {
    Hand hand(three_levels(1000, 1000));
    DataId const in = hand.stored("in", 10);
    TaskId const task = hand.submit({read(in)});
    if (hop == 1) hand.finish_copy();
    hand.fail_copy();
    hand.finish_all();
    EXPECT_TRUE(hand.runs.empty());
    EXPECT_TRUE(hand.planner.idle());
    auto const failures = hand.planner.handle(TakeFailures{});
    ASSERT_EQ(failures.size(), 1U);
    EXPECT_EQ(failures[0].task, task);
    hand.submit({read(in)});
    hand.finish_all();
    EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
  }
}

TEST(CopyFailures, OfAWriteBackKeepTheValue) {
  Hand hand(disk_and_host(1000), {.write_back_early = false});
  DataId const a = hand.stored("a", 10);
  hand.submit({read_write(a)});
  hand.finish_all();
  hand.flush();
  hand.fail_copy(some_error("no space left"));
  EXPECT_TRUE(hand.planner.idle()) << "it is not tried for ever";
  auto const failures = hand.planner.handle(TakeFailures{});
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_FALSE(failures[0].task.valid());
  EXPECT_EQ(failures[0].write_back_of, a);
  EXPECT_THAT(failures[0].what, HasSubstr("'a'"));
  EXPECT_EQ(text_of(failures[0].error), "no space left");
  EXPECT_FALSE(hand.planner.inspect().poisoned(a));
  hand.flush();
  hand.finish_all();
  EXPECT_EQ(hand.copies_home(a), 2U) << "the next run tries again";
  EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
}

TEST(CopyFailures, OfAnEvictionDoNotBlockForEver) {
  Hand hand(disk_and_host(100), {.write_back_early = false});
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  hand.submit({read_write(a)});
  hand.finish_all();
  hand.submit({read(b)});
  hand.fail_copy();
  hand.finish_all();
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
  EXPECT_TRUE(hand.planner.idle());
  EXPECT_FALSE(hand.planner.handle(TakeFailures{}).empty());
  EXPECT_FALSE(hand.freed(a)) << "the only valid replica";
  TaskId const reader = hand.submit({read(a)});
  EXPECT_TRUE(hand.runs_now(reader));
  hand.finish_all();
}

TEST(CopyFailures, OfAnEvictionCancelWhatIsSubmittedSinceAndFindsNoRoom) {
  Hand hand(disk_and_host(100), {.write_back_early = false});
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  hand.submit({read_write(a)});
  hand.finish_all();
  hand.submit({read(b)});
  hand.fail_copy(some_error("unplugged"));
  hand.submit({read(b)});
  hand.finish_all();
  EXPECT_TRUE(hand.planner.idle());
  auto const failures = hand.planner.handle(TakeFailures{});
  ASSERT_EQ(failures.size(), 1U) << "what is thrown is the cause, not that there is no room";
  EXPECT_EQ(text_of(failures[0].error), "unplugged");
  EXPECT_EQ(hand.planner.statistics().tasks_cancelled, 2U);
  hand.submit({read(b)});
  hand.finish_all();
  EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
  EXPECT_EQ(hand.planner.statistics().tasks_run, 2U);
}

/// A disk, a host with a worker, a device with a worker; data are copied to the device one at a time. A task on the
/// device that reads three data fails because of the first; the last is then on the host, and its copy to the device is
/// in the link's queue.
struct FailedFetchOfThree {
  FailedFetchOfThree() : hand(machine(), {.depth = 4, .write_back_early = false}) {
    on_host = hand.planner.handle(AddCodelet{{.name = "on_host", .kernels = {no_kernel, nullptr}}});
    on_device = hand.planner.handle(AddCodelet{{.name = "on_device", .kernels = {nullptr, no_kernel}}});
    first = hand.stored("first", 100);
    second = hand.stored("second", 100);
    last = hand.stored("last", 100);
    submit(on_device, {read(first), read(second), read(last)});
    for (int i = 0; i < 3; ++i) hand.finish_copy();
  }
  static Machine machine() {
    Machine machine = disk_and_host(1000);
    NodeId const device = machine.add_node({.name = "device", .kind = NodeKind::Device, .capacity = 1000});
    machine.add_link_pair(host_node, device, 1e10);
    machine.add_worker({.name = "gpu", .node = device, .kind = WorkerKind::Device});
    return machine;
  }
  TaskId submit(CodeletId codelet, std::initializer_list<Access> accesses) {
    TaskId const id =
        hand.planner.handle(TaskSubmission{.codelet = codelet, .accesses = {accesses.begin(), accesses.size()}});
    hand.absorb();
    return id;
  }
  Hand hand;
  CodeletId on_host;
  CodeletId on_device;
  DataId first;
  DataId second;
  DataId last;
};

TEST(CopyFailures, OfAFetchLeaveNothingThatKeepsAReleasedDatum) {
  FailedFetchOfThree played;
  auto& hand = played.hand;
  TaskId const writer = played.submit(played.on_host, {read_write(played.last)});
  hand.release(played.last);
  hand.fail_copy();
  EXPECT_TRUE(hand.runs_now(writer));
  hand.finish_all();
  EXPECT_EQ(hand.copies_home(played.last), 1U);
  EXPECT_EQ(hand.logged<ForgetCommand>().size(), 1U);
}

TEST(CopyFailures, OfAFetchLeaveNoCopyThatOverwritesALaterValue) {
  FailedFetchOfThree played;
  auto& hand = played.hand;
  TaskId const writer = played.submit(played.on_device, {write(played.last)});
  hand.fail_copy();
  EXPECT_TRUE(hand.runs_now(writer));
  hand.finish_all();
  std::size_t const before = hand.copies_of(played.last);
  hand.flush();
  hand.finish_all();
  EXPECT_EQ(hand.copies_of(played.last), before + 2) << "from the device to the host, from there home, and not back";
}

TEST(CopyFailures, OfAFetchDoNotKeepAReleasedValueFromGoingHome) {
  FailedFetchOfThree played;
  auto& hand = played.hand;
  hand.finish_all();
  DataId const result = hand.stored("result", 100);
  played.submit(played.on_device, {write(result)});
  hand.finish_all();
  DataId const input = hand.stored("input", 100);
  played.submit(played.on_host, {read(input), read(result)});
  ASSERT_EQ(hand.copies.size(), 2U);
  hand.release(result);
  hand.fail_copy();  // of the input: the task fails while its other data are in transfer
  hand.fail_copy();
  hand.finish_all();
  EXPECT_EQ(hand.copies_home(result), 1U);
  EXPECT_EQ(hand.logged<ForgetCommand>().size(), 1U);
  EXPECT_TRUE(hand.planner.idle());
}

}  // namespace
}  // namespace granary::test
