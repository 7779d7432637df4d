// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/policy_options.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace granary {

using namespace detail;

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(PolicyOptions, GivesWhatIsAskedFor) {
  PolicyOptions options("mine:alpha=0.25:count=-3:order=up:names=a+b", 7);
  EXPECT_EQ(options.policy(), "mine");
  EXPECT_EQ(options.seed(), 7U);
  EXPECT_EQ(options.number("alpha", 1, 0, 1), 0.25);
  EXPECT_EQ(options.integer("count", 1, -5, 5), -3);
  EXPECT_EQ(options.choice("order", "down", {"up", "down"}), "up");
  EXPECT_THAT(options.list("names"), ElementsAre("a", "b"));
  options.refuse_unknown();
}

TEST(PolicyOptions, FallBackOnWhatThePolicyStates) {
  PolicyOptions options("mine");
  EXPECT_EQ(options.number("alpha", 0.5, 0, 1), 0.5);
  EXPECT_EQ(options.choice("order", "down", {"up", "down"}), "down");
  EXPECT_THAT(options.list("names"), IsEmpty());
}

TEST(PolicyOptions, RefuseWhatNoPolicyKnows) {
  PolicyOptions options("mine:alhpa=1");
  options.number("alpha", 0.5, 0, 1);
  options.integer("count", 1, 0, 9);
  EXPECT_EQ(test::message_of([&] { options.refuse_unknown(); }),
            "policy 'mine' has no option 'alhpa': the known ones are alpha, count");
  PolicyOptions none("mine:a=1");
  EXPECT_EQ(test::message_of([&] { none.refuse_unknown(); }), "policy 'mine' has no option 'a': it has none");
}

TEST(PolicyOptions, RefuseValuesOutOfRange) {
  PolicyOptions options("mine:alpha=1.5:count=2x:order=left");
  EXPECT_EQ(test::message_of([&] { options.number("alpha", 0.5, 0, 1); }),
            "option 'alpha' of policy 'mine' must be a number between 0 and 1, not '1.5'");
  EXPECT_EQ(test::message_of([&] { options.integer("count", 1, 0, 9); }),
            "option 'count' of policy 'mine' must be an integer between 0 and 9, not '2x'");
  EXPECT_EQ(test::message_of([&] {
              options.choice("order", "up", {"up", "down"});
            }),
            "option 'order' of policy 'mine' must be one of up, down, not 'left'");
}

TEST(PolicyOptions, RefuseWhatIsNoOption) {
  EXPECT_THAT(test::message_of([] { PolicyOptions("mine:alpha"); }),
              HasSubstr("'alpha' of policy 'mine' is not of the form"));
  EXPECT_THAT(test::message_of([] { PolicyOptions("mine:=1"); }), HasSubstr("not of the form key=value"));
  EXPECT_THAT(test::message_of([] { PolicyOptions("mine:a=1:a=2"); }),
              HasSubstr("'a' of policy 'mine' is given twice"));
}

}  // namespace
}  // namespace granary
