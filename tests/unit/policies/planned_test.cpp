// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/planned/replay.hpp>
#include <granary/detail/policies/registry.hpp>

#include "planned_product.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <vector>

namespace granary {

using namespace detail;

namespace {

using test::FakeRun;
using test::FakeSystemView;
using test::first_group;
using test::PlannedProduct;
using test::read;
using test::read_write;
using test::second_group;
using testing::Le;
using testing::SizeIs;

TEST(Planned, loads_little_although_chains_were_submitted_one_by_one) {
  PlannedProduct product(1, 1200, "planned:ahead=1");
  OrderGraph graph;
  std::map<DataId, std::uint32_t> numbers;
  std::vector<std::uint32_t> order(product.tasks.size());
  for (auto& number : order) {
    for (auto const& access : product.view.task(product.step(first_group)).accesses) {
      auto const [known, is_new] = numbers.try_emplace(access.data, graph.data());
      if (is_new) graph.add_data({.bytes = 100});
      graph.add_use({.data = known->second, .reads = true, .writes = writes(access.mode)});
    }
    graph.end_task();
    number = graph.tasks() - 1;
  }
  // Blocks of two columns of C, then A twice and B once; chain by chain it would be 96 tiles.
  EXPECT_LE(replay(graph, order, 1200).loaded, 72 * 100U);
}

TEST(Planned, publishes_the_plan_of_all_submitted_tasks) {
  PlannedProduct product(1, 1200);
  product.settle();
  TaskId const first = product.step(first_group);
  EXPECT_THAT(product.run.board.plan(first_group), SizeIs(product.tasks.size() - 3));
  std::vector<TaskId> planned;
  for (auto const& [position, task] : product.run.board.plan(first_group)) planned.push_back(task);
  std::vector<TaskId> run;
  while (true) {
    TaskId const task = product.step(first_group);
    if (!task.valid()) break;
    run.push_back(task);
  }
  EXPECT_EQ(run, planned) << "after " << first.index();
}

TEST(Planned, plans_again_when_as_many_tasks_are_new) {
  PlannedProduct product(1, 1200);
  product.settle();
  product.step(first_group);
  auto const counter = [&] { return product.run.scheduler->counters()[0].second; };
  EXPECT_EQ(counter(), 1);
  std::vector<TaskId> later;
  for (std::size_t t = 0; t < product.tasks.size(); ++t) {
    later.push_back(product.view.add_task({read(product.a[t % 16]), read_write(product.c[t % 16])}));
    product.run.scheduler->submitted(later.back());
  }
  product.settle();
  EXPECT_EQ(counter(), 1) << "more may come";
  product.step(first_group);
  EXPECT_EQ(counter(), 2);
  EXPECT_TRUE(product.run.board.planned(later.back()));
}

TEST(Planned, is_as_far_ahead_as_memory_allows) {
  PlannedProduct product(1, 3600);
  EXPECT_EQ(dynamic_cast<SchedulerLimits&>(*product.run.scheduler).most_ahead(first_group, 4), 4U)
      << "before the first plan";
  product.settle();
  product.step(first_group);
  EXPECT_EQ(dynamic_cast<SchedulerLimits&>(*product.run.scheduler).most_ahead(first_group, 4), 7U)
      << "a fifth of 36 tiles";
  PlannedProduct two(2, 3600);
  two.settle();
  two.step(first_group);
  EXPECT_EQ(dynamic_cast<SchedulerLimits&>(*two.run.scheduler).most_ahead(second_group, 4), 4U)
      << "the run's depth: inputs are wanted early instead";
  PlannedProduct given(1, 3600, "planned:ahead=9");
  given.settle();
  given.step(first_group);
  EXPECT_EQ(dynamic_cast<SchedulerLimits&>(*given.run.scheduler).most_ahead(first_group, 4), 9U);
}

TEST(Planned, runs_by_priority_where_all_data_fit) {
  FakeSystemView view(PlannedProduct::machine(1, 100'000));
  FakeRun run(view, make_scheduler("planned"));
  std::vector<TaskId> tasks;
  for (int i = 0; i < 20; ++i) {
    tasks.push_back(view.add_task({read_write(view.add_data())}, i == 13 ? 5 : 0));
    run.scheduler->submitted(tasks.back());
  }
  for (TaskId const task : tasks) run.scheduler->ready(task);
  for (std::size_t t = 0; t < 2; ++t) {
    EXPECT_EQ(run.next_and_commit(), tasks[t]) << "without a plan";
    run.scheduler->finished(tasks[t]);
    view.finish(tasks[t]);
  }
  EXPECT_EQ(run.next_and_commit(), tasks[13]);
  EXPECT_EQ(run.next_and_commit(), tasks[2]);
  EXPECT_EQ(dynamic_cast<SchedulerLimits&>(*run.scheduler).most_ahead(first_group, 4), 4U);
}

TEST(Planned, gives_each_worker_one_task_while_many_are_submitted) {
  PlannedProduct product(1, 1200);
  TaskId const first = product.run.next_and_commit(first_group);
  EXPECT_TRUE(first.valid());
  EXPECT_FALSE(product.run.next_and_commit(first_group).valid()) << "more may come";
  product.run.scheduler->finished(first);
  product.view.finish(first);
  product.step(first_group);
  EXPECT_TRUE(product.run.next_and_commit(first_group).valid());
  EXPECT_TRUE(product.run.next_and_commit(first_group).valid());
}

// Of the tasks that change one datum in any order, one at a time is given.
TEST(Planned, gives_one_turn_at_a_time) {
  FakeSystemView view(PlannedProduct::machine(1, 100'000));
  FakeRun run(view, make_scheduler("planned"));
  EXPECT_TRUE(run.scheduler->traits().chooses_turns);
  DataId const sum = view.add_data();
  DataId const other = view.add_data();
  std::vector<TaskId> tasks;
  for (DataId const data : {sum, sum, other, sum}) tasks.push_back(view.add_task({{data, AccessMode::Commute}}));
  for (TaskId const task : tasks) run.scheduler->submitted(task);
  for (TaskId const task : tasks) run.scheduler->ready(task);
  EXPECT_EQ(run.next_and_commit(), tasks[0]);
  EXPECT_EQ(run.next_and_commit(), tasks[2]);
  EXPECT_FALSE(run.next_and_commit().valid());
  run.scheduler->withdrawn(tasks[1], Withdrawal::Cancelled, GroupId{});
  EXPECT_FALSE(run.next_and_commit().valid());
  run.scheduler->finished(tasks[0]);
  view.finish(tasks[0]);
  EXPECT_EQ(run.next_and_commit(), tasks[3]);
}

TEST(Planned, forgets_tasks_that_are_cancelled_and_plans_those_that_come_back) {
  PlannedProduct product(1, 1200);
  TaskId const first = product.run.next_and_commit(first_group);
  product.withdrawn.insert(product.tasks[63]);
  product.run.scheduler->withdrawn(product.tasks[63], Withdrawal::NeverReady, GroupId{});
  EXPECT_FALSE(product.run.board.planned(product.tasks[63]));
  product.run.scheduler->finished(first);
  product.view.finish(first);
  product.run.scheduler->submitted(first);
  product.run.scheduler->ready(first);
  std::set<TaskId> run;
  for (TaskId task = product.step(first_group); task.valid(); task = product.step(first_group)) run.insert(task);
  EXPECT_TRUE(run.contains(first));
  EXPECT_THAT(run, SizeIs(63)) << "all but the one that was withdrawn";
}

TEST(Planned, keeps_tasks_back_that_are_ready_long_before_their_place_in_the_plan) {
  PlannedProduct product(1, 1200, "planned:ahead=1");
  product.settle();
  std::size_t committed = 0;
  while (product.run.next_and_commit(first_group).valid()) ++committed;
  EXPECT_THAT(committed, Le(8U)) << "of the 16 that are ready, those near the beginning of the plan";
  EXPECT_GT(committed, 0U);
}

}  // namespace
}  // namespace granary
