// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Room on nodes: reservations, evictions, fragmentation.
#include "hand.hpp"

#include <granary/detail/core/base/error.hpp>

namespace granary::test {

using namespace detail;

namespace {

TEST(Staging, TakesTheRoomOfATasksDataAllAtOnce) {
  Hand hand(disk_and_host(350), {.depth = 4});
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  DataId const c = hand.stored("c", 100);
  DataId const d = hand.stored("d", 100);
  TaskId const first = hand.submit({read(a), read(b)});
  hand.finish_copies();
  hand.submit({read(c), read(d)});
  // There is room for one of the two.
  EXPECT_FALSE(hand.allocated(c));
  EXPECT_FALSE(hand.allocated(d));
  EXPECT_TRUE(hand.copies.empty());
  hand.finish(first);
  EXPECT_TRUE(hand.allocated(c));
  EXPECT_TRUE(hand.allocated(d));
  hand.finish_all();
  EXPECT_TRUE(hand.planner.idle());
}

TEST(Staging, DropsCleanDataWithoutACopy) {
  Hand hand(disk_and_host(100), {.depth = 1});
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  hand.submit({read(a)});
  hand.submit({read(b)});
  hand.submit({read(a)});
  hand.finish_all();
  EXPECT_EQ(hand.copies_of(a), 2U);
  EXPECT_EQ(hand.copies_home(a) + hand.copies_home(b), 0U);
  EXPECT_TRUE(hand.freed(a));
  EXPECT_EQ(hand.planner.statistics().nodes[1].evictions, 2U);
  EXPECT_EQ(hand.planner.statistics().nodes[1].write_backs, 0U);
}

TEST(Staging, WritesChangedDataBackBeforeTheirRoomIsUsed) {
  Hand hand(disk_and_host(100), {.write_back_early = false});
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  hand.submit({read_write(a)});
  hand.finish_all();
  EXPECT_EQ(hand.copies_home(a), 0U);
  hand.submit({read(b)});
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies.front().data, a);
  EXPECT_EQ(hand.copies.front().to.slot, Slot::Home);
  EXPECT_FALSE(hand.freed(a));
  EXPECT_FALSE(hand.allocated(b));
  hand.finish_copy();
  EXPECT_TRUE(hand.freed(a));
  EXPECT_TRUE(hand.allocated(b));
  hand.finish_all();
  EXPECT_TRUE(hand.planner.idle());
}

TEST(Staging, KeepsValuesWithoutAHomeInStorage) {
  Hand hand(disk_and_host(100));
  DataId const a = hand.temporary("a", 100);
  DataId const b = hand.temporary("b", 100);
  hand.submit({write(a)});
  hand.finish_all();
  hand.submit({write(b)});
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies.front().data, a);
  EXPECT_EQ(hand.copies.front().to.node, disk_node);
  EXPECT_EQ(hand.copies.front().to.slot, Slot::Pool);
  hand.finish_all();
  TaskId const again = hand.submit({read(a)});
  hand.finish_copies();
  EXPECT_TRUE(hand.runs_now(again));
  hand.finish_all();
  EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
}

TEST(Staging, ReadsTheOriginAndWritesTheHome) {
  Hand hand(disk_and_host(100), {.write_back_early = false});
  DataId const a = hand.add({.name = "a", .bytes = 100, .origin = disk_node, .home = disk_node});
  DataId const b = hand.stored("b", 100);
  hand.submit({read(a)});
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies.front().from.slot, Slot::Origin);
  hand.finish_all();
  // Data that were only read drop back to their origin.
  hand.submit({read(b)});
  hand.finish_all();
  EXPECT_EQ(hand.copies_home(a), 0U);
  hand.submit({read_write(a)});
  hand.finish_all();
  hand.submit({read(b)});
  hand.finish_all();
  EXPECT_EQ(hand.copies_home(a), 1U);
  // From now on the home has the value.
  hand.submit({read(a)});
  ASSERT_FALSE(hand.copies.empty());
  EXPECT_EQ(hand.copies.back().from.slot, Slot::Home);
  hand.finish_all();
  for (auto const& copy : hand.logged<CopyCommand>()) EXPECT_NE(copy.to.slot, Slot::Origin);
}

TEST(Staging, UsesDataInPlaceOutsideTheCapacity) {
  Hand hand(disk_and_host(100));
  DataId const view = hand.add({.name = "view",
                                .bytes = 100000,
                                .origin = host_node,
                                .home = host_node,
                                .origin_is_home = true,
                                .in_place = true});
  DataId const a = hand.stored("a", 100);
  hand.submit({read_write(view), read(a)});
  hand.finish_copies();
  ASSERT_EQ(hand.runs.size(), 1U);
  EXPECT_EQ(hand.runs[0].places[0], (Place{host_node, Slot::Home, 0}));
  hand.finish_all();
  EXPECT_EQ(hand.copies_of(view), 0U);
  EXPECT_EQ(hand.planner.statistics().nodes[1].peak, 100U);
}

TEST(Staging, CompletesWhenTheRestDoesNotFitAroundWhatLiesInTheMiddle) {
  Hand hand(disk_and_host(300), {.depth = 1});
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  DataId const c = hand.stored("c", 100);
  DataId const large = hand.stored("large", 200);
  hand.submit({read(a), read_write(b), read(c)});
  hand.finish_all();
  // Wherever the datum in the middle is, 200 bytes fit only after it moved.
  for (DataId const middle : {a, b, c}) {
    TaskId const task = hand.submit({read_write(large), read_write(middle)});
    hand.finish_all();
    EXPECT_EQ(hand.planner.statistics().tasks_run, task.value() + 1);
    hand.submit({read(a), read(b), read(c)});
    hand.finish_all();
  }
  EXPECT_TRUE(hand.planner.idle());
  EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
}

TEST(Staging, EvictsNoMoreThanRangesForTwoDataThatFindNoneTogether) {
  Hand hand(disk_and_host(800), {.depth = 1});
  std::vector<DataId> lying;
  for (int i = 0; i < 8; ++i) lying.push_back(hand.stored("d" + std::to_string(i), 100));
  DataId const large = hand.stored("large", 180);
  DataId const other = hand.stored("other", 150);
  for (std::size_t const i : {0, 1, 2, 3, 4, 5, 6, 7, 1, 3, 5, 7}) {
    hand.submit({read(lying[i])});
    hand.finish_all();
  }
  // Every second one leaves first: 400 bytes in four pieces, of which `large` needs two, and `other` two more.
  hand.submit({read(large), read(other)});
  hand.finish_all();
  EXPECT_EQ(hand.planner.statistics().nodes[1].evictions, 6U);
  EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
}

TEST(Staging, KeepsRoomForWriteBacksOnNodesBetweenOthers) {
  // 200 bytes for a task on the device; on the host 100 for transfers upward and 100 reserved for write-backs.
  Hand hand(three_levels(200, 200), {.depth = 3});
  std::vector<DataId> data;
  for (int i = 0; i < 5; ++i) data.push_back(hand.stored("d" + std::to_string(i), 100));
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < data.size(); ++i) hand.submit({read(data[i]), read_write(data[(i + 2) % data.size()])});
  }
  hand.finish_all();
  hand.flush();
  hand.finish_all();
  EXPECT_TRUE(hand.planner.idle());
  EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
  EXPECT_EQ(hand.planner.statistics().tasks_run, 15U);
  EXPECT_LE(hand.planner.statistics().nodes[1].peak, 200U);
  EXPECT_LE(hand.planner.statistics().nodes[2].peak, 200U);
  for (DataId const d : data) EXPECT_GE(hand.copies_home(d), 1U);
}

// Write-backs through two full nodes must not block transfers in the other direction.
TEST(Staging, LetsValuesGoHomeInOppositeDirectionsThroughTheSameNodes) {
  Machine machine;
  for (std::uint32_t n = 0; n < 4; ++n) {
    bool const middle = n == 1 || n == 2;
    machine.add_node({.name = "node" + std::to_string(n), .capacity = middle ? 200 : unbounded});
    if (n > 0) machine.add_link_pair(NodeId(n - 1), NodeId(n), 1e9);
  }
  machine.add_worker({.name = "left", .node = NodeId(0), .kind = WorkerKind::Cpu});
  machine.add_worker({.name = "right", .node = NodeId(3), .kind = WorkerKind::Device});
  Hand hand(machine, {.write_back_early = false});
  CodeletId const left = hand.planner.handle(AddCodelet{{.name = "left", .kernels = {no_kernel, nullptr}}});
  CodeletId const right = hand.planner.handle(AddCodelet{{.name = "right", .kernels = {nullptr, no_kernel}}});
  std::vector<DataId> data;
  for (int i = 0; i < 6; ++i) {
    bool const written_left = i % 2 == 0;
    NodeId const home(written_left ? 3 : 0);
    data.push_back(hand.add({.name = "d" + std::to_string(i), .bytes = 100, .home = home, .in_place = true}));
    Access const access = write(data.back());
    hand.planner.handle(TaskSubmission{.codelet = written_left ? left : right, .accesses = {&access, 1}});
    hand.absorb();
  }
  hand.finish_all();
  hand.flush();
  hand.finish_all();
  EXPECT_TRUE(hand.planner.idle());
  EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
  for (DataId const d : data) EXPECT_EQ(hand.copies_home(d), 1U);
}

TEST(Staging, KeepsRoomForTasksAcceptedBeforeALargerDatum) {
  // The host holds two data of a task and reserves one slot. Later it reserves more, for larger data.
  Machine machine = three_levels(300, 1000);
  machine.add_worker({.name = "cpu", .node = host_node});
  Hand hand(machine, {.depth = 1});
  CodeletId const on_host = hand.planner.handle(AddCodelet{{.name = "on_host", .kernels = {no_kernel, nullptr}}});
  std::vector<DataId> data;
  for (int i = 0; i < 4; ++i) data.push_back(hand.stored("d" + std::to_string(i), 100));
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<Access> const accesses = {read_write(data[i]), read(data[i + 2])};
    hand.planner.handle(TaskSubmission{.codelet = on_host, .accesses = accesses});
    hand.absorb();
  }
  DataId const large = hand.stored("large", 150);
  Access const reads_large = read(large);
  hand.planner.handle(TaskSubmission{.codelet = on_host, .accesses = {&reads_large, 1}});
  hand.finish_all();
  EXPECT_EQ(hand.planner.statistics().tasks_run, 3U);
  EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
}

TEST(Staging, ReservesNothingForDataThatNeverPass) {
  Machine machine = three_levels(300, 1000);
  machine.add_worker({.name = "cpu", .node = host_node});
  Hand hand(machine);
  DataId const small = hand.stored("small", 100);
  hand.planner.handle(AddData{{"in place", 10'000, host_node, host_node, true, true}});
  DataId const large = hand.stored("large", 151);  // beside a reserve for it there is no room for it
  EXPECT_THROW(hand.submit({read(large)}), MemoryLimitError);
  DataId const half = hand.stored("half", 150);
  hand.submit({read(small), read_write(half)});
  hand.finish_all();
  EXPECT_EQ(hand.planner.statistics().tasks_run, 1U);
}

TEST(Staging, RefusesDataThatCannotPassANodeBetween) {
  Hand hand(three_levels(199, 1000));
  DataId const a = hand.stored("a", 100);
  EXPECT_THROW(hand.submit({read(a)}), MemoryLimitError);
}

TEST(Staging, TellsWhenThereIsNowhereToPutAValue) {
  // One bounded node alone: nothing can be evicted.
  Machine machine;
  machine.add_node({.name = "host", .kind = NodeKind::Host, .capacity = 250});
  machine.add_worker({.name = "cpu", .node = NodeId(0)});
  Hand hand(machine);
  for (int i = 0; i < 3; ++i) hand.submit({write(hand.temporary("t" + std::to_string(i), 100))});
  hand.finish_all();
  EXPECT_TRUE(hand.planner.idle());
  auto const failures = hand.planner.handle(TakeFailures{});
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].task, TaskId(2));
  EXPECT_NE(text_of(failures[0].error).find("'host'"), std::string::npos);
}

}  // namespace
}  // namespace granary::test
