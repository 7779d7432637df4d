// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data that share bytes while no task uses them: what is brought home, told and changed by the application.
#include "hand.hpp"

#include <granary/detail/core/base/error.hpp>

#include "support/message_of.hpp"

namespace granary::test {

using namespace detail;

namespace {

/// Views in the memory of a host without workers, used on a device.
class OverlapsAtRest : public ::testing::Test {
 protected:
  DataId view(std::string name, Bytes bytes, std::vector<SharedBytes> const& shares = {}) {
    return hand.add(description(std::move(name), bytes), shares);
  }
  static DataDescription description(std::string name, Bytes bytes) {
    return {.name = std::move(name), .bytes = bytes, .origin = host_node, .home = host_node, .origin_is_home = true};
  }

  Hand hand{three_levels(1000, 1000), {.write_back_early = false}};
  DataId whole = view("whole", 200);
  DataId left = view("left", 100, {{.other = whole, .covered = true}});
  DataId right = view("right", 100, {{.other = whole, .covered = true}});
};

TEST_F(OverlapsAtRest, AFlushOfOneBringsHomeWhatWasWrittenToItsBytes) {
  TaskId const writer = hand.submit({write(whole)});
  EXPECT_EQ(hand.planner.use_of(left).tasks, 1U);
  hand.finish(writer);
  EXPECT_EQ(hand.planner.use_of(left).tasks, 0U);
  hand.planner.handle(FlushHomes{left});
  hand.absorb();
  EXPECT_EQ(hand.copies_home(whole), 1U);
  EXPECT_TRUE(hand.planner.use_of(left).moves);
  EXPECT_TRUE(hand.planner.use_of(right).moves);
  hand.finish_copies();
  EXPECT_FALSE(hand.planner.use_of(left).moves);
}

TEST_F(OverlapsAtRest, TheApplicationChangesTheBytesOfAll) {
  hand.submit({read(whole), read(right)});
  hand.finish_all();
  hand.planner.handle(HomesMayChange{left});
  hand.absorb();
  EXPECT_TRUE(hand.freed(whole, device_node));
  EXPECT_FALSE(hand.freed(right, device_node)) << "it shares nothing with that part";
  hand.submit({read(whole)});
  hand.finish_all();
  EXPECT_EQ(hand.copies_of(whole), 2U);
  hand.submit({read_write(left)});
  hand.finish_all();
  hand.submit({read(whole)});
  hand.finish_all();
  EXPECT_EQ(hand.copies_home(left), 1U) << "claims are as before";
  EXPECT_EQ(message_of([&] {
              hand.planner.handle(PlaceChanged{left, host_node});
            }),
            "data 'left' cannot have changed in memory node 'host': it shares bytes with other data");
}

TEST_F(OverlapsAtRest, AFailureIsToldToThoseWhoseBytesItTook) {
  hand.fail(hand.submit({write(whole)}));
  auto told = hand.planner.handle(TakeFailures{left});
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].what, "task 'work' 0");
  EXPECT_EQ(hand.planner.handle(TakeFailures{right}).size(), 1U) << "it is not forgotten";
  EXPECT_EQ(hand.planner.handle(TakeFailures{whole}).size(), 1U);
  EXPECT_FALSE(hand.planner.failed());
  hand.submit({write(whole)});
  hand.finish_all();
  hand.submit({read(left)});
  hand.finish_all();
  EXPECT_FALSE(hand.planner.failed());
}

TEST_F(OverlapsAtRest, BlockedBytesWaitForTheReportOfAllFailures) {
  TaskId const writer = hand.submit({write(whole)});
  TaskId const cancelled = hand.submit({read_write(left)});
  hand.fail(writer);
  hand.finish_all();
  EXPECT_NE(hand.planner.failure_of(cancelled), nullptr);
  EXPECT_EQ(hand.planner.handle(TakeFailures{left}).size(), 1U);
  EXPECT_EQ(hand.planner.handle(TakeFailures{whole}).size(), 1U);
  ASSERT_TRUE(hand.planner.failed()) << "tasks on these bytes are still cancelled";
  EXPECT_EQ(hand.planner.handle(TakeFailures{}).size(), 1U);
  hand.absorb();
  hand.submit({write(whole)});
  hand.submit({read_write(left)});
  hand.finish_all();
  EXPECT_FALSE(hand.planner.failed());
  EXPECT_EQ(hand.planner.statistics().tasks_cancelled, 1U);
}

TEST_F(OverlapsAtRest, DataWithFurtherPlacesShareNoBytes) {
  std::vector<FixedPlace> const places{{.node = device_node, .writable = true, .valid = true}};
  auto const add = [&](std::span<FixedPlace const> its, DataId other) {
    std::vector<SharedBytes> const shares{{.other = other}};
    return message_of([&] { hand.planner.handle(AddData{description("x", 100), its, shares}); });
  };
  EXPECT_EQ(
      add(places, whole),
      "data 'x' shares bytes with data 'whole', and one of them has a further place, such as the device side of a "
      "DualView: destroy the handles on 'whole' first");
  DataId const mirrored = hand.planner.handle(AddData{description("mirrored", 100), places});
  EXPECT_EQ(add({}, mirrored),
            "data 'x' shares bytes with data 'mirrored', and one of them has a further place, such as the device side "
            "of a DualView: destroy the handles on 'mirrored' first");
}

}  // namespace
}  // namespace granary::test
