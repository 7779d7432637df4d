// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/indexed_heap.hpp>
#include <granary/detail/core/base/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace granary {
namespace {

TEST(IndexedHeap, agrees_with_a_map_on_random_changes) {
  detail::Random random(7);
  detail::IndexedHeap<std::uint64_t> heap;
  std::map<std::size_t, std::uint64_t> keys;
  for (int step = 0; step < 20000; ++step) {
    std::size_t const index = random.below(60);
    if (random.chance(0.4)) {
      heap.erase(index);
      keys.erase(index);
    } else {
      std::uint64_t const key = random.below(1000) * 64 + index;
      heap.set(index, key);
      keys[index] = key;
    }
    ASSERT_EQ(heap.size(), keys.size());
    ASSERT_EQ(heap.contains(index), keys.contains(index));
    if (keys.empty()) {
      ASSERT_TRUE(heap.empty());
      continue;
    }
    auto const first = std::ranges::min_element(keys, {}, [](auto const& entry) { return entry.second; });
    ASSERT_EQ(heap.top(), first->first);
    ASSERT_EQ(heap.top_key(), first->second);
  }
}

TEST(IndexedHeap, erasing_an_absent_index_does_nothing) {
  detail::IndexedHeap<int> heap;
  heap.erase(3);
  heap.set(1, 5);
  heap.erase(0);
  EXPECT_EQ(heap.size(), 1U);
}

}  // namespace
}  // namespace granary
