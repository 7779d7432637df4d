// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/registry.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace granary::registry_test {

using namespace detail;

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsSupersetOf;

class NoEviction final : public EvictionPolicy {
 public:
  void attach(SystemView const&, PlanBoard const&) override {}
  DataId victim(NodeId) override { return {}; }
};

class NoScheduler final : public Scheduler {
 public:
  explicit NoScheduler(std::uint64_t used_seed) : seed(used_seed) {}
  void attach(SystemView const&, PlanBoard&) override {}
  void ready(TaskId) override {}
  TaskId next(GroupId) override { return {}; }
  void withdrawn(TaskId, Withdrawal, GroupId) override {}
  std::uint64_t seed;
};

TEST(Registry, knows_its_own_policies) {
  EXPECT_THAT(scheduler_names(), IsSupersetOf({"darts", "eager", "prio"}));
  EXPECT_THAT(eviction_names(), IsSupersetOf({"lru", "luf"}));
  for (auto const& name : scheduler_names()) EXPECT_NE(make_scheduler(name, 1), nullptr);
  for (auto const& name : eviction_names()) EXPECT_NE(make_eviction(name), nullptr);
  auto const policies = make_policies("darts", "luf");
  EXPECT_NE(policies.scheduler, nullptr);
  EXPECT_NE(policies.eviction, nullptr);
}

TEST(Registry, knows_which_eviction_goes_with_a_scheduler) {
  EXPECT_EQ(default_eviction("darts"), "luf");
  EXPECT_EQ(default_eviction("superblock:fill=0.5"), "belady");
  EXPECT_EQ(default_eviction("eager"), "lru");
  EXPECT_THAT(test::message_of([] { (void)default_eviction("fast"); }), HasSubstr("unknown scheduler 'fast'"));
}

TEST(Registry, an_unknown_name_is_refused_with_the_known_ones) {
  auto const scheduler = test::message_of([] { (void)make_scheduler("fast"); });
  EXPECT_THAT(scheduler, HasSubstr("unknown scheduler 'fast'"));
  EXPECT_THAT(scheduler, AllOf(HasSubstr("darts"), HasSubstr("eager, "), HasSubstr("prio")));
  auto const eviction = test::message_of([] { (void)make_eviction(""); });
  EXPECT_THAT(eviction, HasSubstr("unknown eviction policy ''"));
  EXPECT_THAT(eviction, AllOf(HasSubstr("lru, "), HasSubstr("luf")));
  EXPECT_THAT(test::message_of([] { (void)make_policies("eager", "none"); }),
              HasSubstr("unknown eviction policy 'none'"));
}

TEST(Registry, an_application_adds_its_own) {
  register_scheduler("zzz-mine", [](PolicyOptions& options) { return std::make_unique<NoScheduler>(options.seed()); });
  register_eviction("zzz-mine", [](PolicyOptions&) { return std::make_unique<NoEviction>(); });
  auto const scheduler = make_scheduler("zzz-mine", 42);
  ASSERT_NE(dynamic_cast<NoScheduler*>(scheduler.get()), nullptr);
  EXPECT_EQ(dynamic_cast<NoScheduler&>(*scheduler).seed, 42U);
  EXPECT_THAT(scheduler_names(), testing::Contains("zzz-mine"));
  EXPECT_NE(make_policies("zzz-mine", "zzz-mine").eviction, nullptr);
  EXPECT_THAT(test::message_of(
                  [] { register_eviction("zzz-mine", [](PolicyOptions&) { return std::make_unique<NoEviction>(); }); }),
              HasSubstr("'zzz-mine' is registered already"));
}

TEST(Registry, an_entry_says_what_is_known_of_a_scheduler) {
  register_scheduler("zzz-entry", [](PolicyOptions& options) { return std::make_unique<NoScheduler>(options.seed()); },
                     {.eviction = "mru", .needs_options = true, .in_auto = {.place_if_larger = 3}});
  EXPECT_EQ(scheduler_entry("zzz-entry:x=1").in_auto.place_if_larger, 3);
  EXPECT_EQ(scheduler_entry("zzz-entry").in_auto.place_if_data_fit, 0) << "auto does not try it there";
  EXPECT_EQ(default_eviction("zzz-entry"), "mru");
  EXPECT_THAT(scheduler_names(), testing::Not(testing::Contains("zzz-entry")));
  EXPECT_THAT(all_scheduler_names(), testing::Contains("zzz-entry"));
  EXPECT_THAT(test::message_of([] { (void)scheduler_entry("nobody"); }), HasSubstr("unknown scheduler 'nobody'"));
}

TEST(Registry, a_policy_needs_a_name_and_a_factory) {
  EXPECT_THAT(
      test::message_of([] { register_eviction("", [](PolicyOptions&) { return std::make_unique<NoEviction>(); }); }),
      HasSubstr("is empty"));
  EXPECT_THAT(test::message_of([] { register_scheduler("empty", {}); }), HasSubstr("'empty' has no factory"));
}

}  // namespace
}  // namespace granary::registry_test
