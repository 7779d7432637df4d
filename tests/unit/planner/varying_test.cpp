// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data whose values differ in size: where tasks leave them, and what stays of the places.
#include "hand.hpp"

#include "support/message_of.hpp"

#include <granary/detail/core/base/error.hpp>

#include <gmock/gmock.h>

#include <array>

namespace granary::test {

using namespace detail;

namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class VaryingData : public testing::Test {
 protected:
  // Each of at most 100 bytes.
  DataId add(std::string name, Bytes expected = 40) {
    return hand.add({.name = std::move(name), .bytes = expected, .bound = 100});
  }
  void finish(TaskId task, DataId made, Bytes bytes) {
    hand.planner.handle(Sized{task, made, bytes});
    hand.finish(task);
  }
  DataId written(std::string name, Bytes bytes) {
    DataId const data = add(std::move(name));
    finish(hand.submit({write(data)}), data, bytes);
    return data;
  }
  Bytes used() { return hand.planner.statistics().nodes[host_node.index()].used; }
  ResultPlace result(TaskId task, std::size_t access = 0) { return *hand.run_of(task).varying[access].result; }
  Place place(TaskId task) { return hand.run_of(task).places[0]; }

  Hand hand{disk_and_host(1000)};
};

TEST_F(VaryingData, AFirstValueIsMadeInItsPlaceWhichKeepsItsBytes) {
  DataId const data = add("x");
  TaskId const task = hand.submit({write(data)});
  EXPECT_EQ(used(), 100U) << "the bound: nobody knows more";
  EXPECT_EQ(result(task).place, place(task));
  EXPECT_EQ(result(task).room, 100U);
  EXPECT_EQ(hand.run_of(task).varying[0].bytes, 40U) << "as expected";
  finish(task, data, 25);
  EXPECT_EQ(used(), 25U);
  EXPECT_EQ(hand.planner.view().bytes(data), 25U);
  DataId const fixed = hand.temporary("y", 8);
  EXPECT_TRUE(hand.run_of(hand.submit({write(fixed)})).varying.empty()) << "its size is fixed";
  hand.finish_all();
  auto const& both = hand.run_of(hand.submit({read(data), read_write(fixed)}));
  EXPECT_EQ(both.varying[0].bytes, 25U);
  EXPECT_FALSE(both.varying[0].result.has_value()) << "it is only read";
  EXPECT_FALSE(both.varying[1].result.has_value());
}

TEST_F(VaryingData, AChangedValueIsMadeBesideThePresentOne) {
  DataId const data = written("x", 25);
  TaskId const task = hand.submit({read_write(data)});
  EXPECT_EQ(used(), 125U);
  auto const made = result(task).place;
  EXPECT_NE(made, place(task));
  finish(task, data, 70);
  EXPECT_EQ(used(), 70U);
  EXPECT_EQ(place(hand.submit({read(data)})), made) << "nothing is copied";
}

TEST_F(VaryingData, WithoutASizeTheValueHasAllBytesOfItsPlace) {
  DataId const data = add("x");
  hand.finish(hand.submit({write(data)}));
  EXPECT_EQ(hand.planner.view().bytes(data), 100U);
}

TEST_F(VaryingData, AnEmptyValueIsAValue) {
  DataId const data = written("x", 0);
  EXPECT_EQ(hand.planner.view().bytes(data), 0U);
  EXPECT_EQ(used(), 1U) << "a place";
  TaskId const reader = hand.submit({read(data)});
  EXPECT_TRUE(hand.runs_now(reader));
}

TEST_F(VaryingData, IsWrittenToTheDiskAndReadAgainInItsSize) {
  Hand small(disk_and_host(200));
  DataId const data = small.add({.name = "x", .bytes = 40, .bound = 100});
  TaskId const task = small.submit({write(data)});
  small.planner.handle(Sized{task, data, 30});
  small.finish(task);
  DataId const large = small.temporary("large", 190);
  TaskId const next = small.submit({write(large)});
  ASSERT_THAT(small.copies, SizeIs(1));
  EXPECT_EQ(small.copies.front().bytes, 30U);
  EXPECT_EQ(small.planner.statistics().nodes[disk_node.index()].used, 30U);
  small.finish_copies();
  small.finish(next);
  TaskId const reader = small.submit({read(data)});
  small.finish_copies();  // `large` goes to the disk, the value comes back
  ASSERT_TRUE(small.runs_now(reader));
  EXPECT_EQ(small.logged<CopyCommand>().back().bytes, 30U);
  EXPECT_EQ(small.planner.statistics().nodes[host_node.index()].used, 30U);
}

TEST_F(VaryingData, ACodeletKnowsABetterBoundFromWhatTheTaskReads) {
  static auto const parameters = 3;
  hand.planner.look_up_parameters([](TaskId) -> void const* { return &parameters; });
  auto const times = [](void const* factor, std::span<Bytes const> bytes, std::size_t result) {
    return *static_cast<int const*>(factor) * (bytes[0] + bytes[result]);
  };
  hand.codelet = hand.planner.handle(AddCodelet{{.name = "merge", .kernels = {no_kernel}, .result_bytes = times}});
  DataId const a = written("a", 5), c = written("c", 8);
  EXPECT_EQ(used(), 13U);
  TaskId const task = hand.submit({read(a), read_write(c)});
  EXPECT_EQ(result(task, 1).room, 39U) << "3 * (5 + 8)";
  EXPECT_EQ(used(), 13U + 39U);
  finish(task, c, 39);
  TaskId const again = hand.submit({read(c), read_write(a)});
  EXPECT_EQ(result(again, 1).room, 100U) << "3 * (39 + 5), but no more than the bound of the datum";
  finish(again, a, 1);
}

// Foreign code: it may throw in the middle of any event.
TEST_F(VaryingData, ABoundThatThrowsFailsItsTaskAlone) {
  static auto const parameters = 3;
  hand.planner.look_up_parameters([](TaskId) -> void const* { return &parameters; });
  auto const work = hand.codelet;
  auto const refuses =
      hand.planner.handle(AddCodelet{{.name = "refuses",
                                      .kernels = {no_kernel},
                                      .result_bytes = [](void const*, std::span<Bytes const>, std::size_t) -> Bytes {
                                        throw DataError("no bound");
                                      }}});
  DataId const x = written("x", 25), y = add("y");
  hand.codelet = work;
  TaskId const before = hand.submit({read(x)});
  hand.codelet = refuses;
  TaskId const at_once = hand.submit({write(y)});
  TaskId const later = hand.submit({read_write(x)});  // asked when the reader has ended
  hand.codelet = work;
  TaskId const behind = hand.submit({read(x)});
  EXPECT_FALSE(hand.planner.live(at_once)) << "it has failed";
  hand.finish(before);
  for (TaskId const task : {later, behind}) EXPECT_FALSE(hand.planner.live(task));
  EXPECT_FALSE(hand.planner.interrupted());
  EXPECT_EQ(used(), 25U) << "x is as it was";
  auto const failures = hand.planner.handle(TakeFailures{});
  ASSERT_THAT(failures, SizeIs(2));
  for (auto const& failure : failures) EXPECT_THROW(std::rethrow_exception(failure.error), DataError);
  finish(hand.submit({write(y)}), y, 10);
  EXPECT_EQ(used(), 35U);
}

TEST_F(VaryingData, TheLeastMemoryThatARefusalNamesIsEnough) {
  auto const needs = [](Bytes capacity) {
    Hand tight(disk_and_host(capacity));
    auto const x = tight.add({.name = "x", .bytes = 1, .bound = 100}), y = tight.temporary("y", 50);
    tight.finish(tight.submit({write(y)}));
    TaskId const first = tight.submit({write(x)});
    tight.finish_copies();
    tight.finish(first);  // 100 bytes
    TaskId const task = tight.submit({read(y), read_write(x)});
    tight.finish_copies();
    EXPECT_TRUE(tight.runs_now(task));
  };
  EXPECT_THAT(message_of<MemoryLimitError>([&] { needs(249); }),
              HasSubstr("task 'work' needs at least 250 bytes (250 B) in memory node 'host' for its 2 data"));
  needs(250);
}

TEST_F(VaryingData, WhatATaskDidNotMakeLeavesNoPlace) {
  DataId const data = written("x", 25);
  hand.fail(hand.submit({read_write(data)}));
  EXPECT_EQ(used(), 0U);
  EXPECT_THAT(hand.planner.handle(TakeFailures{}), SizeIs(1));
  EXPECT_THAT(hand.logged<ResultDropped>(), SizeIs(1));
}

TEST_F(VaryingData, AStoppedTaskHasNotTouchedThePresentValue) {
  auto const polls =
      hand.planner.handle(AddCodelet{{.name = "polls", .kernels = {no_kernel, nullptr}, .restartable = true}});
  DataId const data = written("x", 25);
  hand.codelet = polls;
  TaskId const task = hand.submit({read_write(data)});
  EXPECT_TRUE(hand.planner.may_restart(task));
  hand.runs.clear();
  hand.planner.handle(TaskReturned{task, true});
  hand.absorb();
  ASSERT_TRUE(hand.runs_now(task)) << "it runs again, with the same value";
  EXPECT_EQ(used(), 125U);
  finish(task, data, 10);
  EXPECT_EQ(used(), 10U);
}

TEST_F(VaryingData, WaitForRoomAsTheirPlacesNeedIt) {
  Hand tight(disk_and_host(300, 8, 2));
  auto const x = tight.add({.name = "x", .bytes = 1, .bound = 100});
  auto const y = tight.add({.name = "y", .bytes = 1, .bound = 100});
  for (DataId const data : {x, y}) {
    TaskId const task = tight.submit({write(data)});
    tight.planner.handle(Sized{task, data, 60});
    tight.finish(task);
  }
  TaskId const first = tight.submit({read_write(x)});
  TaskId const second = tight.submit({read_write(y)});
  EXPECT_TRUE(tight.runs_now(first));
  EXPECT_FALSE(tight.runs_now(second)) << "60 + 60 + 100 bytes are in use";
  tight.planner.handle(Sized{first, x, 70});
  tight.finish(first);
  tight.finish_copies();
  EXPECT_TRUE(tight.runs_now(second)) << "70 + 60 + 100";
}

TEST_F(VaryingData, AMadeValueFitsIntoItsPlace) {
  DataId const data = add("x");
  TaskId const task = hand.submit({write(data)});
  EXPECT_EQ(message_of<InternalError>([&] {
              hand.planner.handle(Sized{task, data, 101});
            }),
            "task 0 has made 101 bytes of 'x' in a place of 100");
}

TEST_F(VaryingData, AreRefusedWhereTheirSizesCannotChange) {
  auto const refusal = [&](DataDescription const& description, std::vector<SharedBytes> const& shares = {}) {
    return message_of([&] { hand.add(description, shares); });
  };
  EXPECT_EQ(refusal({.name = "x", .bytes = 20, .bound = 10}), "data 'x' are expected to have 20 bytes, but at most 10");
  EXPECT_EQ(refusal({.name = "x", .bytes = 20, .home = host_node, .in_place = true, .bound = 30}),
            "data 'x' vary in size, so that workers cannot use them in place");
  DataId const stored = hand.stored("y", 20);
  EXPECT_EQ(
      refusal({.name = "x", .bytes = 20, .origin = disk_node, .home = disk_node, .origin_is_home = true, .bound = 30},
              {{.other = stored}}),
      "data 'x' shares bytes with data 'y', and one of them varies in size");
  DataId const data = written("z", 5);
  EXPECT_EQ(
      message_of([&] {
        hand.submit({read(data), write(data)});
      }),
      "task 'work' accesses varying data 'z' twice: as read-write data it gets the present value and room for the "
      "next one");
  std::vector<Access> many;
  for (int i = 0; i < 8; ++i) many.push_back(read(hand.stored("s" + std::to_string(i), 1)));
  many.push_back(write(data));
  EXPECT_EQ(message_of([&] { hand.planner.check({.codelet = hand.codelet, .accesses = many}); }),
            "task 'work' accesses varying data 'z' that it writes after 8 other data: name those that vary first");
}

}  // namespace
}  // namespace granary::test
