// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory to which RunCommands point.
#include "hand.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace granary::test {
namespace {

TEST(IssuedPlaces, StayUntilTheReplyAndAreThenUsedAgain) {
  Hand hand(disk_and_host(10000, 8, 2), {.issue_depth = 1});
  DataId const a = hand.temporary("a", 100), b = hand.temporary("b", 100), c = hand.temporary("c", 100);
  TaskId const first = hand.submit({write(a), write(b), write(a)});
  TaskId const second = hand.submit({write(c)});
  ASSERT_TRUE(hand.runs_now(first) && hand.runs_now(second));
  RunCommand const run = hand.run_of(first);
  std::vector<Place> const before(run.places.begin(), run.places.end());
  EXPECT_NE(before[0], before[1]);
  EXPECT_EQ(before[0], before[2]);
  auto const* const memory = hand.run_of(second).places.data();
  hand.finish(second);
  for (int i = 0; i < 20; ++i) {
    TaskId const next = hand.submit({read_write(c)});
    EXPECT_EQ(hand.run_of(next).places.data(), memory) << "nothing is allocated for it";
    hand.finish(next);
  }
  EXPECT_THAT(run.places, testing::ElementsAreArray(before));
  EXPECT_EQ(run.description->id, first);
  hand.finish_all();
}

TEST(IssuedPlaces, AreThoseOfTheWorkerThatGetsATaskWhichCameBack) {
  Hand hand(disk_and_host(1000), {.issue_depth = 1, .write_back_early = false});
  DataId const a = hand.temporary("a", 100), b = hand.temporary("b", 200);
  TaskId const task = hand.submit({write(a), write(b)});
  std::vector<Place> const before(hand.run_of(task).places.begin(), hand.run_of(task).places.end());
  hand.runs.clear();
  hand.planner.handle(TaskReturned{task});
  hand.absorb();
  ASSERT_TRUE(hand.runs_now(task));
  auto const allocated = hand.logged<Allocated>();
  for (std::size_t i = 0; i < 2; ++i) {
    auto const place = std::ranges::find(allocated.rbegin(), allocated.rend(), i == 0 ? a : b, &Allocated::data);
    EXPECT_EQ(hand.run_of(task).places[i], (Place{host_node, Slot::Pool, place->offset}));
  }
  hand.finish_all();
}

}  // namespace
}  // namespace granary::test
