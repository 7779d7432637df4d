// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/simulator/shared_processors.hpp>

#include <gtest/gtest.h>

#include <map>

namespace granary::shared_processors_test {
namespace {

detail::Instant at(long long nanoseconds) { return detail::Instant(Duration(nanoseconds)); }

/// Lets all tasks end; returns the times, in nanoseconds, by worker.
std::map<std::uint32_t, long long> ends(detail::SharedProcessors& processors) {
  std::map<std::uint32_t, long long> found;
  while (auto const next = processors.next_end()) {
    for (auto const& [worker, start] : processors.advance(*next)) {
      found[static_cast<std::uint32_t>(worker.value())] = next->time_since_epoch().count();
    }
  }
  return found;
}

using Ends = std::map<std::uint32_t, long long>;

TEST(SharedProcessors, AreIdleAtFirst) {
  detail::SharedProcessors processors;
  EXPECT_FALSE(processors.next_end().has_value());
  EXPECT_TRUE(processors.advance(at(5)).empty());
}

TEST(SharedProcessors, AStoppedTaskLeavesItsPartToTheOthers) {
  detail::SharedProcessors processors;
  processors.start(detail::WorkerId(0), NodeId(0), 1, Duration(1000), at(0));
  processors.start(detail::WorkerId(1), NodeId(0), 1, Duration(1000), at(0));
  processors.stop(detail::WorkerId(1), at(500));
  EXPECT_EQ(ends(processors), (Ends{{0, 1250}}));
  processors.stop(detail::WorkerId(1), at(2000));
  EXPECT_FALSE(processors.next_end().has_value());
}

TEST(SharedProcessors, ATaskAloneTakesItsTime) {
  detail::SharedProcessors processors;
  processors.start(detail::WorkerId(3), NodeId(1), 1, Duration(1000), at(100));
  EXPECT_EQ(processors.next_end(), at(1100));
  auto const& ended = processors.advance(at(1100));
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].worker, detail::WorkerId(3));
  EXPECT_EQ(ended[0].start, at(100));
}

TEST(SharedProcessors, LargeTasksTakeTurnsAndSmallOnesDoNot) {
  detail::SharedProcessors processors;
  processors.start(detail::WorkerId(0), NodeId(1), 1, Duration(1000), at(0));
  processors.start(detail::WorkerId(1), NodeId(1), 1, Duration(1000), at(0));
  processors.start(detail::WorkerId(2), NodeId(2), 0.5, Duration(1000), at(0));
  processors.start(detail::WorkerId(3), NodeId(2), 0.5, Duration(1000), at(0));
  EXPECT_EQ(ends(processors), (Ends{{0, 2000}, {1, 2000}, {2, 1000}, {3, 1000}}));
}

// From 400 on three halves slow down by 1.5; the first, of which 600 are left, ends at 1300, and the third, with 400
// left, at 1700.
TEST(SharedProcessors, RatesChangeWithStartsAndEnds) {
  detail::SharedProcessors processors;
  processors.start(detail::WorkerId(0), NodeId(0), 0.5, Duration(1000), at(0));
  processors.start(detail::WorkerId(1), NodeId(0), 0.5, Duration(1000), at(0));
  processors.start(detail::WorkerId(2), NodeId(0), 0.5, Duration(1000), at(400));
  EXPECT_EQ(ends(processors), (Ends{{0, 1300}, {1, 1300}, {2, 1700}}));
}

TEST(SharedProcessors, TasksWithoutDurationEndAtOnce) {
  detail::SharedProcessors processors;
  processors.start(detail::WorkerId(0), NodeId(0), 1, Duration(0), at(7));
  processors.start(detail::WorkerId(1), NodeId(0), 1, Duration(10), at(7));
  EXPECT_EQ(ends(processors), (Ends{{0, 7}, {1, 17}}));
}

// Whatever starts when: a full processor does one second of work per second, and no task is faster than alone.
TEST(SharedProcessors, NeitherLoseNorGainTime) {
  detail::Random random(17);
  for (int round = 0; round < 50; ++round) {
    detail::SharedProcessors processors;
    std::map<detail::WorkerId, Duration> alone;  // of the tasks that run
    Duration work{0};
    detail::Instant now{};
    auto const advance = [&] {
      now = *processors.next_end();
      for (auto const& [worker, start] : processors.advance(now)) {
        EXPECT_GE(now - start, alone.at(worker));
        alone.erase(worker);
      }
    };
    for (std::uint32_t w = 0; w < 20; ++w) {
      if (alone.size() > 1 && random.chance(0.5)) advance();
      if (auto const next = processors.next_end()) now += Duration(random.between(0, (*next - now).count()));
      alone[detail::WorkerId(w)] = Duration(random.between(1000, 1000000));
      work += alone[detail::WorkerId(w)];
      processors.start(detail::WorkerId(w), NodeId(0), 1, alone[detail::WorkerId(w)], now);
    }
    while (processors.next_end()) advance();
    EXPECT_NEAR(static_cast<double>((now - detail::Instant{}).count()), static_cast<double>(work.count()), 40) << round;
  }
}

}  // namespace
}  // namespace granary::shared_processors_test
