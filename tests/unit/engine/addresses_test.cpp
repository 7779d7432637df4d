// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/engine/addresses.hpp>

#include <gtest/gtest.h>

namespace granary {
namespace {

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

}  // namespace
}  // namespace granary
