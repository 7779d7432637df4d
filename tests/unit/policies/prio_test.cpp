// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/registry.hpp>

#include <support/fake_system_view.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace granary::test::prio_test {

using namespace detail;

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr GroupId cpu{0};
constexpr GroupId gpu{1};

// A host with `cores` of 10 operations per ns and a device of 100; loading takes one ns per byte.
Machine node(std::uint32_t cores = 1, double core_peak = 1e10) {
  Machine machine;
  NodeId const host = machine.add_node({.name = "host"});
  NodeId const device = machine.add_node({.name = "device", .kind = NodeKind::Device});
  machine.add_link_pair(host, device, 1e9);
  for (std::uint32_t i = 0; i < cores; ++i) machine.add_worker({.name = "core", .node = host, .peak_flops = core_peak});
  machine.add_worker({.name = "device", .node = device, .kind = WorkerKind::Device, .peak_flops = 1e11});
  return machine;
}

class Prio {
 public:
  explicit Prio(Machine machine = node(), std::string const& scheduler = "prio")
      : view(std::move(machine)), run(view, make_scheduler(scheduler)) {}

  TaskId ready(double flops, std::initializer_list<Access> accesses = {}, std::int64_t priority = 0,
               std::uint64_t groups = ~std::uint64_t{0}) {
    TaskId const task = view.add_task(accesses, priority, Duration{100}, groups);
    view.set_flops(task, flops);
    run.scheduler->ready(task);
    return task;
  }
  std::vector<TaskId> ready_many(int count, double flops) {
    std::vector<TaskId> tasks;
    for (int i = 0; i < count; ++i) tasks.push_back(ready(flops));
    return tasks;
  }

  FakeSystemView view;
  FakeRun run;
};

class PrioAsParsec : public testing::Test {
 protected:
  // Weights 1 for the core and 1/10 for the device.
  Prio t{node(), "prio:balance=parsec"};
};

TEST_F(PrioAsParsec, tasks_count_by_the_inverse_of_the_peak) {
  std::vector<TaskId> tasks;
  for (int i = 0; i < 12; ++i) tasks.push_back(t.ready(i % 2 == 0 ? 1 : 1e6));  // of any size
  EXPECT_EQ(t.run.next_and_commit(cpu), tasks[9]);
  EXPECT_EQ(t.run.plan(gpu).size(), 9U);
}

TEST_F(PrioAsParsec, a_group_weighs_as_all_its_workers) {
  Prio two(node(2), "prio:balance=parsec");  // 1/2 against 1/10
  auto const tasks = two.ready_many(6, 1000);
  EXPECT_EQ(two.run.next_and_commit(cpu), tasks[4]);
}

TEST_F(PrioAsParsec, a_device_gets_what_writes_its_data) {
  auto const mine = t.view.add_data(100);
  t.view.set_expected(mine, NodeId(1), true);
  auto tasks = t.ready_many(9, 1000);
  TaskId const writer = t.ready(1000, {read_write(mine)});
  TaskId const reader = t.ready(1000, {read(mine)});
  EXPECT_EQ(t.run.next_and_commit(cpu), reader);
  tasks.push_back(writer);
  EXPECT_EQ(t.run.plan(gpu), tasks);
}

TEST_F(PrioAsParsec, what_ended_is_no_load) {
  auto const tasks = t.ready_many(9, 1000);
  for (auto const task : tasks) EXPECT_EQ(t.run.next_and_commit(gpu), task);
  t.run.finish(tasks[0]);
  TaskId const next = t.ready(1000);
  TaskId const last = t.ready(1000);
  EXPECT_EQ(t.run.next_and_commit(cpu), last);
  EXPECT_THAT(t.run.plan(gpu), ElementsAre(next));
}

// 100 ns on the core, 10 on the device: the tenth task ends no later on the core.
TEST(PrioByPeak, a_slow_group_skips_what_ends_first_elsewhere) {
  Prio t;
  auto tasks = t.ready_many(12, 1000);
  EXPECT_EQ(t.run.next_and_commit(cpu), tasks[9]);
  tasks.resize(9);
  EXPECT_EQ(t.run.plan(gpu), tasks);
  EXPECT_EQ(t.run.next(gpu), tasks[0]);
}

TEST(PrioByPeak, a_slow_group_may_get_nothing) {
  Prio t;
  auto const tasks = t.ready_many(3, 1000);
  EXPECT_EQ(t.run.next(cpu), TaskId{});
  EXPECT_THAT(t.run.plan(gpu), ElementsAre(tasks[0], tasks[1], tasks[2]));
  for (auto const task : tasks) EXPECT_EQ(t.run.next_and_commit(gpu), task);
  EXPECT_EQ(t.run.next(gpu), TaskId{});
}

// On the device 20 ns each and 100 for d, once: 120 and 140 against 200 on the core, which then wins against 260.
TEST(PrioByPeak, an_input_that_tasks_share_is_counted_once) {
  Prio t;
  auto const d = t.view.add_data(100);
  auto const e = t.view.add_data(100);
  TaskId const a = t.ready(2000, {read(d)});
  TaskId const b = t.ready(2000, {read(d)});
  TaskId const c = t.ready(2000, {read(e)});
  EXPECT_EQ(t.run.next(cpu), c);
  EXPECT_THAT(t.run.plan(gpu), ElementsAre(a, b));
}

// Two cores: 100 ns each; the third task on them would end at 100 + 100.
TEST(PrioByPeak, load_spreads_over_the_workers_of_a_group) {
  Prio t(node(2));
  t.view.commit(t.view.add_task({}), gpu);
  auto const tasks = t.ready_many(30, 1000);
  EXPECT_EQ(t.run.next_and_commit(cpu), tasks[9]);   // the device is loaded with 90
  EXPECT_EQ(t.run.next_and_commit(cpu), tasks[10]);  // a core is free: 100 against 100
  EXPECT_EQ(t.run.next_and_commit(cpu), tasks[21]);  // (100 + 100) / 2 + 100 against 190 + 10
}

TEST(PrioByPeak, finished_and_cancelled_tasks_are_no_load) {
  Prio t;
  auto const tasks = t.ready_many(8, 1000);
  EXPECT_EQ(t.run.next(cpu), TaskId{});
  for (int i = 0; i < 4; ++i) t.run.scheduler->withdrawn(tasks[static_cast<std::size_t>(i)], Withdrawal::Cancelled, {});
  EXPECT_EQ(t.run.next_and_commit(gpu), tasks[4]);
  t.run.finish(tasks[4]);
  auto const more = t.ready_many(6, 1000);  // three are there: 40 to 90 on the device
  EXPECT_EQ(t.run.next(cpu), TaskId{});
  TaskId const last = t.ready(1000);
  EXPECT_EQ(t.run.next(cpu), last);
  EXPECT_THAT(t.run.plan(gpu),
              ElementsAre(tasks[5], tasks[6], tasks[7], more[0], more[1], more[2], more[3], more[4], more[5]));
}

TEST(PrioByPeak, a_busy_group_looks_at_sixteen_heads) {
  Prio t(node(1, 1e8));
  t.ready_many(40, 1000);
  t.view.commit(t.view.add_task({}), cpu);
  EXPECT_EQ(t.run.next(cpu), TaskId{});
  EXPECT_EQ(t.run.plan(gpu).size(), 16U);
}

TEST(PrioByPeak, an_idle_group_looks_until_it_finds_its_own) {
  Prio t(node(1, 1e9));  // 1000 ns against 10
  auto const tasks = t.ready_many(200, 1000);
  EXPECT_EQ(t.run.next_and_commit(cpu), tasks[99]);
}

TEST(PrioByPeak, the_more_urgent_passes_what_was_assigned) {
  Prio t;
  TaskId const a = t.ready(1000, {}, 1);
  TaskId const b = t.ready(1000, {}, 3);
  EXPECT_EQ(t.run.next(cpu), TaskId{});
  TaskId const c = t.ready(1000, {}, 2);
  EXPECT_EQ(t.run.next(gpu), b);
  EXPECT_EQ(t.run.next(gpu), c);
  EXPECT_EQ(t.run.next(gpu), a);
}

TEST(PrioByPeak, tasks_for_one_group_go_there) {
  Prio t;
  TaskId const a = t.ready(1000, {}, 0, 0b01);
  TaskId const b = t.ready(1000, {}, 9, 0b10);
  EXPECT_EQ(t.run.next(cpu), a);
  EXPECT_EQ(t.run.next(gpu), b);
}

TEST(PrioByPeak, where_the_peak_is_unknown_the_estimate_counts) {
  Prio t(node(1, 0));
  TaskId const task = t.view.add_task({}, 0, Duration{5});
  t.view.set_flops(task, 1000);  // 10 ns on the device
  t.run.scheduler->ready(task);
  EXPECT_EQ(t.run.next(gpu), TaskId{});
  EXPECT_EQ(t.run.next(cpu), task);
}

TEST(PrioByPeak, balance_is_an_option) {
  for (auto const& [scheduler, given] : {std::pair("prio", true), std::pair("prio:balance=always", false)}) {
    Prio t(devices(2), scheduler);
    auto const d = t.view.add_data(100);
    t.run.load(d, NodeId(1));
    TaskId const task = t.ready(1000, {read(d)});
    EXPECT_EQ(t.run.next(gpu), given ? task : TaskId{}) << scheduler;
  }
  Prio t(node(), "prio:balance=never");
  TaskId const task = t.ready(1000);
  EXPECT_EQ(t.run.next(cpu), task);
  EXPECT_THROW((void)make_scheduler("prio:balance=maybe"), InvalidArgument);
}

}  // namespace
}  // namespace granary::test::prio_test
