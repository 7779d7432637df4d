// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/engine/addresses.hpp>
#include <granary/core/engine/pool.hpp>
#include <granary/core/engine/spsc_ring.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

namespace granary {
namespace {

TEST(Pool, IsAlignedAndUsableToItsLastByte) {
  Pool const pool("host", 3_MiB + 5);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool.base()) % 4096, 0U);
  pool.base()[0] = pool.base()[pool.bytes() - 1] = std::byte{1};
}

TEST(Pool, OfNoBytesHasNoAddress) { EXPECT_EQ(Pool("host", 0).base(), nullptr); }

TEST(Pool, NamesWhatTheSystemRefuses) {
  try {
    Pool const pool("host memory", Bytes{1} << 60);
    FAIL() << "the system gave 2^60 bytes";
  } catch (Error const& error) {
    EXPECT_NE(std::string(error.what()).find("host memory"), std::string::npos);
  }
}

TEST(Addresses, FollowPoolsAndBindings) {
  std::byte pool[64], origin, home;
  Addresses addresses({pool, nullptr});
  auto const kept = std::make_shared<int>(1);
  addresses.bind(DataId(3), {&origin, &home, kept});
  EXPECT_EQ(addresses.find(DataId(3), {NodeId(0), Slot::Pool, 16}), pool + 16);
  EXPECT_EQ(addresses.find(DataId(3), {NodeId(1), Slot::Pool, 16}), nullptr);
  EXPECT_EQ(addresses.find(DataId(3), {NodeId(0), Slot::Origin}), &origin);
  EXPECT_EQ(addresses.find(DataId(3), {NodeId(0), Slot::Home}), &home);
  EXPECT_EQ(addresses.find(DataId(4), {NodeId(0), Slot::Home}), nullptr);
  EXPECT_EQ(addresses.forget(DataId(3)), kept);
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_EQ(addresses.find(DataId(3), {NodeId(0), Slot::Home}), nullptr);
}

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
    }
  }
  consumer.join();
}

}  // namespace
}  // namespace granary
