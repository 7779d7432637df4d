// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/movement/value.hpp>

#include <gtest/gtest.h>

namespace granary::detail {
namespace {

using State = Value::State;

TEST(Value, OfADatumWithAnOriginIsThereAtOnce) {
  EXPECT_EQ(Value().state(), State::None);
  EXPECT_FALSE(Value().may_be_read());
  EXPECT_TRUE(Value().readable());  // by a task that another one precedes
  EXPECT_EQ(Value(true).state(), State::Current);
  EXPECT_TRUE(Value(true).may_be_read());
}

TEST(Value, LostByAFailureIsRefusedOnceThatWasReported) {
  Value value(true);
  EXPECT_TRUE(value.lose(3));
  EXPECT_FALSE(value.lose(3));  // no news
  EXPECT_TRUE(value.lose(4));
  EXPECT_EQ(value.state(), State::Poisoned);
  EXPECT_EQ(value.cause(), 4U);
  EXPECT_TRUE(value.lost());
  EXPECT_FALSE(value.readable());
  EXPECT_TRUE(value.may_be_read());
  value.report(false);
  EXPECT_EQ(value.state(), State::Reported);
  EXPECT_EQ(value.cause(), Value::no_cause);
  EXPECT_TRUE(value.lost());
  EXPECT_FALSE(value.may_be_read());
  value.write();
  EXPECT_EQ(value.state(), State::Current);
}

TEST(Value, IsStaleWhileTheCancellationOfItsWriterIsNotReported) {
  for (bool const anywhere : {false, true}) {
    Value value(anywhere);
    value.skip_write(7);
    value.skip_write(5);
    value.skip_write(6);
    EXPECT_EQ(value.state(), State::Stale);
    EXPECT_EQ(value.cause(), 5U);
    EXPECT_FALSE(value.readable());
    EXPECT_FALSE(value.lost());
    value.report(anywhere);
    EXPECT_EQ(value.state(), anywhere ? State::Current : State::None);
  }
}

TEST(Value, ThatKeepsNoOldOneIsLostWhenTheCancellationIsReported) {
  for (bool const anywhere : {false, true}) {
    Value value(anywhere);
    value.skip_write(7);
    value.keep_no_old();  // also for what was cancelled before
    EXPECT_EQ(value.state(), State::Stale);
    EXPECT_FALSE(value.lost());
    value.report(anywhere);
    EXPECT_EQ(value.state(), State::Reported);
    EXPECT_FALSE(value.may_be_read());
    EXPECT_FALSE(value.made());
    value.write();
    value.skip_write(8);
    value.write();
    value.report(true);
    EXPECT_EQ(value.state(), State::Current) << "it was overwritten";
  }
}

TEST(Value, ThatIsLostStaysLostWhenTheNextWriterIsCancelled) {
  Value value(true);
  static_cast<void>(value.lose(1));
  value.report(false);
  value.skip_write(2);
  EXPECT_EQ(value.state(), State::Poisoned);
  EXPECT_EQ(value.cause(), 2U);
}

TEST(WayHome, IsNotTriedAgainBeforeItsFailureWasReported) {
  WayHome way;
  way.set_going(true);
  EXPECT_TRUE(way.going());
  way.fail({});
  EXPECT_EQ(way.state(), WayHome::State::Failed);
  way.set_going(true);
  EXPECT_TRUE(way.failed());
  EXPECT_FALSE(way.going());
  way.report();
  EXPECT_EQ(way.state(), WayHome::State::No);
  way.set_going(true);
  way.report();
  EXPECT_TRUE(way.going());
}

TEST(WayHome, RemembersTheLostDevice) {
  WayHome way;
  way.fail(NodeId(2));
  EXPECT_EQ(way.state(), WayHome::State::Lost);
  way.fail({});
  EXPECT_EQ(way.state(), WayHome::State::Lost);
  EXPECT_EQ(way.lost_on(), NodeId(2));
  way.report();
  EXPECT_FALSE(way.lost_on().valid());
  EXPECT_EQ(way.state(), WayHome::State::No);
}

}  // namespace
}  // namespace granary::detail
