// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>

#include "unit/planner/hand.hpp"

namespace granary::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Describe, SaysOfEachTaskWhatItWaitsFor) {
  Hand hand(disk_and_host(8192), {.depth = 3});
  auto const a = hand.stored("A", 4096);
  auto const b = hand.stored("B", 4096);
  auto const c = hand.stored("C", 4096);
  hand.submit({read_write(a)});  // 0: runs
  hand.finish_copies();
  hand.submit({read(b)});                 // 1: waits for its copy
  hand.submit({read_write(c)});           // 2: waits for room
  hand.submit({read_write(a), read(b)});  // 3: waits for 0

  auto const text = hand.planner.inspect().describe_waiting();
  EXPECT_THAT(text, HasSubstr("4 tasks have not ended; with a worker: 1, waiting for data: 1, waiting for room: 1, "
                              "ready: 0, waiting for other tasks: 1\n"));
  EXPECT_THAT(text, HasSubstr("task 'work' 0: running or next on worker 'cpu0'\n"));
  EXPECT_THAT(text, HasSubstr("task 'work' 1 on 'host': waits for 'B' (on its way)\n"));
  EXPECT_THAT(text, HasSubstr("task 'work' 2 on 'host': waits for room: its data take 4.0 KiB, 0 B are free\n"));
  EXPECT_THAT(text, HasSubstr("task 'work' 3: waits for task 'work' 0\n"));
  EXPECT_THAT(text, HasSubstr("memory node 'host': 8.0 KiB of 8.0 KiB in use, 1 tasks wait for room\n"));
  EXPECT_THAT(text, HasSubstr("link from 'disk' to 'host': 1 transfers under way, 0 waiting\n"));
  EXPECT_THAT(text, Not(HasSubstr("memory node 'disk'")));
  hand.finish_all();
}

TEST(Describe, SaysWhatIsOnItsWayHome) {
  Hand hand(disk_and_host(8192));
  auto const a = hand.stored("A", 4096);
  hand.finish_copies();
  hand.submit({write(a)});
  hand.finish(hand.runs.front().task);
  hand.flush();
  auto const text = hand.planner.inspect().describe_waiting();
  EXPECT_THAT(text, HasSubstr("0 tasks have not ended"));
  EXPECT_THAT(text, HasSubstr("datum 'A': on its way home from 'host'\n"));
  hand.finish_all();
  EXPECT_THAT(hand.planner.inspect().describe_waiting(), Not(HasSubstr("datum 'A'")));
}

TEST(Describe, CountsWhatIsTooMuchToList) {
  Hand hand(disk_and_host(1 << 20), {.depth = 2});
  auto const a = hand.stored("A", 4096);
  auto const b = hand.stored("B", 4096);
  hand.submit({write(a)});
  for (int i = 0; i < 100; ++i) hand.submit({read(a)});
  for (int i = 0; i < 50; ++i) hand.submit({read_write(b)});
  auto const text = hand.planner.inspect().describe_waiting();
  EXPECT_LT(std::ranges::count(text, '\n'), 80) << text;
  EXPECT_THAT(text, HasSubstr("151 tasks have not ended"));
  EXPECT_THAT(text, HasSubstr(" more that wait for other tasks\n"));
  hand.finish_all();
}

}  // namespace
}  // namespace granary::test
