// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/simulator/event_heap.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace granary {
namespace {

detail::Instant at(long long nanoseconds) { return detail::Instant(Duration(nanoseconds)); }

TEST(EventHeap, GivesTheEarliestFirst) {
  detail::EventHeap<std::string> heap;
  EXPECT_TRUE(heap.empty());
  heap.push(at(30), "third");
  heap.push(at(10), "first");
  heap.push(at(20), "second");
  EXPECT_EQ(heap.next(), at(10));
  EXPECT_EQ(heap.pop(), (std::pair<detail::Instant, std::string>(at(10), "first")));
  EXPECT_EQ(heap.pop().second, "second");
  EXPECT_EQ(heap.pop().second, "third");
  EXPECT_TRUE(heap.empty());
}

TEST(EventHeap, KeepsTheOrderOfPushesWithinAnInstant) {
  detail::EventHeap<int> heap;
  detail::Random random(1);
  std::vector<std::pair<detail::Instant, int>> pushed;
  for (int i = 0; i < 1000; ++i) {
    auto const when = at(static_cast<long long>(random.below(20)));
    heap.push(when, i);
    pushed.emplace_back(when, i);
  }
  std::ranges::stable_sort(pushed, {}, [](auto const& entry) { return entry.first; });
  for (auto const& expected : pushed) EXPECT_EQ(heap.pop(), expected);
}

}  // namespace
}  // namespace granary
