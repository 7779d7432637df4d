// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/planned/turns.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace granary {

using namespace detail;

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr DataId left{0};
constexpr DataId right{1};

AccessList on_left() { return AccessList(std::array{Access{left, AccessMode::Commute}}); }
AccessList on_both() {
  return AccessList(std::array{Access{left, AccessMode::Commute}, Access{right, AccessMode::Commute}});
}

TEST(Turns, go_to_the_first_by_rank_on_all_of_its_data) {
  Turns turns;
  TaskId const single(0);
  TaskId const pair(1);
  TaskId const late(2);
  turns.enter(single, 5, on_left());
  EXPECT_TRUE(turns.first(single, on_left()));
  turns.enter(pair, 3, on_both());
  EXPECT_FALSE(turns.first(single, on_left()));
  EXPECT_TRUE(turns.first(pair, on_both()));
  turns.enter(late, 1, on_both());
  turns.take(late, on_both());
  turns.leave(late, 1, on_both());
  EXPECT_FALSE(turns.first(pair, on_both())) << "another has the turns";
  EXPECT_THAT(turns.firsts(on_left()), ElementsAre(pair));
  turns.end(late, on_both());
  EXPECT_TRUE(turns.first(pair, on_both()));
  turns.leave(pair, 3, on_both());
  EXPECT_TRUE(turns.first(single, on_left()));
  turns.leave(single, 5, on_left());
  EXPECT_THAT(turns.firsts(on_both()), IsEmpty());
}

TEST(Turns, are_not_needed_on_data_that_the_task_also_accesses_otherwise) {
  EXPECT_TRUE(Turns::needed(on_left()));
  EXPECT_FALSE(Turns::needed(AccessList(std::array{Access{left, AccessMode::Read}})));
  EXPECT_FALSE(
      Turns::needed(AccessList(std::array{Access{left, AccessMode::Commute}, Access{left, AccessMode::Read}})));
}

}  // namespace
}  // namespace granary
