// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that other processes ask for, and those that come from there.
#include "hand.hpp"

#include <granary/detail/core/base/error.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>

namespace granary::test {

using namespace detail;

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The host is where values are sent from.
Machine with_others(Machine machine, NodeId send_node = host_node) {
  NodeId const peers = machine.add_node({.name = "others", .kind = NodeKind::Peers});
  machine.add_link_pair(send_node, peers, 1e9, Duration{0}, 4);
  return machine;
}

struct ShippingHand : Hand {
  explicit ShippingHand(Machine machine) : Hand(with_others(std::move(machine)), {.write_back_early = false}) {
    stub = planner.handle(AddCodelet{{.name = "outgoing value", .external = true}});
  }

  TaskId submit_stub(std::initializer_list<Access> accesses, std::uint64_t position = TaskSubmission::next_position) {
    TaskId const task = planner.handle(
        TaskSubmission{.codelet = stub, .accesses = {accesses.begin(), accesses.size()}, .position = position});
    absorb();
    return task;
  }
  TaskId outgoing_value(DataId data) { return submit_stub({read(data)}); }
  void ask(TaskId task) {
    planner.handle(Asked{task});
    absorb();
  }
  void shipped(TaskId task) {
    planner.handle(Shipped{task});
    absorb();
  }
  /// Where values were sent from so far.
  [[nodiscard]] std::vector<Place> sent() const {
    std::vector<Place> places;
    for (auto const& ship : logged<ShipCommand>()) places.push_back(ship.from);
    return places;
  }
  /// What the failures are, which are reported with this.
  std::vector<std::string> failures() {
    std::vector<std::string> all;
    for (auto const& failure : planner.handle(TakeFailures{})) all.push_back(failure.what);
    absorb();
    return all;
  }

  CodeletId stub;
};

TEST(OutgoingValues, AreSentFromThePlaceThatTheHostHas) {
  ShippingHand hand(disk_and_host(1000));
  DataId const a = hand.stored("a", 100);
  hand.submit({read_write(a)});
  hand.finish_all();
  TaskId const task = hand.outgoing_value(a);
  EXPECT_THAT(hand.sent(), IsEmpty()) << "nobody has asked";
  hand.ask(task);
  EXPECT_THAT(hand.copies, IsEmpty());
  ASSERT_THAT(hand.sent(), ElementsAre(Place{host_node, Slot::Pool, 0}));
  EXPECT_EQ(hand.logged<ShipCommand>()[0].version, 1U);
  EXPECT_EQ(hand.logged<ShipCommand>()[0].bytes, 100U);
  hand.shipped(task);
  hand.ask(task);
  hand.shipped(task);
  EXPECT_THAT(hand.sent(), SizeIs(2)) << "as often as it is asked for";
  EXPECT_EQ(hand.planner.statistics().outgoing_values.transfers, 2U);
  EXPECT_EQ(hand.planner.statistics().outgoing_values.bytes, 200U);
  hand.finish(task);
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
}

TEST(OutgoingValues, ComeFromTheDiskThroughTheReserveWhenTasksHoldAllElse) {
  ShippingHand hand(disk_and_host(300));
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  DataId const c = hand.stored("c", 100);
  TaskId const running = hand.submit({read_write(a), read_write(b)});
  hand.finish_copies();
  EXPECT_TRUE(hand.runs_now(running));
  TaskId const first = hand.outgoing_value(c);
  hand.ask(first);
  ASSERT_THAT(hand.copies, SizeIs(1));
  EXPECT_EQ(hand.copies[0].to, (Place{host_node, Slot::Pool, 200}));
  hand.finish_copies();
  EXPECT_THAT(hand.sent(), ElementsAre(Place{host_node, Slot::Pool, 200}));
  DataId const d = hand.stored("d", 100);
  TaskId const second = hand.outgoing_value(d);
  hand.ask(second);
  EXPECT_THAT(hand.copies, IsEmpty()) << "the reserve is in use";
  hand.shipped(first);
  EXPECT_TRUE(hand.freed(c));
  hand.finish_copies();
  EXPECT_THAT(hand.sent(), ElementsAre(Place{host_node, Slot::Pool, 200}, Place{host_node, Slot::Pool, 200}));
  hand.shipped(second);
  hand.finish(first);
  hand.finish(second);
  hand.finish_all();
  EXPECT_TRUE(hand.planner.idle());
}

TEST(OutgoingValues, ComeFromADevice) {
  ShippingHand hand(three_levels(1000, 1000));
  DataId const a = hand.stored("a", 100);
  hand.submit({write(a)});
  hand.finish_all();
  TaskId const task = hand.outgoing_value(a);
  hand.ask(task);
  ASSERT_THAT(hand.copies, SizeIs(1));
  EXPECT_EQ(hand.copies[0].from, (Place{device_node, Slot::Pool, 0}));
  hand.finish_copies();
  EXPECT_THAT(hand.sent(), ElementsAre(Place{host_node, Slot::Pool, 0}));
}

TEST(OutgoingValues, AreSentFromTheirOrigin) {
  ShippingHand hand(three_levels(1000, 1000));
  DataId const a = hand.add({.name = "a", .bytes = 100, .origin = host_node, .home = disk_node});
  TaskId const task = hand.outgoing_value(a);
  hand.ask(task);
  EXPECT_THAT(hand.copies, IsEmpty());
  EXPECT_THAT(hand.sent(), ElementsAre(Place{host_node, Slot::Origin, 0}));
  hand.shipped(task);
  hand.finish(task);
  EXPECT_FALSE(hand.allocated(a));
}

TEST(OutgoingValues, OfOneValueShareItsPlace) {
  ShippingHand hand(disk_and_host(1000));
  DataId const a = hand.stored("a", 100);
  TaskId const one = hand.outgoing_value(a);
  TaskId const other = hand.outgoing_value(a);
  hand.ask(one);
  hand.ask(other);
  EXPECT_THAT(hand.copies, SizeIs(1));
  hand.finish_copies();
  EXPECT_THAT(hand.sent(), SizeIs(2));
  hand.shipped(one);
  EXPECT_FALSE(hand.freed(a));
  hand.shipped(other);
  TaskId const writer = hand.submit({write(a)});
  hand.finish(one);
  EXPECT_FALSE(hand.runs_now(writer)) << "the other one has not ended";
  hand.finish(other);
  EXPECT_TRUE(hand.runs_now(writer));
}

TEST(OutgoingValues, FailWithTheCopyThatBringsTheirValue) {
  ShippingHand hand(disk_and_host(1000));
  DataId const a = hand.stored("a", 100);
  TaskId const one = hand.outgoing_value(a);
  TaskId const other = hand.outgoing_value(a);
  hand.ask(one);
  hand.fail_copy();
  EXPECT_FALSE(hand.planner.live(one));
  EXPECT_TRUE(hand.planner.live(other)) << "nobody has asked for it";
  EXPECT_THAT(hand.sent(), IsEmpty());
  EXPECT_THAT(hand.failures(), ElementsAre("task 'outgoing value' 0"));
  hand.ask(other);
  hand.finish_copies();
  EXPECT_THAT(hand.sent(), SizeIs(1));
}

TEST(OutgoingValues, AreFetchedAgainIfTheyWereOnTheirWayHomeAndDidNotComeThere) {
  ShippingHand hand(three_levels(1000, 1000));
  DataId const a =
      hand.add({.name = "a", .bytes = 100, .origin = host_node, .home = host_node, .origin_is_home = true});
  hand.submit({read_write(a)});
  hand.finish_all();
  hand.flush();
  TaskId const task = hand.outgoing_value(a);
  hand.ask(task);
  ASSERT_THAT(hand.copies, SizeIs(1));
  hand.fail_copy();
  ASSERT_THAT(hand.copies, SizeIs(1));
  EXPECT_THAT(hand.sent(), IsEmpty());
  hand.finish_copies();
  EXPECT_THAT(hand.sent(), ElementsAre(Place{host_node, Slot::Home, 0}));
  EXPECT_THAT(hand.failures(), ElementsAre("write-back of 'a'"));
}

TEST(OutgoingValues, FailIfValuesThatDidNotGetHomeLeaveNoRoom) {
  ShippingHand hand(three_levels(200, 200));
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  DataId const c = hand.stored("c", 100);
  hand.submit({write(a), write(b)});
  hand.finish_all();
  hand.submit({write(hand.temporary("x", 100)), write(hand.temporary("y", 100))});
  hand.finish_all();
  hand.flush();
  ASSERT_THAT(hand.copies, SizeIs(2)) << "from the host, all of which they take";
  TaskId const task = hand.outgoing_value(c);
  hand.fail_copy();
  hand.ask(task);
  EXPECT_TRUE(hand.planner.live(task)) << "a copy is under way";
  hand.fail_copy();
  EXPECT_FALSE(hand.planner.live(task));
  EXPECT_THAT(hand.sent(), IsEmpty());
  EXPECT_THAT(hand.failures(), ElementsAre("task 'outgoing value' 2", "write-back of 'a'", "write-back of 'b'"));
}

// Its end may depend, over other processes, on the task that finds no room.
TEST(OutgoingValues, DoNotHoldUpTheEndOfARunInWhichAValueDidNotGetHome) {
  ShippingHand hand(disk_and_host(300));
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  DataId const c = hand.stored("c", 100);
  hand.submit({write(a)});
  hand.finish_all();
  TaskId const begun = hand.outgoing_value(c);
  hand.flush();
  hand.fail_copy();
  TaskId const other = hand.submit({read(b), read(hand.stored("d", 100))});
  EXPECT_FALSE(hand.planner.live(other)) << "it is cancelled";
  EXPECT_TRUE(hand.planner.live(begun));
  hand.finish(begun);
  EXPECT_THAT(hand.failures(), ElementsAre("write-back of 'a'"));
}

TEST(OutgoingValues, OnlyBegunTasksThatReadOneDatumHaveAValueToSend) {
  ShippingHand hand(disk_and_host(1000));
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  auto const refused = [&](TaskId task) {
    return !message_of<InternalError>([&] { hand.planner.handle(Asked{task}); }).empty();
  };
  EXPECT_TRUE(refused(TaskId(77))) << "no such task";
  TaskId const running = hand.submit({read_write(a)});
  hand.finish_copies();
  EXPECT_TRUE(refused(running)) << "a worker has it";
  TaskId const waiting = hand.outgoing_value(a);
  EXPECT_TRUE(refused(waiting)) << "it has not begun";
  EXPECT_TRUE(refused(hand.submit_stub({read(a), read(b)}))) << "it reads two";
  EXPECT_TRUE(refused(hand.submit_stub({write(b)}))) << "it writes";
  hand.finish(running);
  EXPECT_EQ(message_of<InternalError>([&] { hand.planner.handle(Shipped{waiting}); }),
            "task 1 has sent a value for which nobody asked");
  hand.ask(waiting);
  EXPECT_TRUE(refused(waiting)) << "it was asked for";
}

TEST(OutgoingValues, AreRefusedIfTheirDatumNeverFitsWhereItIsSentFrom) {
  ShippingHand hand(disk_and_host(150));
  DataId const a = hand.stored("a", 100);
  EXPECT_EQ(
      message_of([&] { hand.outgoing_value(a); }),
      "data 'a' of task 'outgoing value' pass through memory node 'host', which needs at least 200 bytes for that, but "
      "the limit there is 150 bytes");
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
}

TEST(OutgoingValues, AMachineWithoutOtherProcessesSendsNothing) {
  Hand hand(disk_and_host(1000));
  hand.codelet = hand.planner.handle(AddCodelet{{.name = "outside", .external = true}});
  TaskId const task = hand.submit({read(hand.stored("a", 100))});
  EXPECT_EQ(message_of<InternalError>([&] { hand.planner.handle(Asked{task}); }), "task 0 has no value to send now");
}

// A value of another process has its home there, and is never written back.
TEST(IncomingValues, AreReadFromTheOtherProcessesAndDroppedWhenThereIsNoRoom) {
  ShippingHand hand(disk_and_host(200));
  auto const incoming_value = [&](char const* name) {
    DataId const data = hand.add({.name = name, .bytes = 100, .home = hand.planner.topology().peers()});
    hand.finish(hand.submit_stub({write(data)}));
    return data;
  };
  DataId const a = incoming_value("a");
  DataId const b = incoming_value("b");
  DataId const c = incoming_value("c");
  hand.finish_all();
  hand.submit({read(a), read(b)});
  hand.finish_all();
  hand.submit({read(c)});
  EXPECT_TRUE(hand.freed(a) || hand.freed(b)) << "they keep no reserve, either";
  hand.finish_all();
  hand.submit({read(a), read(b)});
  hand.finish_all();
  EXPECT_GE(hand.copies_of(a) + hand.copies_of(b), 3U) << "what was dropped comes again";
  EXPECT_EQ(hand.copies_home(a) + hand.copies_home(b) + hand.copies_home(c), 0U);
  for (DataId const data : {a, b, c}) hand.release(data);
  EXPECT_TRUE(hand.planner.idle());
}

TEST(IncomingValues, HaveThePositionOfTheTaskThatFollowsThem) {
  ShippingHand hand(disk_and_host(1000));
  DataId const a = hand.stored("a", 100);
  auto const submit = [&](std::uint64_t position) {
    Access const accesses[] = {read(a)};
    hand.planner.handle(TaskSubmission{.codelet = hand.codelet, .accesses = accesses, .position = position});
    hand.absorb();
  };
  hand.submit_stub({read(a)}, 5);
  hand.submit_stub({read(a)}, 5);
  submit(5);
  EXPECT_EQ(message_of([&] { hand.submit_stub({read(a)}, 5); }),
            "task 'outgoing value' has position 5 in the order of submission, but task 5 was submitted before it");
  hand.submit_stub({read(a)}, 9);
  EXPECT_NE(message_of([&] { submit(8); }), "");
  submit(9);
}

}  // namespace
}  // namespace granary::test
