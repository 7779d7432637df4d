// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/schedules/search/list_schedule.hpp>

#include "search_graph.hpp"
#include "support/seeds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace granary::list_schedule_test {
namespace {

using search_test::cores_and_devices;
using search_test::fault_of;
using search_test::Graph;
using search_test::random_graph;
using search_test::times_of;
using ::testing::ElementsAre;

TEST(ListScheduler, StartsTheReadyTaskOfHighestPriority) {
  Graph graph;
  for (auto const* codelet : {"a", "b", "c"}) graph.task(codelet, {});
  search::ListProblem const problem(graph.recorder, cores_and_devices(1, 0),
                                    times_of({{"a", {1, -1}}, {"b", {10, -1}}, {"c", {100, -1}}}));
  search::ListScheduler scheduler(problem);
  EXPECT_EQ(scheduler.schedule({{1, 3, 2}, {0, 0, 0}}), 111);
  EXPECT_THAT(scheduler.times().starts, ElementsAre(110, 0, 10));
  EXPECT_THAT(scheduler.times().causes, ElementsAre(2, 1, 1));
  EXPECT_EQ(scheduler.times().last, 0U);
  // Equal ones: in the order of submission. Nothing is left of the schedule before.
  EXPECT_EQ(scheduler.schedule({{0, 0, 0}, {0, 0, 0}}), 111);
  EXPECT_THAT(scheduler.times().starts, ElementsAre(0, 1, 11));
  EXPECT_THAT(scheduler.times().causes, ElementsAre(0, 0, 1));
}

TEST(ListScheduler, WaitsForPredecessorsAndWorkers) {
  Graph graph;
  graph.task("long", {{0, detail::AccessMode::Write}});
  graph.task("short", {{1, detail::AccessMode::Write}});
  graph.task("short", {{0, detail::AccessMode::Read}, {1, detail::AccessMode::Read}});
  graph.task("long", {});
  search::ListProblem const problem(graph.recorder, cores_and_devices(2, 1),
                                    times_of({{"long", {20, 6}}, {"short", {3, 2}}}));
  search::ListScheduler scheduler(problem);
  search::ListPlan const on_both{{4, 3, 2, 1}, {1, 0, 1, 1}};
  EXPECT_EQ(scheduler.schedule(on_both), 14);
  EXPECT_THAT(scheduler.times().starts, ElementsAre(0, 0, 6, 8));
  EXPECT_THAT(scheduler.times().causes, ElementsAre(0, 1, 0, 2));  // the last one waits for the device
  EXPECT_EQ(scheduler.times().workers[0], 2U);
  EXPECT_EQ(scheduler.times().last, 3U);
  search::ListPlan const on_cores{{4, 3, 2, 1}, {0, 0, 0, 0}};
  EXPECT_EQ(scheduler.schedule(on_cores), 23);
  EXPECT_EQ(fault_of(problem, on_cores, scheduler.times(), 23), "");
  EXPECT_NE(scheduler.times().workers[0], scheduler.times().workers[1]);
}

TEST(ListScheduler, TasksMayTakeNoTime) {
  Graph graph;
  for (int t = 0; t < 5; ++t) graph.task("nothing", {{0, detail::AccessMode::ReadWrite}});
  graph.task("nothing", {});
  search::ListProblem const problem(graph.recorder, cores_and_devices(1, 0), times_of({{"nothing", {0, -1}}}));
  search::ListScheduler scheduler(problem);
  EXPECT_EQ(scheduler.schedule({std::vector<double>(6), std::vector<std::uint32_t>(6)}), 0);
}

// Every task starts at 0 or at the end of its cause, and no worker idles while a task of its class is ready.
TEST(ListScheduler, RandomSchedulesAreFeasible) {
  test::Seeds const seeds(0, 200);
  for (auto seed = seeds.first; seed < seeds.end; ++seed) {
    SCOPED_TRACE("GRANARY_TEST_SEED=" + std::to_string(seed));
    detail::Random random(seed);
    auto const graph = random_graph(random, 40);
    search::ListProblem const problem(graph.recorder, cores_and_devices(3, 2),
                                      times_of({{"a", {9, 2}}, {"b", {5, -1}}}));
    search::ListScheduler scheduler(problem);
    search::ListPlan plan;
    for (std::uint32_t task = 0; task < problem.tasks(); ++task) {
      plan.priorities.push_back(static_cast<double>(random.below(10)));
      plan.classes.push_back(problem.runs_on(task, 1) && random.chance(0.5) ? 1 : 0);
    }
    auto const makespan = scheduler.schedule(plan);
    auto const& times = scheduler.times();
    EXPECT_EQ(fault_of(problem, plan, times, makespan), "");
    auto const end = [&](std::uint32_t task) { return times.starts[task] + problem.time(task, plan.classes[task]); };
    for (std::uint32_t task = 0; task < problem.tasks(); ++task) {
      auto const cause = times.causes[task];
      EXPECT_EQ(times.starts[task], cause == task ? 0 : end(cause)) << task;
    }
    EXPECT_EQ(end(times.last), makespan);
    EXPECT_EQ(scheduler.schedule(plan), makespan);
  }
}

}  // namespace
}  // namespace granary::list_schedule_test
