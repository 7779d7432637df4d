// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places of the user's beyond origin and home, and versions of values.
#include "hand.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/journal.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>

#include <array>

namespace granary::test {

using namespace detail;

namespace {

using ::testing::IsEmpty;

// A disk (0), a host (1) and a device (2), both with a worker.
Machine both_work() {
  Machine machine = three_levels(1000, 1000);
  machine.add_worker({.name = "cpu", .node = host_node});
  return machine;
}

class Places : public ::testing::Test {
 protected:
  DataId add(DataDescription description, std::vector<FixedPlace> const& places) {
    DataId const id = hand.planner.handle(AddData{std::move(description), places});
    hand.absorb();
    return id;
  }
  TaskId submit_on(WorkerKind kind, std::initializer_list<Access> accesses) {
    CodeletId const codelet = kind == WorkerKind::Cpu ? on_host : on_device;
    TaskId const task =
        hand.planner.handle(TaskSubmission{.codelet = codelet, .accesses = {accesses.begin(), accesses.size()}});
    hand.absorb();
    return task;
  }
  [[nodiscard]] std::string refusal(DataDescription description, std::vector<FixedPlace> const& places) {
    return message_of([&] { add(std::move(description), places); });
  }

  Hand hand{both_work(), {.write_back_early = false}};
  CodeletId on_host = hand.planner.handle(AddCodelet{{.name = "host", .kernels = {no_kernel, nullptr}}});
  CodeletId on_device = hand.planner.handle(AddCodelet{{.name = "device", .kernels = {nullptr, no_kernel}}});
  DataDescription in_host{.name = "dual", .bytes = 100, .home = host_node, .in_place = true};
};

// As a Kokkos::DualView: both sides are the user's, and tasks use the one on their node.
TEST_F(Places, AMirrorIsUsedInPlaceByTheWorkersOfItsNode) {
  in_host.origin = host_node;
  in_host.origin_is_home = true;
  DataId const dual = add(in_host, {{.node = device_node, .writable = true, .valid = false}});
  TaskId const first = submit_on(WorkerKind::Device, {read_write(dual)});
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies[0].to, (Place{device_node, Slot::Mirror, 0}));
  hand.finish_copy();
  ASSERT_TRUE(hand.runs_now(first));
  EXPECT_EQ(hand.run_of(first).places[0], (Place{device_node, Slot::Mirror, 0}));
  hand.finish(first);
  TaskId const second = submit_on(WorkerKind::Cpu, {read(dual)});
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies[0].from, (Place{device_node, Slot::Mirror, 0}));
  EXPECT_EQ(hand.copies[0].to, (Place{host_node, Slot::Home, 0}));
  EXPECT_EQ(hand.copies[0].version, 1U);
  hand.finish_copy();
  EXPECT_TRUE(hand.runs_now(second));
  hand.finish_all();
  EXPECT_FALSE(hand.allocated(dual)) << "it takes no memory of granary's";
}

TEST_F(Places, AMirrorThatHoldsTheValueIsBroughtHome) {
  DataId const dual = add(in_host, {{.node = device_node, .writable = true}});
  EXPECT_THAT(hand.copies, IsEmpty());
  hand.flush();
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies[0].from, (Place{device_node, Slot::Mirror, 0}));
  hand.finish_copy();
  EXPECT_TRUE(hand.planner.idle());
  hand.release(dual);
  EXPECT_EQ(hand.logged<ForgetCommand>().size(), 1U);
}

TEST_F(Places, AReadOnlyPlaceIsReadInPlaceAndNeverWritten) {
  DataId const constant = add({.name = "constant", .bytes = 100}, {{.node = host_node}});
  TaskId const reader = submit_on(WorkerKind::Cpu, {read(constant)});
  EXPECT_TRUE(hand.runs_now(reader));
  EXPECT_EQ(hand.run_of(reader).places[0], (Place{host_node, Slot::Mirror, 0}));
  submit_on(WorkerKind::Device, {read(constant)});
  hand.finish_all();
  EXPECT_EQ(hand.copies_of(constant), 1U);
  EXPECT_EQ(message_of([&] { submit_on(WorkerKind::Device, {write(constant)}); }),
            "task 'device' writes data 'constant', which has a read-only place that workers use");
}

TEST_F(Places, TheApplicationMayChangeHomesInMemoryBetweenRuns) {
  in_host.origin = host_node;
  in_host.origin_is_home = true;
  DataId const view = add(in_host, {});
  DataId const file = hand.stored("file", 100);
  submit_on(WorkerKind::Device, {read(view), read(file)});
  hand.finish_all();
  hand.planner.handle(HomesMayChange{});
  EXPECT_TRUE(hand.planner.commands().empty()) << "no copy starts";
  hand.absorb();
  auto const freed = hand.logged<Freed>();
  ASSERT_EQ(freed.size(), 1U) << "nobody changes files meanwhile";
  EXPECT_EQ(freed[0].data, view);
  submit_on(WorkerKind::Device, {read(view), read(file)});
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies[0].from, (Place{host_node, Slot::Home, 0}));
  hand.planner.handle(HomesMayChange{view});
  hand.finish_all();
  EXPECT_EQ(hand.copies_of(view), 2U) << "a datum in use is left alone";
}

TEST_F(Places, AChangeOfOneSideOutdatesTheOther) {
  in_host.origin = host_node;
  in_host.origin_is_home = true;
  DataId const dual = add(in_host, {{.node = device_node, .writable = true, .valid = true}});
  hand.planner.handle(HomesMayChange{});
  submit_on(WorkerKind::Device, {read(dual)});
  EXPECT_THAT(hand.copies, IsEmpty()) << "whose mirror changes is told";
  hand.finish_all();
  hand.planner.handle(PlaceChanged{dual, host_node});
  submit_on(WorkerKind::Device, {read(dual)});
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies[0].to, (Place{device_node, Slot::Mirror, 0}));
  EXPECT_EQ(message_of([&] {
              hand.planner.handle(PlaceChanged{dual, host_node});
            }),
            "data 'dual' cannot have changed in memory node 'host': tasks or transfers use it");
  hand.finish_all();
  hand.planner.handle(PlaceChanged{dual, device_node});
  submit_on(WorkerKind::Cpu, {read(dual)});
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies[0].to, (Place{host_node, Slot::Home, 0}));
  hand.finish_all();
  EXPECT_EQ(message_of([&] {
              hand.planner.handle(PlaceChanged{dual, disk_node});
            }),
            "data 'dual' cannot have changed in memory node 'disk': it has no place there that tasks may write");
}

// A value that could not go home, since it has to pass through memory that is too small for it.
TEST_F(Places, AChangeIsRefusedWhereItsValueCannotGoHome) {
  DataDescription stored{.name = "large", .bytes = 501, .origin = disk_node, .home = disk_node, .origin_is_home = true};
  auto const mirror = FixedPlace{.node = device_node, .writable = true, .valid = true};
  DataId const large = add(stored, {mirror});
  EXPECT_EQ(
      message_of<MemoryLimitError>([&] {
        hand.planner.handle(PlaceChanged{large, device_node});
      }),
      "data 'large' that changed in memory node 'device' pass through memory node 'host' on their way home, which "
      "needs at least 1002 bytes for that, but the limit there is 1000 bytes");
  stored.bytes = 500;
  DataId const small = add(stored, {mirror});
  hand.planner.handle(PlaceChanged{small, device_node});
  hand.flush();
  hand.finish_all();
  EXPECT_EQ(hand.copies_home(small), 1U);
  EXPECT_TRUE(hand.planner.idle());
}

// Its way home from another device leads through the host, where others are.
TEST(PlacesOnDevices, AValueThatWaitsToGoHomeMayBeReplaced) {
  Machine machine = three_levels(200, 1000);
  NodeId const other = machine.add_node({.name = "other", .kind = NodeKind::Device, .capacity = 1000});
  machine.add_link_pair(host_node, other, 1e10);
  machine.add_worker({.name = "gpu1", .node = other, .kind = WorkerKind::Device});
  Hand hand(std::move(machine), {.write_back_early = false});
  DataDescription const at_device{
      .bytes = 100, .origin = device_node, .home = device_node, .origin_is_home = true, .in_place = true};
  std::array const mirror{FixedPlace{.node = other, .writable = true, .valid = true}};
  auto const changed = [&] {
    DataId const data = hand.planner.handle(AddData{at_device, mirror});
    hand.planner.handle(PlaceChanged{data, other});
    hand.planner.handle(FlushHomes{data});
    hand.absorb();
    return data;
  };
  DataId last;
  while (hand.planner.view().expected(last = changed(), host_node)) continue;
  hand.planner.handle(PlaceChanged{last, device_node});
  hand.finish_all();
  EXPECT_EQ(hand.copies_home(last), 0U) << "the home has a newer value";
  EXPECT_TRUE(hand.planner.idle());
}

TEST_F(Places, AnotherOriginIsASourceUntilTheFirstWrite) {
  DataId const twice = add({.name = "twice", .bytes = 100, .home = host_node, .in_place = true}, {{.node = disk_node}});
  submit_on(WorkerKind::Cpu, {read(twice)});
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies[0].from, (Place{disk_node, Slot::Origin, 0}));
  hand.finish_all();
  submit_on(WorkerKind::Cpu, {write(twice)});
  hand.finish_all();
  submit_on(WorkerKind::Device, {read(twice)});
  hand.finish_all();
  EXPECT_EQ(hand.logged<CopyCommand>().back().from, (Place{host_node, Slot::Home, 0}));
}

TEST_F(Places, AreRefusedWhereTheyContradictEachOtherOrTheMachine) {
  EXPECT_EQ(refusal(in_host, {{.node = host_node}}), "data 'dual' has more than one place in memory node 'host'");
  EXPECT_EQ(refusal(in_host, {{.node = device_node, .writable = true}, {.node = device_node}}),
            "data 'dual' has more than one place in memory node 'device'");
  EXPECT_EQ(refusal(in_host, {{.node = disk_node, .writable = true}}),
            "data 'dual' has a writable place in memory node 'disk', which has no workers");
  EXPECT_EQ(refusal(in_host, {{.node = device_node, .valid = false}}),
            "data 'dual' has a read-only place in memory node 'device' without a value");
  EXPECT_EQ(refusal(in_host, {{.node = NodeId(7)}}), "data 'dual' names a memory node that does not exist");
  EXPECT_EQ(refusal(in_host, {{.node = NodeId()}}), "data 'dual' names a memory node that does not exist");
}

TEST_F(Places, AreInTheJournal) {
  Journal journal;
  hand.planner.attach(journal);
  add(in_host, {{.node = device_node, .writable = true, .valid = false}});
  ASSERT_EQ(journal.entries().size(), 1U);
  auto const places = std::get<AddData>(journal.entries()[0].event).places;
  ASSERT_EQ(places.size(), 1U);
  EXPECT_EQ(places[0].node, device_node);
  EXPECT_TRUE(places[0].writable);
  EXPECT_FALSE(places[0].valid);
}

TEST_F(Places, AccessesNameTheVersionsThatTheyReadOrMake) {
  DataId const a = hand.stored("a", 100);
  auto const version = [&](TaskId task, std::size_t access) {
    return hand.planner.view().task(task).accesses[access].version;
  };
  TaskId const reader = submit_on(WorkerKind::Cpu, {read(a)});
  TaskId const writer = submit_on(WorkerKind::Cpu, {read_write(a)});
  TaskId const later = submit_on(WorkerKind::Device, {read(a), read(a)});
  TaskId const twice = submit_on(WorkerKind::Cpu, {read(a), write(a)});
  EXPECT_EQ(version(reader, 0), 0U);
  EXPECT_EQ(version(writer, 0), 1U);
  EXPECT_EQ(version(later, 0), 1U);
  EXPECT_EQ(version(later, 1), 1U);
  EXPECT_EQ(version(twice, 0), 2U);
  EXPECT_EQ(version(twice, 1), 2U);
  hand.finish_all();
  hand.flush();
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies.front().version, 2U);
  hand.finish_all();
  auto const copies = hand.logged<CopyCommand>();
  ASSERT_GE(copies.size(), 3U);
  EXPECT_EQ(copies[0].version, 0U);
  EXPECT_EQ(copies[1].version, 1U);
}

// The version of a value that is skipped over is never given to another.
TEST_F(Places, ACancelledWriteLeavesAGapInTheVersions) {
  DataId const a = hand.stored("a", 100);
  TaskId const first = submit_on(WorkerKind::Cpu, {read_write(a)});
  TaskId const second = submit_on(WorkerKind::Cpu, {read_write(a)});
  hand.finish_copies();
  hand.cancel_all();
  hand.finish(first);
  hand.planner.handle(TakeFailures{});
  hand.flush();
  ASSERT_EQ(hand.copies.size(), 1U);
  EXPECT_EQ(hand.copies.front().version, 1U);
  hand.finish_all();
  TaskId const reader = submit_on(WorkerKind::Cpu, {read(a)});
  EXPECT_EQ(hand.planner.view().task(reader).accesses[0].version, 1U) << "the value that is there";
  TaskId const third = submit_on(WorkerKind::Cpu, {read_write(a)});
  EXPECT_EQ(hand.planner.view().task(third).accesses[0].version, 3U)
      << "task " << second.value() << " would have made 2";
  hand.finish_all();
}

}  // namespace
}  // namespace granary::test
