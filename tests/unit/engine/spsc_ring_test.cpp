// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/spsc_ring.hpp>

#include <gtest/gtest.h>

#include <thread>

namespace granary {

using namespace detail;

namespace {

TEST(SpscRing, ShowsNothingBeforeItIsPublished) {
  SpscRing<int> ring(4);
  ring.next() = 1;
  ring.stage();
  EXPECT_EQ(ring.front(), nullptr);
  ring.publish();
  ASSERT_NE(ring.front(), nullptr);
  EXPECT_EQ(*ring.front(), 1);
}

TEST(SpscRing, KeepsTheOrderBetweenTwoThreads) {
  constexpr int count = 20'000;
  SpscRing<int> there(8), back(8);
  std::thread consumer([&] {
    for (int i = 0; i < count;) {
      if (auto const* value = there.front()) {
        back.next() = *value;
        there.pop();
        back.stage();
        back.publish();
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  int sent = 0;
  for (int received = 0; received < count;) {
    if (sent < count && sent - received < 8) {
      there.next() = sent++;
      there.stage();
      there.publish();
    }
    if (auto const* value = back.front()) {
      EXPECT_EQ(*value, received++);
      back.pop();
    } else {
      std::this_thread::yield();
    }
  }
  consumer.join();
}

}  // namespace
}  // namespace granary
