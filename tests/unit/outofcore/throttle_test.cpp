// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/outofcore/throttle.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace granary {

using namespace detail;

namespace {

using namespace std::chrono_literals;

TEST(Throttle, TransfersFollowOneAnotherAtTheStatedBandwidth) {
  Throttle throttle(1000);
  Throttle::TimePoint const start{1h};
  EXPECT_EQ(throttle.reserve(start, 500), start + 500ms);
  EXPECT_EQ(throttle.reserve(start, 500), start + 1s);
  EXPECT_EQ(throttle.reserve(start + 200ms, 1000), start + 2s);
}

TEST(Throttle, IdleTimeIsNotSavedUp) {
  Throttle throttle(1000);
  Throttle::TimePoint const start{1h};
  EXPECT_EQ(throttle.reserve(start, 1000), start + 1s);
  EXPECT_EQ(throttle.reserve(start + 10s, 1000), start + 11s);
}

TEST(TimedCalls, CallsInTheOrderOfTheMomentsAndAllBeforeTheEnd) {
  std::vector<int> order;
  auto const now = std::chrono::steady_clock::now();
  {
    TimedCalls calls;
    calls.call_at(now + 30ms, [&] { order.push_back(3); });
    calls.call_at(now + 20ms, [&] { order.push_back(2); });
    calls.call_at(now + 10ms, [&] { order.push_back(1); });
  }
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
  EXPECT_GE(std::chrono::steady_clock::now(), now + 30ms);
}

}  // namespace
}  // namespace granary
