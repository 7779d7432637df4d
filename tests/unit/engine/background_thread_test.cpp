// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/background_thread.hpp>

#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace granary::background_thread_test {

using namespace detail;

namespace {

TEST(BackgroundThread, CallsOneWorkAfterTheOtherOnAnotherThread) {
  BackgroundThread background;
  std::vector<int> order;
  std::promise<std::thread::id> first;
  std::promise<void> last;
  background.start([&](auto const& wanted) {
    EXPECT_TRUE(wanted());
    order.push_back(1);
    first.set_value(std::this_thread::get_id());
  });
  background.start([&](auto const&) {
    order.push_back(2);
    last.set_value();
  });
  last.get_future().wait();
  EXPECT_EQ(order, (std::vector{1, 2}));
  EXPECT_NE(first.get_future().get(), std::this_thread::get_id());
}

TEST(BackgroundThread, AtItsEndTheWorkIsNotWantedAndTheRestIsDropped) {
  std::optional<BackgroundThread> background(std::in_place);
  std::promise<void> begun;
  bool ended = false;
  bool second = false;
  background->start([&](auto const& wanted) {
    begun.set_value();
    while (wanted()) std::this_thread::yield();
    ended = true;
  });
  background->start([&](auto const&) { second = true; });
  begun.get_future().wait();
  background.reset();
  EXPECT_TRUE(ended);
  EXPECT_FALSE(second);
}

}  // namespace
}  // namespace granary::background_thread_test
