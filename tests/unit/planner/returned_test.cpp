// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks that workers give back or stop, and positions in the order of submission.
#include "hand.hpp"

#include <granary/detail/core/base/error.hpp>

#include <gmock/gmock.h>

namespace granary::test {

using namespace detail;

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TaskPhase phase(Hand const& hand, TaskId task) { return hand.planner.view().assignment(task).phase; }

void give_back(Hand& hand, TaskId task) {
  std::erase_if(hand.runs, [&](RunCommand const& run) { return run.task == task; });
  hand.planner.handle(TaskReturned{task});
  hand.absorb();
}

TEST(Returned, ATaskRunsAgainFromWhateverPhaseItComes) {
  // One worker that holds one task; the second task waits with its data there, the third for its data, the fourth for
  // room.
  Hand hand(disk_and_host(300), {.depth = 3, .issue_depth = 1, .write_back_early = false});
  std::vector<TaskId> tasks;
  for (int t = 0; t < 4; ++t) tasks.push_back(hand.submit({read_write(hand.stored("d" + std::to_string(t), 100))}));
  hand.finish_copy();
  hand.finish_copy();
  ASSERT_EQ(phase(hand, tasks[0]), TaskPhase::Issued);
  ASSERT_EQ(phase(hand, tasks[1]), TaskPhase::Fetching);
  ASSERT_EQ(phase(hand, tasks[2]), TaskPhase::Fetching);
  ASSERT_EQ(phase(hand, tasks[3]), TaskPhase::Committed);
  for (TaskId const task : {tasks[3], tasks[2], tasks[1], tasks[0]}) give_back(hand, task);
  EXPECT_EQ(hand.planner.live_tasks(), 4U);
  hand.finish_all();
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
  EXPECT_EQ(hand.planner.statistics().tasks_run, 4U);
  hand.flush();
  hand.finish_all();
  EXPECT_TRUE(hand.planner.idle());
}

TEST(Returned, AWorkerFromWhichATaskWasTakenGetsOthersAfterAllWorkersThatTakeMore) {
  Machine machine;
  auto const host = machine.add_node({"host", NodeKind::Host, 1000, 1});
  for (int w = 0; w < 2; ++w) machine.add_worker({"core", host, WorkerKind::Cpu});
  Hand hand(machine, {.issue_ahead = std::chrono::hours(1), .issue_depth = 2});
  std::vector<TaskId> tasks;
  auto const submit = [&] { tasks.push_back(hand.submit({write(hand.temporary("x", 10))})); };
  auto const worker_of = [&](std::size_t task) { return hand.planner.view().assignment(tasks[task]).worker; };
  submit();
  ASSERT_EQ(worker_of(0), WorkerId(0));
  give_back(hand, tasks[0]);
  EXPECT_TRUE(hand.planner.absent(WorkerId(0)));
  EXPECT_EQ(worker_of(0), WorkerId(1));
  submit();
  EXPECT_EQ(worker_of(1), WorkerId(1)) << "which takes two";
  submit();
  EXPECT_EQ(worker_of(2), WorkerId(0)) << "there is no other";
  hand.finish(tasks[2]);
  EXPECT_FALSE(hand.planner.absent(WorkerId(0)));
  submit();
  EXPECT_EQ(worker_of(3), WorkerId(0));
  give_back(hand, tasks[3]);
  hand.planner.handle(WorkerBack{WorkerId(0)});
  hand.absorb();
  submit();
  EXPECT_EQ(worker_of(4), WorkerId(0));
}

TEST(Returned, ATaskKeepsTheValueThatItReadsAndWrites) {
  Hand hand(disk_and_host(1000));
  DataId const a = hand.stored("a", 100);
  TaskId const task = hand.submit({read_write(a)});
  hand.finish_copies();
  ASSERT_TRUE(hand.runs_now(task));
  give_back(hand, task);
  EXPECT_TRUE(hand.runs_now(task));
  EXPECT_EQ(hand.copies_of(a), 1U) << "the value is still there";
}

TEST(Returned, ACancelledTaskTakesTheValueThatItDidNotReadWithIt) {
  Hand hand(disk_and_host(1000), {.issue_ahead = std::chrono::hours(1), .issue_depth = 2});
  DataId const lost = hand.stored("lost", 100);
  DataId const input = hand.stored("input", 100);
  hand.submit({read(input)});
  TaskId const task = hand.submit({read(input), write(lost)});
  hand.submit({read(input)});
  hand.finish_copies();
  ASSERT_EQ(phase(hand, task), TaskPhase::Issued);
  give_back(hand, task);  // the third task gets its place
  ASSERT_EQ(phase(hand, task), TaskPhase::Fetching);
  hand.cancel_all();
  EXPECT_TRUE(hand.planner.inspect().poisoned(lost));
  EXPECT_FALSE(hand.planner.inspect().poisoned(input));
  hand.release(lost);
  EXPECT_TRUE(hand.logged<ForgetCommand>().empty()) << "its bytes may be registered again before the report";
  hand.retain(lost);
  hand.finish_all();
  hand.planner.handle(TakeFailures{});
  EXPECT_THROW(hand.submit({read(lost)}), InvalidArgument);
}

TEST(Returned, ATaskThatFollowedWaitsAgain) {
  Hand hand(three_levels(1000, 1000), {.device_issue = 2});
  DataId const a = hand.stored("a", 100);
  TaskId const first = hand.submit({read_write(a)});
  TaskId const second = hand.submit({read_write(a)});
  hand.finish_copies();
  ASSERT_EQ(phase(hand, second), TaskPhase::Issued);
  give_back(hand, second);
  give_back(hand, first);
  hand.finish_all();
  EXPECT_EQ(hand.planner.statistics().tasks_run, 2U);
  EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
}

TEST(Position, CountsSubmissionsUnlessTheCallerDoes) {
  Hand hand(disk_and_host(1000), {.depth = 8, .issue_ahead = std::chrono::hours(1), .issue_depth = 4});
  auto const submit = [&](std::uint64_t position) {
    TaskId const id =
        hand.planner.handle(TaskSubmission{.codelet = hand.codelet, .accesses = {}, .position = position});
    hand.absorb();
    return id;
  };
  constexpr auto next = TaskSubmission::next_position;
  std::vector<std::uint64_t> positions;
  for (auto const given : {next, std::uint64_t{5}, next, std::uint64_t{100}}) {
    positions.push_back(hand.planner.view().task(submit(given)).position);
  }
  EXPECT_THAT(positions, ElementsAre(0, 5, 6, 100));
  try {
    submit(100);
    FAIL() << "the position was taken";
  } catch (InvalidArgument const& error) {
    EXPECT_THAT(error.what(), HasSubstr("position 100"));
    EXPECT_THAT(error.what(), HasSubstr("'work'"));
  }
  EXPECT_EQ(hand.planner.live_tasks(), 4U);
}

TEST(Position, NamesAndOrdersFailures) {
  Hand hand(disk_and_host(1000), {.depth = 8, .issue_ahead = std::chrono::hours(1), .issue_depth = 4});
  for (std::uint64_t const position : {7U, 9U}) {
    hand.planner.handle(TaskSubmission{.codelet = hand.codelet, .accesses = {}, .position = position});
  }
  hand.absorb();
  hand.fail(TaskId(0));
  hand.fail(TaskId(1));
  auto const failures = hand.planner.handle(TakeFailures{});
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_EQ(failures[0].position, 7U);
  EXPECT_EQ(failures[0].what, "task 'work' 7");
  EXPECT_EQ(failures[1].position, 9U);
}

class Restarted : public ::testing::Test {
 protected:
  TaskId submit(CodeletId codelet, Access access) {
    TaskId const task = hand.planner.handle(TaskSubmission{.codelet = codelet, .accesses = {&access, 1}});
    hand.absorb();
    return task;
  }

  static Machine host_and_device() {
    Machine machine = three_levels(1000, 1000);
    machine.add_worker({.name = "cpu", .node = host_node});
    return machine;
  }

  Hand hand{host_and_device(), {.write_back_early = false}};
  CodeletId on_host = hand.planner.handle(AddCodelet{{.name = "host", .kernels = {no_kernel, nullptr}}});
  CodeletId polls =
      hand.planner.handle(AddCodelet{{.name = "polls", .kernels = {no_kernel, nullptr}, .restartable = true}});
  CodeletId polls_on_device =
      hand.planner.handle(AddCodelet{{.name = "polls", .kernels = {nullptr, no_kernel}, .restartable = true}});
};

// The value stands in the home, too, and is kept there until the task has ended.
TEST_F(Restarted, ATaskRunsAgainOnTheValueThatAnotherMemoryHolds) {
  DataId const a = hand.stored("a", 100);
  TaskId const task = submit(polls, read_write(a));
  EXPECT_FALSE(hand.planner.may_restart(task)) << "it has not begun";
  hand.finish_copies();
  ASSERT_TRUE(hand.runs_now(task));
  ASSERT_TRUE(hand.planner.may_restart(task));
  hand.runs.clear();
  hand.planner.handle(TaskReturned{task, true});
  hand.absorb();
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies.front().from, (Place{disk_node, Slot::Home, 0}));
  EXPECT_EQ(hand.copies.front().version, 0U);
  hand.finish_copies();
  EXPECT_TRUE(hand.runs_now(task));
  hand.finish_all();
  hand.flush();
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies.front().version, 1U);
  hand.finish_all();
}

TEST_F(Restarted, ATaskRunsAgainOnlyIfItsCodeletAndItsDataAllowThat) {
  DataId const a = hand.stored("a", 100);
  auto const may_restart = [&](CodeletId codelet, AccessMode mode) {
    TaskId const task = submit(codelet, {a, mode});
    hand.finish_copies();
    EXPECT_TRUE(hand.runs_now(task));
    bool const may = hand.planner.may_restart(task);
    hand.finish(task);
    return may;
  };
  EXPECT_FALSE(may_restart(on_host, AccessMode::ReadWrite)) << "BLAS cannot poll";
  EXPECT_FALSE(may_restart(polls, AccessMode::ReadWrite)) << "its memory alone holds the value";
  EXPECT_TRUE(may_restart(polls, AccessMode::Write)) << "it does not need it";
  hand.flush();
  hand.finish_copies();
  EXPECT_TRUE(may_restart(polls, AccessMode::ReadWrite)) << "the home holds it";
}

TEST_F(Restarted, TheOldValueInAMemoryIsDroppedWhenTheTaskHasEnded) {
  DataId const a = hand.temporary("a", 100);
  TaskId const first = submit(on_host, write(a));
  TaskId const task = submit(polls_on_device, read_write(a));
  hand.finish(first);
  hand.finish_copies();
  ASSERT_TRUE(hand.runs_now(task));
  ASSERT_TRUE(hand.planner.may_restart(task));
  EXPECT_FALSE(hand.freed(a, host_node));
  EXPECT_FALSE(hand.planner.view().valid(a, host_node));
  hand.finish(task);
  EXPECT_TRUE(hand.freed(a, host_node));
  EXPECT_TRUE(hand.planner.view().valid(a, device_node));
}

// The task before it still writes, and may come back, too.
TEST_F(Restarted, AFollowerThatComesBackLeavesTheOldValueWhereItIs) {
  Hand lanes(host_and_device(), {.device_issue = 2, .write_back_early = false});
  CodeletId const host = lanes.planner.handle(AddCodelet{{.name = "host", .kernels = {no_kernel, nullptr}}});
  CodeletId const device =
      lanes.planner.handle(AddCodelet{{.name = "polls", .kernels = {nullptr, no_kernel}, .restartable = true}});
  DataId const a = lanes.temporary("a", 100);
  lanes.codelet = host;
  lanes.finish(lanes.submit({write(a)}));
  lanes.codelet = device;
  TaskId const first = lanes.submit({read_write(a)});
  lanes.finish_copies();
  TaskId const follower = lanes.submit({read_write(a)});
  ASSERT_TRUE(lanes.runs_now(follower));
  EXPECT_FALSE(lanes.planner.may_restart(follower));
  lanes.runs.clear();
  lanes.planner.handle(TaskReturned{follower});
  EXPECT_FALSE(lanes.planner.view().valid(a, host_node));
  EXPECT_TRUE(lanes.planner.may_restart(first));
  lanes.planner.handle(CancelAll{some_error()});
  lanes.planner.inspect().check_invariants();
  lanes.planner.handle(TaskReturned{first, true});
  lanes.absorb();
  ASSERT_EQ(lanes.copies.size(), 1U);
  EXPECT_EQ(lanes.copies.front().version, 1U);
  lanes.finish_copies();
  EXPECT_TRUE(lanes.runs_now(first));
}

// A task on the device overwrites what the host is about to write back, comes back, and waits behind another one.
TEST_F(Restarted, AValueThatWasBeingEvictedIsEvictedLater) {
  Machine machine = disk_and_host(600, 1);  // with the reserve for what passes to the device
  NodeId const device = machine.add_node({.name = "device", .kind = NodeKind::Device, .capacity = 1000});
  machine.add_link_pair(host_node, device, 1e10);
  machine.add_worker({.name = "gpu", .node = device, .kind = WorkerKind::Device});
  Hand tight(machine, {.issue_depth = 1, .write_back_early = false});
  CodeletId const host = tight.planner.handle(AddCodelet{{.name = "host", .kernels = {no_kernel, nullptr}}});
  CodeletId const gpu =
      tight.planner.handle(AddCodelet{{.name = "polls", .kernels = {nullptr, no_kernel}, .restartable = true}});
  auto const temporary = [&](char const* name) { return tight.temporary(name, 200); };
  DataId const a = temporary("a");
  DataId const b = temporary("b");
  tight.codelet = host;
  tight.finish(tight.submit({write(a)}));
  tight.finish(tight.submit({write(b)}));
  TaskId const needs_all = tight.submit({write(temporary("c")), write(temporary("d"))});
  ASSERT_EQ(tight.copies.size(), 1U) << "one of the two write-backs waits";
  ASSERT_EQ(tight.copies.front().data, a);
  tight.codelet = gpu;
  TaskId const overwrites = tight.submit({write(b)});
  ASSERT_TRUE(tight.runs_now(overwrites));
  tight.submit({write(temporary("e"))});
  tight.runs.clear();
  tight.planner.handle(TaskReturned{overwrites, true});
  tight.absorb();
  EXPECT_FALSE(tight.runs_now(overwrites));
  tight.finish_copies();
  EXPECT_TRUE(tight.runs_now(needs_all));
}

TEST_F(Restarted, AFailureTakesTheOldValueToo) {
  DataId const a = hand.stored("a", 100);
  TaskId const task = submit(polls, read_write(a));
  hand.finish_copies();
  hand.fail(task);
  EXPECT_TRUE(hand.planner.inspect().poisoned(a));
  EXPECT_FALSE(hand.planner.view().valid(a, disk_node));
}

}  // namespace
}  // namespace granary::test
