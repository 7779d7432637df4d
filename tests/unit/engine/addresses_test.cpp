// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/addresses.hpp>

#include <gtest/gtest.h>

namespace granary {

using namespace detail;

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
  std::vector<std::shared_ptr<void const>> dropped;
  addresses.forget(DataId(3), dropped);
  EXPECT_EQ(dropped, std::vector<std::shared_ptr<void const>>{kept});
  dropped.clear();
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_EQ(addresses.find(DataId(3), {NodeId(0), Slot::Home}), nullptr);
}

bool same_int(void const* kept, void const* wanted) {
  return *static_cast<int const*>(kept) == *static_cast<int const*>(wanted);
}

TEST(Addresses, KeepWhatEachRegistrationBringsOnce) {
  std::byte home;
  Addresses addresses({nullptr});
  auto const bind = [&](std::shared_ptr<void const> keep, bool (*serves)(void const*, void const*)) {
    return HostBinding{&home, &home, std::move(keep), {}, serves};
  };
  auto const one = std::make_shared<int>(1), one_again = std::make_shared<int>(1), two = std::make_shared<int>(2);
  addresses.bind(DataId(0), bind(one, same_int));
  EXPECT_EQ(addresses.share(DataId(0), bind(one_again, same_int)), one);
  EXPECT_EQ(one_again.use_count(), 1);
  EXPECT_EQ(addresses.share(DataId(0), bind(two, same_int)), two);
  EXPECT_EQ(addresses.share(DataId(0), bind(std::make_shared<int>(2), same_int)), two);
  EXPECT_EQ(addresses.share(DataId(0), bind(two, nullptr)), two) << "of another type, perhaps";
  EXPECT_EQ(addresses.share(DataId(0), bind(nullptr, nullptr)), nullptr);
  EXPECT_EQ(two.use_count(), 3);
  std::vector<std::shared_ptr<void const>> dropped;
  addresses.forget(DataId(0), dropped);
  EXPECT_EQ(dropped.size(), 3U);
}

TEST(Addresses, FormsDifferWhereCopiesWould) {
  std::byte memory[64];
  auto const form = [&](Lines const& lines) { return HostBinding{memory, memory, nullptr, lines}; };
  Lines const gaps{.line = 8, .count = 4, .pitch = 16, .packed = 8};
  EXPECT_TRUE(form(gaps).same_form(form(gaps)));
  EXPECT_FALSE(form(gaps).same_form(form({})));
  EXPECT_TRUE(form({.line = 8, .count = 4, .pitch = 8, .packed = 8}).same_form(form({})));
  EXPECT_TRUE(form({.line = 32, .count = 1, .pitch = 99, .packed = 32}).same_form(form({})));
  EXPECT_FALSE(form({.line = 8, .count = 4, .pitch = 8, .packed = 12}).same_form(form({})));
}

}  // namespace
}  // namespace granary
