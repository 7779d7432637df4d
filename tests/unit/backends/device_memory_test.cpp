// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/device_memory.hpp>

#include <granary/detail/core/backends/emulated_api.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace granary {

using namespace detail;

namespace {

TEST(DeviceMemory, IsTakenOnceAndGivenBack) {
  auto const api = make_emulated_api({.memory = 8_MiB});
  {
    DeviceMemory const memory(api, 0, 5_MiB);
    EXPECT_NE(memory.base(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.base()) % 256, 0u);
    EXPECT_EQ(api->properties(0).free, 3_MiB);
  }
  EXPECT_EQ(api->properties(0).free, 8_MiB);
  EXPECT_EQ(DeviceMemory(api, 0, 0).base(), nullptr);
}

TEST(DeviceMemory, ARefusalSaysWhatWasAskedForAndWhatIsFree) {
  auto const api = make_emulated_api({.memory = 8_MiB});
  DeviceMemory const memory(api, 0, 5_MiB);
  try {
    DeviceMemory const more(api, 0, 4_MiB);
    FAIL();
  } catch (DeviceError const& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("4.0 MiB"), testing::HasSubstr("3.0 MiB")));
  }
}

TEST(PinnedMemory, KnowsWhatIsPinned) {
  PinnedMemory pinned(make_emulated_api({}));
  std::vector<std::byte> memory(100);
  auto* const p = memory.data();
  pinned.add(p + 10, 50);
  EXPECT_TRUE(pinned.contains(p + 10, 50));
  EXPECT_TRUE(pinned.contains(p + 20, 5));
  EXPECT_FALSE(pinned.contains(p + 9, 5));
  EXPECT_FALSE(pinned.contains(p + 59, 2));
  EXPECT_FALSE(pinned.contains(p + 60, 1));
  pinned.remove(p + 10);
  EXPECT_FALSE(pinned.contains(p + 10, 50));
  pinned.remove(p + 10);
  pinned.add(nullptr, 0);
  EXPECT_FALSE(pinned.contains(nullptr, 1));
}

TEST(PinnedMemory, NestedAdditionsKeepItPinnedUntilTheLastIsUndone) {
  PinnedMemory pinned(make_emulated_api({}));
  std::vector<std::byte> memory(100);
  auto* const p = memory.data();
  pinned.add(p, 100);
  pinned.add(p, 100);
  pinned.add(p + 10, 20);
  pinned.remove(p);
  pinned.remove(p);
  EXPECT_TRUE(pinned.contains(p, 100));
  pinned.remove(p + 10);
  EXPECT_FALSE(pinned.contains(p, 1));
}

TEST(PinnedMemory, WhatOverlapsInPartStaysUnpinned) {
  PinnedMemory pinned(make_emulated_api({}));
  std::vector<std::byte> memory(100);
  auto* const p = memory.data();
  pinned.add(p + 20, 40);
  pinned.add(p, 30);
  pinned.add(p + 50, 30);
  pinned.add(p + 20, 41);
  EXPECT_FALSE(pinned.contains(p, 30));
  EXPECT_FALSE(pinned.contains(p + 50, 30));
  for (auto* const added : {p, p + 50, p + 20}) pinned.remove(added);
  EXPECT_TRUE(pinned.contains(p + 20, 40));
  pinned.remove(p + 20);
  EXPECT_FALSE(pinned.contains(p + 20, 40));
  pinned.add(p, 30);
  EXPECT_TRUE(pinned.contains(p, 30));
}

TEST(PinnedMemory, ThreadsMayPinTheSameRange) {
  PinnedMemory pinned(make_emulated_api({}));
  std::vector<std::byte> memory(100);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        pinned.add(memory.data(), 100);
        (void)pinned.contains(memory.data(), 50);
        pinned.remove(memory.data());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_FALSE(pinned.contains(memory.data(), 1));
}

TEST(PinnedMemory, WhatSomebodyElsePinnedIsUsedAsItIs) {
  auto const api = make_emulated_api({});
  auto* const p = api->allocate_pinned(100);
  ASSERT_FALSE(api->pin(p + 10, 50));
  PinnedMemory pinned(api);
  pinned.add(p + 10, 50);
  EXPECT_TRUE(pinned.contains(p + 10, 50));
  pinned.remove(p + 10);
  EXPECT_FALSE(pinned.contains(p + 10, 50));
  EXPECT_TRUE(api->is_pinned(p, 100));
  EXPECT_FALSE(api->is_pinned(p, 101));
  api->free_pinned(p);
  EXPECT_FALSE(api->is_pinned(p, 100));
}

TEST(PinnedMemory, WhatAwaitsItsUseIsPinnedOnceItIsAskedFor) {
  PinnedMemory pinned(make_emulated_api({}));
  std::vector<std::byte> memory(100);
  auto* const p = memory.data();
  pinned.add_for_use(p, 100);
  pinned.remove(p);  // before it was used
  EXPECT_FALSE(pinned.contains(p, 100));
  pinned.add_for_use(p, 100);
  pinned.add(p + 10, 20);
  while (!pinned.contains(p + 5, 10)) std::this_thread::yield();
  pinned.remove(p);
  EXPECT_TRUE(pinned.contains(p, 100));
  pinned.remove(p + 10);
  EXPECT_FALSE(pinned.contains(p, 1));
  pinned.add_for_use(p, 100);
  static_cast<void>(pinned.contains(p, 1));
  pinned.remove(p);  // while it is being pinned, or after
  EXPECT_FALSE(pinned.contains(p, 1));
}

TEST(PinnedPool, IsPinnedAsLongAsItIsThere) {
  auto const pinned = std::make_shared<PinnedMemory>(make_emulated_api({}));
  std::byte const* base = nullptr;
  {
    PinnedPool const pool(pinned, "host memory", 1_MiB);
    base = pool.base();
    EXPECT_TRUE(pinned->contains(base, 1_MiB));
  }
  EXPECT_FALSE(pinned->contains(base, 1));
  EXPECT_EQ(PinnedPool(pinned, "host memory", 0).base(), nullptr);
  PinnedPool const later(pinned, "host memory", 1_MiB, PinnedPool::When::OnUse);
  while (!pinned->contains(later.base(), 1_MiB)) std::this_thread::yield();
}

TEST(PinnedPool, OnlyThePiecesThatAreUsedArePinned) {
  auto const pinned = std::make_shared<PinnedMemory>(make_emulated_api({}));
  PinnedPool const pool(pinned, "host memory", 300_MiB, PinnedPool::When::OnUse);
  while (!pinned->contains(pool.base() + 65_MiB, 10_MiB)) std::this_thread::yield();
  // Not before the first question.
  EXPECT_FALSE(pinned->contains(pool.base(), 1));
  EXPECT_FALSE(pinned->contains(pool.base() + 128_MiB, 1));
  while (!pinned->contains(pool.base() + 290_MiB, 10_MiB)) std::this_thread::yield();
  EXPECT_TRUE(pinned->contains(pool.base() + 64_MiB, 64_MiB));
  EXPECT_FALSE(pinned->contains(pool.base() + 120_MiB, 10_MiB)) << "a copy across two pieces is staged";
}

}  // namespace
}  // namespace granary
