// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/movement/replica_list.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace granary::detail {
namespace {

std::vector<std::uint32_t> nodes(ReplicaList const& list) {
  std::vector<std::uint32_t> result;
  for (auto const& replica : list) result.push_back(replica.node.value());
  return result;
}

TEST(ReplicaList, KeepsTheOrderInWhichReplicasWereMade) {
  ReplicaList list;
  std::vector<std::uint32_t> expected;
  for (std::uint32_t n = 0; n < 9; ++n) {
    list.add({.node = NodeId(n)});
    expected.push_back(n);
    EXPECT_EQ(nodes(list), expected);
  }
  for (std::size_t const gone : {8, 0, 3, 3, 1, 0, 0, 0, 0}) {
    list.erase(&list[gone]);
    expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(gone));
    EXPECT_EQ(nodes(list), expected);
  }
  EXPECT_EQ(list.size(), 0U);
  list.add({.node = NodeId(4)});
  EXPECT_EQ(nodes(list), std::vector<std::uint32_t>{4});
}

// Data are very many, and most are at rest.
TEST(ReplicaList, TwoNeedNoMemoryOfTheirOwn) {
  ReplicaList list;
  auto const inside = [&] {
    auto const first = reinterpret_cast<std::uintptr_t>(list.begin());
    auto const object = reinterpret_cast<std::uintptr_t>(&list);
    return first >= object && first < object + sizeof(list);
  };
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t n = 0; n < 5; ++n) list.add({.node = NodeId(n)});
    EXPECT_FALSE(inside());
    for (int gone = 0; gone < 3; ++gone) list.erase(&list[1]);
    EXPECT_TRUE(inside());
    EXPECT_EQ(nodes(list), (std::vector<std::uint32_t>{0, 4}));
    list.erase(&list[0]);
    list.erase(&list[0]);
  }
}

TEST(Replica, KnowsWhichFieldsContradictEachOther) {
  Replica const held{.pins = 1};
  EXPECT_TRUE(held.consistent());
  EXPECT_FALSE((Replica{}.consistent())) << "a place in a pool that serves nobody";
  EXPECT_TRUE((Replica{.slot = Slot::Home}.consistent()));
  EXPECT_FALSE((Replica{.valid = true, .writers = 1}.consistent())) << "is written, but not held";
  EXPECT_FALSE((Replica{.valid = true, .evicting = true, .pins = 1}.consistent()));
  EXPECT_TRUE((Replica{.valid = true, .evicting = true}.consistent()));
  EXPECT_FALSE((Replica{.slot = Slot::Origin, .valid = true, .evicting = true}.consistent()));
}

}  // namespace
}  // namespace granary::detail
