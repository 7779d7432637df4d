// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks that no worker runs.
#include "hand.hpp"

#include <granary/detail/core/base/error.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>

namespace granary::test {

using namespace detail;

namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class External : public ::testing::Test {
 protected:
  TaskId submit(std::initializer_list<Access> accesses) {
    TaskId const task =
        hand.planner.handle(TaskSubmission{.codelet = outside, .accesses = {accesses.begin(), accesses.size()}});
    hand.absorb();
    return task;
  }
  [[nodiscard]] bool begun(TaskId task) const {
    auto const all = hand.logged<BeginCommand>();
    return std::ranges::count(all, task, &BeginCommand::task) > 0;
  }

  Hand hand{disk_and_host(1000), {.write_back_early = false}};
  CodeletId outside = hand.planner.handle(AddCodelet{{.name = "incoming value", .external = true}});
};

TEST_F(External, BeginsAfterItsPredecessorsAndHoldsUpItsSuccessors) {
  DataId const a = hand.stored("a", 100);
  TaskId const reader = hand.submit({read(a)});
  TaskId const incoming_value = submit({write(a)});
  TaskId const next = hand.submit({read(a)});
  hand.finish_copies();
  EXPECT_FALSE(begun(incoming_value));
  hand.finish(reader);
  EXPECT_TRUE(begun(incoming_value));
  EXPECT_FALSE(hand.runs_now(next));
  EXPECT_THAT(hand.copies, IsEmpty());
  hand.finish(incoming_value);
  ASSERT_EQ(hand.copies.size(), 1U) << "the new value stands in the home";
  EXPECT_EQ(hand.copies.front().from, (Place{disk_node, Slot::Home, 0}));
  EXPECT_EQ(hand.copies.front().version, 1U);
  hand.finish_all();
  EXPECT_TRUE(hand.planner.idle());
}

TEST_F(External, NoSchedulerIsAskedAndNoPlaceIsTaken) {
  DataId const large = hand.stored("large", 100000);
  TaskId const incoming_value = submit({write(large)});
  EXPECT_TRUE(begun(incoming_value)) << "although no memory has room for it";
  EXPECT_TRUE(hand.planner.view().task(incoming_value).external());
  EXPECT_EQ(hand.planner.statistics().tasks_committed, 0U);
  EXPECT_FALSE(hand.allocated(large));
  hand.finish(incoming_value);
  EXPECT_TRUE(hand.planner.idle());
}

TEST_F(External, AnInputKeepsItsValueUntilItHasEnded) {
  DataId const a = hand.stored("a", 100);
  TaskId const outgoing_value = submit({read(a)});
  TaskId const writer = hand.submit({write(a)});
  EXPECT_TRUE(begun(outgoing_value));
  EXPECT_FALSE(hand.runs_now(writer));
  hand.finish(outgoing_value);
  EXPECT_TRUE(hand.runs_now(writer));
  hand.finish_all();
}

TEST_F(External, WaitsForTransfersOfWhatItWrites) {
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  hand.submit({write(a)});
  hand.finish_all();
  hand.flush();
  ASSERT_EQ(hand.copies_home(a), 1U);
  ASSERT_EQ(hand.copies.size(), 1U);
  TaskId const incoming_value = submit({write(a), read(b)});
  EXPECT_FALSE(begun(incoming_value)) << "a copy writes the home";
  EXPECT_THAT(hand.planner.inspect().describe_waiting(),
              HasSubstr("task 'incoming value' 1: ready, but transfers use what it writes"));
  hand.finish_copy();
  EXPECT_TRUE(begun(incoming_value));
  EXPECT_THAT(hand.planner.inspect().describe_waiting(), HasSubstr("with a worker: 0,"));
  EXPECT_THAT(hand.planner.inspect().describe_waiting(), HasSubstr(", waiting for what is outside: 1\n"));
  EXPECT_THAT(hand.planner.inspect().describe_waiting(),
              HasSubstr("task 'incoming value' 1: begun, and its end was not reported yet"));
  hand.finish(incoming_value);
}

TEST_F(External, AFailureTakesWhatItWrites) {
  DataId const a = hand.stored("a", 100);
  TaskId const incoming_value = submit({write(a)});
  hand.submit({read(a)});
  hand.fail(incoming_value);
  EXPECT_TRUE(hand.planner.inspect().poisoned(a));
  EXPECT_EQ(hand.planner.live_tasks(), 0U) << "the reader is cancelled";
  auto const failures = hand.planner.handle(TakeFailures{});
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].what, "task 'incoming value' 0");
}

TEST_F(External, IsCancelledIfItHasNotBegun) {
  DataId const a = hand.stored("a", 100);
  TaskId const running = hand.submit({read(a)});
  TaskId const begun_before = submit({read(a)});
  TaskId const waiting = submit({write(a)});
  hand.finish_copies();
  hand.cancel_all();
  hand.finish(running);
  EXPECT_EQ(hand.planner.live_tasks(), 2U);
  hand.finish(begun_before);
  EXPECT_FALSE(begun(waiting));
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
}

// A worker's task would fail at once: nothing else will leave room.
TEST_F(External, OthersWaitForTheRoomThatItsEndLeaves) {
  Machine machine;
  NodeId const host = machine.add_node({.name = "host", .capacity = 300});
  machine.add_worker({.name = "cpu", .node = host});
  Hand full(machine);
  DataId const shipped = full.temporary("shipped", 200);
  DataId const next = full.temporary("next", 200);
  full.finish(full.submit({write(shipped)}));
  CodeletId const outgoing_values = full.planner.handle(AddCodelet{{.name = "outgoing value", .external = true}});
  CodeletId const work = std::exchange(full.codelet, outgoing_values);
  TaskId const outgoing_value = full.submit({read(shipped)});
  full.release(shipped);
  full.codelet = work;
  TaskId const waits = full.submit({write(next)});
  EXPECT_FALSE(full.planner.failed());
  full.finish(outgoing_value);
  EXPECT_TRUE(full.runs_now(waits));
  full.finish_all();
  EXPECT_TRUE(full.planner.idle());
}

TEST_F(External, MayBeReturnedAndBeginsAgain) {
  DataId const a = hand.stored("a", 100);
  TaskId const incoming_value = submit({write(a)});
  hand.planner.handle(TaskReturned{incoming_value});
  hand.absorb();
  EXPECT_EQ(hand.logged<BeginCommand>().size(), 2U);
  hand.finish(incoming_value);
  EXPECT_TRUE(hand.planner.idle());
}

TEST_F(External, WritesOnlyDataWithAHomeAndHasNoKernels) {
  DataId const temporary = hand.temporary("temporary", 100);
  DataId const stored = hand.stored("stored", 100);
  EXPECT_EQ(message_of([&] { submit({write(temporary)}); }),
            "task 'incoming value' writes data 'temporary', which has no home, and no worker runs the task");
  EXPECT_EQ(message_of([&] { submit({read_write(stored)}); }),
            "task 'incoming value' writes data 'stored', which it reads, too, and no worker runs the task");
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
  auto const refusal = [&](Codelet const& codelet) {
    return message_of([&] { hand.planner.handle(AddCodelet{codelet}); });
  };
  EXPECT_EQ(refusal({.name = "both", .kernels = {no_kernel}, .external = true}),
            "codelet 'both' is external and has kernels: no worker runs it");
  EXPECT_EQ(refusal({.name = "stopped", .external = true, .restartable = true}),
            "codelet 'stopped' is external and restartable: no worker runs it");
}

}  // namespace
}  // namespace granary::test
