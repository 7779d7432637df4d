// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fetches, write-backs, flushes, release.
#include "hand.hpp"

#include <granary/detail/core/base/error.hpp>

#include <algorithm>
#include <set>

namespace granary::test {

using namespace detail;

namespace {

TEST(Transfers, FetchOnceForAllWhoWait) {
  Hand hand(disk_and_host(1000, 8, 2));
  DataId const a = hand.stored("a", 100);
  TaskId const first = hand.submit({read(a)});
  TaskId const second = hand.submit({read(a)});
  EXPECT_EQ(hand.copies.size(), 1U);
  hand.finish_copy();
  EXPECT_TRUE(hand.runs_now(first));
  EXPECT_TRUE(hand.runs_now(second));
  hand.finish_all();
  EXPECT_EQ(hand.copies_of(a), 1U);
}

TEST(Transfers, FetchNothingThatIsOnlyWritten) {
  Hand hand(disk_and_host(1000), {.write_back_early = false});
  DataId const a = hand.stored("a", 100);
  TaskId const task = hand.submit({write(a)});
  EXPECT_TRUE(hand.runs_now(task));
  EXPECT_EQ(hand.copies_of(a), 0U);
}

TEST(Transfers, FetchOnlyVersionsThatExist) {
  Hand hand(disk_and_host(1000), {.depth = 8, .write_back_early = false});
  DataId const a = hand.stored("a", 100);
  TaskId const writer = hand.submit({write(a)});
  hand.submit({read(a)});
  EXPECT_TRUE(hand.runs_now(writer));
  EXPECT_TRUE(hand.copies.empty());
  hand.finish_all();
  EXPECT_EQ(hand.copies_of(a), 0U);
}

TEST(Transfers, KeepToTheLinksWidth) {
  Hand hand(disk_and_host(1000, 2), {.depth = 8});
  for (int i = 0; i < 6; ++i) hand.submit({read(hand.stored("d" + std::to_string(i), 100))});
  EXPECT_EQ(hand.copies.size(), 2U);
  hand.finish_copy();
  EXPECT_EQ(hand.copies.size(), 2U);
  hand.finish_all();
  EXPECT_EQ(hand.planner.statistics().links[0].transfers, 6U);
  EXPECT_EQ(hand.planner.statistics().links[0].bytes, 600U);
}

// Data of 1, 2, … bytes; the first copy is under way when the others are requested.
std::vector<Bytes> order_of_copies(PlannerOptions options) {
  options.depth = 8;
  Hand hand(disk_and_host(1000, 1), options);
  Bytes bytes = 0;
  for (std::int64_t const priority : {0, -5, 3, 3, 7}) {
    hand.submit({read(hand.stored("d" + std::to_string(bytes), bytes + 1))}, priority);
    ++bytes;
  }
  std::vector<Bytes> order;
  while (!hand.copies.empty()) {
    order.push_back(hand.copies.front().bytes);
    hand.finish_copy();
  }
  return order;
}

TEST(Transfers, StartInTheOrderOfTheirRequests) { EXPECT_EQ(order_of_copies({}), (std::vector<Bytes>{1, 2, 3, 4, 5})); }

TEST(Transfers, OfTheMostUrgentTasksStartFirstIfAsked) {
  EXPECT_EQ(order_of_copies({.transfers_by_priority = true}), (std::vector<Bytes>{1, 5, 3, 4, 2}));
}

TEST(Transfers, HaveThePriorityOfTheMostUrgentTaskThatWaits) {
  Hand hand(disk_and_host(1000, 1), {.depth = 8, .transfers_by_priority = true});
  hand.submit({read(hand.stored("first", 1))});
  DataId const a = hand.stored("a", 2);
  DataId const b = hand.stored("b", 3);
  hand.submit({read(b)}, 4);
  hand.submit({read(a)}, 1);
  hand.submit({read(a)}, 5);
  hand.submit({read(a)}, 2);
  hand.finish_copy();
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies.front().data, a);
  hand.finish_all();
  EXPECT_TRUE(hand.planner.idle());
}

TEST(Transfers, ThroughANodeHaveThePriorityOfTheirTasks) {
  Machine machine;
  machine.add_node({.name = "disk", .kind = NodeKind::Disk});
  machine.add_node({.name = "host"});
  NodeId const device = machine.add_node({.name = "device", .kind = NodeKind::Device, .capacity = 1000});
  machine.add_link_pair(disk_node, host_node, 1e9);
  machine.add_link_pair(host_node, device, 1e9);
  machine.add_worker({.name = "gpu", .node = device, .kind = WorkerKind::Device});
  Hand hand(machine, {.depth = 8, .transfers_by_priority = true});
  hand.submit({read(hand.stored("first", 1))});
  hand.submit({read(hand.stored("second", 2))}, 1);
  hand.submit({read(hand.stored("third", 3))}, 2);
  hand.finish_copy();  // first has left the disk
  auto const from_disk = std::ranges::find(hand.copies, disk_node, [](auto const& copy) { return copy.from.node; });
  ASSERT_NE(from_disk, hand.copies.end());
  EXPECT_EQ(from_disk->bytes, 3U);
  hand.finish_all();
  EXPECT_TRUE(hand.planner.idle());
}

TEST(Transfers, HomeWaitUntilNobodyNeedsTheLink) {
  Hand hand(three_levels(1000, 1000), {.depth = 8, .transfers_by_priority = true});
  DataId const a = hand.stored("a", 100);
  TaskId const task = hand.submit({read_write(a)}, -7);
  hand.finish_all();
  hand.flush();
  hand.finish_all();
  EXPECT_TRUE(hand.planner.idle());
  EXPECT_EQ(hand.copies_home(a), 1U);
  EXPECT_EQ(hand.order_of_runs(), (std::vector<std::uint64_t>{task.value()}));
}

TEST(Transfers, PassThroughTheNodesBetween) {
  Hand hand(three_levels(1000, 1000), {.write_back_early = false});
  DataId const a = hand.stored("a", 100);
  TaskId const task = hand.submit({read_write(a)});
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies.front().to.node, host_node);
  hand.finish_copy();
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies.front().from.node, host_node);
  EXPECT_EQ(hand.copies.front().to.node, device_node);
  EXPECT_TRUE(hand.runs.empty());
  hand.finish_copy();
  EXPECT_TRUE(hand.runs_now(task));
  hand.finish(task);
  hand.flush();
  hand.finish_all();
  EXPECT_EQ(hand.copies_home(a), 1U);
  EXPECT_TRUE(hand.planner.idle());
}

TEST(Transfers, FindAnotherWayWhenThePlaceThatTheyWereToComeFromIsGone) {
  // disk - near - middle - far; the link from far to near is much faster than the one from the disk.
  Machine machine;
  machine.add_node({.name = "disk", .kind = NodeKind::Disk});
  NodeId const near = machine.add_node({.name = "near", .kind = NodeKind::Host, .capacity = 200});
  NodeId const middle = machine.add_node({.name = "middle", .kind = NodeKind::Host, .capacity = 200});
  NodeId const far = machine.add_node({.name = "far", .kind = NodeKind::Device, .capacity = 200});
  machine.add_link_pair(disk_node, near, 1e6);
  machine.add_link_pair(near, middle, 1e9);
  machine.add_link_pair(middle, far, 1e9);
  machine.add_worker({.name = "cpu", .node = near});
  machine.add_worker({.name = "gpu", .node = far, .kind = WorkerKind::Device});
  Hand hand(machine, {.depth = 4});
  CodeletId const on_near = hand.planner.handle(AddCodelet{{.name = "on_near", .kernels = {no_kernel, nullptr}}});
  CodeletId const on_far = hand.planner.handle(AddCodelet{{.name = "on_far", .kernels = {nullptr, no_kernel}}});
  auto const submit_read = [&](CodeletId codelet, DataId data) {
    Access const access = read(data);
    TaskId const task = hand.planner.handle(TaskSubmission{.codelet = codelet, .accesses = {&access, 1}});
    hand.absorb();
    return task;
  };
  DataId const x = hand.stored("x", 100);
  DataId const y = hand.stored("y", 100);
  DataId const z = hand.stored("z", 100);
  submit_read(on_far, x);
  hand.finish_all();
  submit_read(on_far, y);
  hand.finish_copy();
  hand.finish_copy();
  ASSERT_TRUE(hand.freed(x, near) && hand.freed(x, middle)) << "y took its places";
  TaskId const waiting = submit_read(on_near, x);  // from far, once y has left the middle
  EXPECT_EQ(hand.copies.size(), 1U);
  submit_read(on_far, z);
  ASSERT_TRUE(hand.freed(x, far));
  hand.finish_all();
  EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
  auto const order = hand.order_of_runs();
  EXPECT_TRUE(std::ranges::find(order, waiting.value()) != order.end());
  EXPECT_EQ(order.size(), 4U);
  EXPECT_TRUE(hand.planner.idle());
}

TEST(Transfers, AnswersMayComeInAnyOrder) {
  Hand hand(disk_and_host(1000), {.depth = 8});
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  TaskId const first = hand.submit({read(a)});
  TaskId const second = hand.submit({read(b)});
  ASSERT_EQ(hand.copies.size(), 2U);
  std::swap(hand.copies[0], hand.copies[1]);
  hand.finish_copy();
  EXPECT_FALSE(hand.runs_now(first));
  EXPECT_TRUE(hand.runs_now(second)) << "a task whose data are late does not block those behind it";
  hand.finish_all();
}

TEST(Transfers, AFlushWritesWhatChangedAndNothingElse) {
  Hand hand(disk_and_host(1000), {.write_back_early = false});
  DataId const changed = hand.stored("changed", 100);
  DataId const only_read = hand.stored("read", 100);
  DataId const temporary = hand.temporary("temporary", 100);
  hand.submit({read(only_read), read_write(changed), write(temporary)});
  hand.finish_all();
  EXPECT_TRUE(hand.planner.idle());
  hand.flush();
  EXPECT_FALSE(hand.planner.idle());
  EXPECT_EQ(hand.copies.size(), 1U);
  hand.finish_all();
  EXPECT_TRUE(hand.planner.idle());
  EXPECT_EQ(hand.copies_home(changed), 1U);
  EXPECT_EQ(hand.copies_home(only_read), 0U);
  std::size_t const commands = hand.log.size();
  hand.flush();
  EXPECT_EQ(hand.log.size(), commands) << "there is nothing left to write";
  EXPECT_TRUE(hand.planner.idle());
}

TEST(Transfers, AFlushOfOneDatumWritesNoOther) {
  Hand hand(disk_and_host(1000), {.write_back_early = false});
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  hand.finish(hand.submit({write(a), write(b)}));
  hand.planner.handle(FlushHomes{b});
  hand.absorb();
  EXPECT_FALSE(hand.planner.idle());
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies.front().data, b);
  hand.finish_copy();
  EXPECT_TRUE(hand.planner.idle());
  hand.planner.handle(FlushHomes{a});
  hand.absorb();
  EXPECT_EQ(hand.copies_home(a), 1U);
  hand.finish_copies();
  EXPECT_THROW(hand.planner.handle(FlushHomes{DataId(9)}), InvalidArgument);
}

TEST(Transfers, AFlushGoesOnWhereAHopTakesNoTime) {
  Hand hand(three_levels(1000, 1000), {.write_back_early = false});
  DataId const tiny = hand.stored("tiny", 2);
  ASSERT_EQ(hand.planner.topology().route_time(device_node, host_node, 2), Duration{0});
  hand.submit({write(tiny)});
  hand.finish_all();
  hand.flush();
  hand.finish_all();
  EXPECT_EQ(hand.copies_home(tiny), 1U);
  EXPECT_TRUE(hand.planner.idle());
}

TEST(Transfers, FinalValuesGoHomeEarlyIfAskedTo) {
  Hand hand(disk_and_host(1000), {.write_back_early = true});
  DataId const a = hand.stored("a", 100);
  TaskId const first = hand.submit({read_write(a)});
  hand.submit({read_write(a)});
  hand.finish_copies();
  hand.finish(first);
  EXPECT_EQ(hand.copies_home(a), 0U) << "the value was not final";
  hand.finish_all();
  EXPECT_EQ(hand.copies_home(a), 1U);
}

TEST(Transfers, ReleasedDataAreForgottenOnceTheirValueIsHome) {
  Hand hand(disk_and_host(1000), {.write_back_early = false});
  DataId const a = hand.stored("a", 100);
  TaskId const task = hand.submit({read_write(a)});
  hand.finish_copies();
  hand.release(a);
  EXPECT_TRUE(hand.logged<ForgetCommand>().empty());
  hand.finish(task);
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies.front().to.slot, Slot::Home);
  EXPECT_TRUE(hand.logged<ForgetCommand>().empty());
  hand.finish_copy();
  ASSERT_EQ(hand.logged<ForgetCommand>().size(), 1U);
  EXPECT_EQ(hand.logged<ForgetCommand>().front().data, a);
  EXPECT_EQ(hand.planner.statistics().nodes[1].used, 0U);
  EXPECT_TRUE(hand.planner.idle());
}

TEST(Transfers, ReleasedTemporariesGiveTheirRoomBackAtOnce) {
  Hand hand(disk_and_host(1000));
  DataId const a = hand.temporary("a", 100);
  hand.submit({write(a)});
  hand.finish_all();
  EXPECT_EQ(hand.planner.statistics().nodes[1].used, 100U);
  hand.release(a);
  EXPECT_EQ(hand.planner.statistics().nodes[1].used, 0U);
  EXPECT_EQ(hand.logged<ForgetCommand>().size(), 1U);
  EXPECT_TRUE(hand.copies.empty());
}

TEST(Transfers, UnusedDataAreForgottenAtOnce) {
  Hand hand(disk_and_host(1000));
  DataId const a = hand.stored("a", 100);
  hand.release(a);
  EXPECT_EQ(hand.logged<ForgetCommand>().size(), 1U);
}

TEST(Transfers, RetainedDataAreForgottenAfterTheLastRelease) {
  Hand hand(disk_and_host(1000));
  DataId const a = hand.stored("a", 100);
  hand.retain(a);
  hand.release(a);
  EXPECT_TRUE(hand.planner.held(a));
  EXPECT_TRUE(hand.logged<ForgetCommand>().empty());
  hand.submit({read_write(a)});
  hand.release(a);
  EXPECT_FALSE(hand.planner.held(a));
  hand.finish_all();
  EXPECT_EQ(hand.logged<ForgetCommand>().size(), 1U);
  EXPECT_THROW(hand.retain(a), InvalidArgument);
  EXPECT_THROW(hand.release(a), InvalidArgument);
}

TEST(Transfers, AReleasedDatumOnItsWayHomeCanBeUsedAgain) {
  for (bool const arrives_first : {false, true}) {
    SCOPED_TRACE(arrives_first);
    Hand hand(disk_and_host(1000), {.write_back_early = false});
    DataId const a = hand.stored("a", 100);
    TaskId const first = hand.submit({read_write(a)});
    hand.finish_copies();
    hand.release(a);
    hand.finish(first);
    ASSERT_EQ(hand.copies.size(), 1U) << "it goes home";
    hand.retain(a);
    if (arrives_first) hand.finish_copies();
    TaskId const second = hand.submit({read_write(a)});
    hand.planner.inspect().check_invariants();
    hand.finish_copies();
    ASSERT_TRUE(hand.runs_now(second));
    hand.finish(second);
    EXPECT_TRUE(hand.logged<ForgetCommand>().empty());
    hand.release(a);
    hand.finish_all();
    hand.planner.inspect().check_invariants();
    EXPECT_EQ(hand.copies_home(a), 2U);
    EXPECT_EQ(hand.logged<ForgetCommand>().size(), 1U);
    EXPECT_TRUE(hand.planner.idle());
  }
}

// It has no value that could be written, and its next value is not part of the flush.
TEST(Transfers, AFlushLeavesOutWhatATaskWrites) {
  Hand hand(three_levels(1000, 1000), {.write_back_early = false});
  DataId const a = hand.stored("a", 100);
  hand.submit({read_write(a)});
  hand.finish_copies();
  ASSERT_EQ(hand.runs.size(), 1U);
  hand.flush();
  hand.finish_all();
  EXPECT_TRUE(hand.planner.idle());
  EXPECT_EQ(hand.copies_home(a), 0U);
  hand.flush();
  hand.finish_all();
  EXPECT_EQ(hand.copies_home(a), 1U);
}

TEST(Transfers, AWriteBackThatWaitsForRoomIsGivenUpWhenATaskOverwritesTheValue) {
  Hand hand(three_levels(200, 1000), {.device_issue = 4, .write_back_early = false});
  std::vector<DataId> dirty;
  for (auto const* name : {"a", "b", "c"}) {
    dirty.push_back(hand.stored(name, 100));
    hand.submit({write(dirty.back())});
  }
  while (!hand.runs.empty()) hand.finish(hand.runs.front().task);
  hand.flush();
  std::erase_if(dirty, [&](DataId data) { return hand.copies_of(data) > 0; });
  ASSERT_EQ(dirty.size(), 1U) << "the third one waits for room on the host";
  TaskId const overwrites = hand.submit({read_write(dirty[0])});
  ASSERT_TRUE(hand.runs_now(overwrites));
  hand.flush();
  hand.finish_copies();
  EXPECT_EQ(hand.copies_of(dirty[0]), 0U);
  hand.finish_all();
  hand.flush();
  hand.finish_all();
  EXPECT_EQ(hand.copies_home(dirty[0]), 1U);
  EXPECT_TRUE(hand.planner.idle());
}

}  // namespace
}  // namespace granary::test
