// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/registry.hpp>

#include <support/fake_system_view.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <typeinfo>

namespace granary::test {

using namespace detail;

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr GroupId cores{0};
constexpr GroupId gpu{1};
constexpr WorkerId core0{0};
constexpr WorkerId core1{1};
constexpr NodeId host{0};
constexpr NodeId device{1};

// Two cores on the host, where the data are, and a device.
Machine two_cores_and_a_device() {
  Machine machine;
  machine.add_node({.name = "host"});
  machine.add_node({.name = "device", .kind = NodeKind::Device});
  machine.add_link_pair(host, device, 1e9);
  machine.add_worker({.name = "core 0", .node = host, .kind = WorkerKind::Cpu});
  machine.add_worker({.name = "core 1", .node = host, .kind = WorkerKind::Cpu});
  machine.add_worker({.name = "device", .node = device, .kind = WorkerKind::Device});
  return machine;
}

class Heft : public testing::TestWithParam<char const*> {
 public:
  Heft() : view(two_cores_and_a_device()), run(view, make_scheduler(GetParam())) {}

  TaskId ready(std::int64_t on_core, std::int64_t on_gpu, std::int64_t priority = 0,
               std::initializer_list<Access> accesses = {}, std::uint64_t groups = ~std::uint64_t{0}) {
    TaskId const task = view.add_task(accesses, priority, Duration{on_core}, groups);
    view.set_duration(task, gpu, Duration{on_gpu});
    run.scheduler->ready(task);
    return task;
  }

  FakeSystemView view;
  FakeRun run;
};

TEST_P(Heft, a_task_joins_the_group_that_completes_it_first) {
  TaskId const first = ready(100, 40);
  TaskId const second = ready(100, 40);
  TaskId const third = ready(100, 40);  // 120 on the device
  TaskId const fourth = ready(100, 40);
  TaskId const fifth = ready(100, 40);  // 200 on a core
  EXPECT_THAT(run.plan(gpu), ElementsAre(first, second, fifth));
  EXPECT_THAT(run.plan(cores), ElementsAre(third, fourth)) << "each on a core of its own";
}

TEST_P(Heft, transfers_are_part_of_the_completion) {
  auto const d = view.add_data(70);
  TaskId const stays = ready(100, 40, 0, {read(d)});
  EXPECT_THAT(run.plan(cores), ElementsAre(stays));
  run.load(d, device);
  TaskId const goes = ready(100, 40, 0, {read(d)});
  EXPECT_THAT(run.plan(gpu), ElementsAre(goes));
}

TEST_P(Heft, expected_starts_follow_what_really_runs) {
  TaskId const a = ready(100, 1000);
  TaskId const b = ready(100, 1000);
  for (WorkerId const core : {core0, core1}) {
    TaskId const next = run.next_and_commit(cores);
    run.issue(next, core);
  }
  view.set_now(Instant{Duration{60}});
  run.finish(a);  // it was estimated at 100
  EXPECT_THAT(run.plan(cores), IsEmpty());
  TaskId const c = ready(100, 120);
  EXPECT_THAT(run.plan(cores), ElementsAre(c)) << "a core is free now";
  TaskId const d = ready(100, 150);  // the other core is free after 40
  EXPECT_THAT(run.plan(cores), ElementsAre(c, d));
  run.finish(b);
}

TEST_P(Heft, only_allowed_groups_are_considered) {
  TaskId const task = ready(100, 1, 0, {}, 1U << cores.value());
  EXPECT_EQ(run.next(gpu), TaskId{});
  EXPECT_EQ(run.next(cores), task);
}

TEST_P(Heft, a_cancelled_task_is_forgotten_with_its_work) {
  TaskId const long_one = ready(1000, 90);
  run.scheduler->withdrawn(long_one, Withdrawal::Cancelled, {});
  TaskId const task = ready(100, 50);
  EXPECT_THAT(run.plan(gpu), ElementsAre(task));
  EXPECT_EQ(run.next(gpu), task);
  EXPECT_EQ(run.next(gpu), TaskId{});
}

TEST(HeftVariants, are_the_implementations_of_dmda_and_dmdas) {
  auto const alike = [](char const* one, char const* other) {
    auto const first = make_scheduler(one);
    auto const second = make_scheduler(other);
    return typeid(*first) == typeid(*second) && first->traits().heeds_priorities == second->traits().heeds_priorities;
  };
  EXPECT_TRUE(alike("heft", "dmda"));
  EXPECT_TRUE(alike("heftp", "dmdas:ready=none"));
  EXPECT_FALSE(alike("heftp", "dmdas")) << "which reorders its queues";
}

TEST_P(Heft, plans_are_kept_when_inputs_are_evicted) { EXPECT_TRUE(run.scheduler->traits().keeps_plans); }

TEST_P(Heft, unknown_options_are_refused) {
  EXPECT_THROW((void)make_scheduler(std::string(GetParam()) + ":gamma=1"), InvalidArgument);
  EXPECT_THROW((void)make_scheduler(std::string(GetParam()) + ":beta=-1"), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Both, Heft, testing::Values("heft", "heftp"),
                         [](auto const& test) { return std::string(test.param); });

TEST(HeftQueues, heft_keeps_the_order_of_release_and_heftp_sorts_by_priority) {
  for (bool const by_priority : {false, true}) {
    FakeSystemView view(devices(1));
    FakeRun run(view, make_scheduler(by_priority ? "heftp" : "heft"));
    auto const ready = [&](std::int64_t priority) {
      TaskId const task = view.add_task({}, priority);
      run.scheduler->ready(task);
      return task;
    };
    TaskId const lowest = ready(std::numeric_limits<std::int64_t>::min());
    TaskId const middle = ready(-3);
    TaskId const high = ready(7);
    TaskId const equal = ready(7);
    if (by_priority) {
      EXPECT_THAT(run.plan(), ElementsAre(high, equal, middle, lowest));
    } else {
      EXPECT_THAT(run.plan(), ElementsAre(lowest, middle, high, equal));
    }
  }
}

}  // namespace
}  // namespace granary::test
