// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/schedules/search/constraints/constraint_search.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "../search_graph.hpp"
#include "support/message_of.hpp"
#include "support/seeds.hpp"

namespace granary::constraint_search_test {
namespace {

using search_test::cores_and_devices;
using search_test::Graph;
using search_test::random_graph;
using search_test::Times;
using search_test::times_of;

ConstraintOptions nodes(std::uint64_t count) { return {.limit = {.time = {}, .evaluations = count}}; }

class ConstraintSearch : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!have_constraint_search()) GTEST_SKIP() << "this build has no Gecode";
  }
};

// The makespan if the workers of each class start its tasks in this order, which follows the edges.
Duration::rep makespan_in_order(search::ListProblem const& problem, std::vector<std::uint32_t> const& order,
                                std::vector<std::uint32_t> const& classes) {
  std::vector<std::vector<Duration::rep>> idle_since;
  for (auto const& one : problem.classes()) idle_since.emplace_back(one.workers.size());
  std::vector<Duration::rep> ready(problem.tasks());
  for (auto const task : order) {
    auto const worker = std::ranges::min_element(idle_since[classes[task]]);
    *worker = std::max(*worker, ready[task]) + problem.time(task, classes[task]);
    for (auto const next : problem.successors(task)) ready[next] = std::max(ready[next], *worker);
  }
  Duration::rep latest = 0;
  for (auto const& workers : idle_since) latest = std::max(latest, *std::ranges::max_element(workers));
  return latest;
}

bool follows_edges(search::ListProblem const& problem, std::vector<std::uint32_t> const& order) {
  auto missing = problem.predecessors();
  for (auto const task : order) {
    if (missing[task] > 0) return false;
    for (auto const next : problem.successors(task)) --missing[next];
  }
  return true;
}

// Of all orders and all classes.
Duration::rep shortest(search::ListProblem const& problem) {
  auto best = std::numeric_limits<Duration::rep>::max();
  std::vector<std::uint32_t> order(problem.tasks());
  std::iota(order.begin(), order.end(), 0U);
  do {
    if (!follows_edges(problem, order)) continue;
    for (unsigned choice = 0; choice < 1U << problem.tasks(); ++choice) {
      std::vector<std::uint32_t> classes(problem.tasks());
      bool possible = true;
      for (std::uint32_t task = 0; task < problem.tasks(); ++task) {
        classes[task] = choice >> task & 1U;
        possible = possible && classes[task] < problem.classes().size() && problem.runs_on(task, classes[task]);
      }
      if (possible) best = std::min(best, makespan_in_order(problem, order, classes));
    }
  } while (std::ranges::next_permutation(order).found);
  return best;
}

std::vector<std::uint32_t> order_of(search::ListPlan const& plan) {
  std::vector<std::uint32_t> order(plan.priorities.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater(), [&](std::uint32_t task) { return plan.priorities[task]; });
  return order;
}

TEST_F(ConstraintSearch, FindsTheOptimumOfSmallGraphs) {
  test::Seeds const seeds(0, 60);
  for (auto seed = seeds.first; seed < seeds.end; ++seed) {
    SCOPED_TRACE("GRANARY_TEST_SEED=" + std::to_string(seed));
    detail::Random random(seed);
    auto const graph = random_graph(random, 5);
    auto const time = [&] { return static_cast<int>(1 + random.below(9)); };
    search::ListProblem const problem(
        graph.recorder, cores_and_devices(1 + static_cast<std::uint32_t>(random.below(2)), 1),
        times_of({{"a", {time(), time()}}, {"b", {random.chance(0.3) ? -1 : time(), time()}}}));
    auto const found = constraint_search(problem, nodes(1'000'000));
    ASSERT_TRUE(found.complete);
    ASSERT_TRUE(found.plan);
    EXPECT_EQ(found.makespan.count(), shortest(problem));
    EXPECT_EQ(found.unit, Duration(1));
    auto const order = order_of(*found.plan);
    EXPECT_TRUE(follows_edges(problem, order));
    EXPECT_EQ(makespan_in_order(problem, order, found.plan->classes), found.makespan.count());
  }
}

TEST_F(ConstraintSearch, TasksMayTakeNoTime) {
  Graph graph;
  graph.task("long", {});
  for (int t = 0; t < 3; ++t) graph.task("nothing", {{0, detail::AccessMode::ReadWrite}});
  graph.task("long", {{0, detail::AccessMode::Read}});
  search::ListProblem const problem(graph.recorder, cores_and_devices(1, 1),
                                    times_of({{"long", {10, 10}}, {"nothing", {0, -1}}}));
  auto const found = constraint_search(problem, nodes(10000));
  ASSERT_TRUE(found.plan);
  EXPECT_EQ(found.makespan, Duration(10));
}

// No list schedule is optimal here: the device has to wait for the first task of the chain, though another is ready.
TEST_F(ConstraintSearch, LetsAWorkerWait) {
  Graph graph;
  graph.task("filler", {});
  graph.task("first", {{0, detail::AccessMode::Write}});
  graph.task("second", {{0, detail::AccessMode::ReadWrite}});
  graph.task("third", {{0, detail::AccessMode::ReadWrite}});
  search::ListProblem const problem(
      graph.recorder, cores_and_devices(1, 1),
      times_of({{"filler", {-1, 10}}, {"first", {1, -1}}, {"second", {-1, 5}}, {"third", {20, -1}}}));
  auto const found = constraint_search(problem, nodes(10000));
  ASSERT_TRUE(found.plan);
  EXPECT_TRUE(found.complete);
  EXPECT_EQ(found.makespan, Duration(26));
  EXPECT_GT(search::ListScheduler(problem).schedule(*found.plan), 26);
}

TEST_F(ConstraintSearch, LooksOnlyForShorterSchedules) {
  Graph graph;
  for (int t = 0; t < 4; ++t) graph.task("a", {});
  search::ListProblem const problem(graph.recorder, cores_and_devices(2, 0), times_of({{"a", {10, -1}}}));
  auto options = nodes(10000);
  for (int const below : {1, 9, 20}) {
    options.below = Duration(below);
    auto const none = constraint_search(problem, options);
    EXPECT_FALSE(none.plan) << below;
    EXPECT_TRUE(none.complete) << below;
  }
  options.below = Duration(0);
  EXPECT_FALSE(constraint_search(problem, options).plan);
  options.below = Duration(21);
  EXPECT_EQ(constraint_search(problem, options).makespan, Duration(20));
}

TEST_F(ConstraintSearch, RoundsLongTimesUp) {
  Graph graph;
  for (int t = 0; t < 6; ++t) graph.task("a", {});
  Duration const month = std::chrono::hours(24 * 30);
  search::ListProblem const problem(graph.recorder, cores_and_devices(2, 0), [&](auto const&, double, auto const&) {
    return std::optional(month + Duration(1));
  });
  auto const found = constraint_search(problem, nodes(10000));
  ASSERT_TRUE(found.plan);
  EXPECT_EQ(found.makespan, 3 * (month + Duration(1)));  // of the exact times
  EXPECT_GT(found.unit, Duration(1));
  EXPECT_LE(found.unit, 6 * month / 500'000'000 + Duration(1));
}

TEST_F(ConstraintSearch, TheSameNodesGiveTheSameResult) {
  detail::Random random(3);
  auto const graph = random_graph(random, 40);
  search::ListProblem const problem(graph.recorder, cores_and_devices(3, 2), times_of({{"a", {9, 2}}, {"b", {5, 4}}}));
  auto const one = constraint_search(problem, nodes(300));
  auto const other = constraint_search(problem, nodes(300));
  ASSERT_TRUE(one.plan && other.plan);
  EXPECT_EQ(one.makespan, other.makespan);
  EXPECT_EQ(one.plan->priorities, other.plan->priorities);
  EXPECT_LE(one.nodes, 301U);
}

TEST_F(ConstraintSearch, EndsAtItsLimitsOrWhenToldTo) {
  // Independent tasks of many lengths: far too many orders for a proof.
  Graph graph;
  Times times;
  for (int t = 0; t < 40; ++t) {
    auto const name = "t" + std::to_string(t);
    graph.task(name, {});
    times[name] = {1000 + 37 * t * t, 999 + 31 * t * t};
  }
  search::ListProblem const problem(graph.recorder, cores_and_devices(3, 2), times_of(times));
  auto const few = constraint_search(problem, nodes(3));
  EXPECT_FALSE(few.plan);
  EXPECT_FALSE(few.complete);
  auto const no_time = constraint_search(problem, {.limit = {.time = std::chrono::nanoseconds(1), .evaluations = {}}});
  EXPECT_FALSE(no_time.plan);
  EXPECT_FALSE(no_time.complete);
  auto options = nodes(100'000'000);
  int calls = 0;
  bool found = false;
  options.progress = [&](double share, std::optional<Duration> best) {
    EXPECT_LE(share, 1);
    found = best.has_value();
    return ++calls < 500;
  };
  auto const told = constraint_search(problem, options);
  EXPECT_EQ(calls, 500);
  EXPECT_TRUE(found);
  EXPECT_TRUE(told.plan);
  EXPECT_FALSE(told.complete);
}

TEST_F(ConstraintSearch, RefusesEmptyGraphsAndLimits) {
  Graph graph;
  graph.task("a", {});
  search::ListProblem const one(graph.recorder, cores_and_devices(1, 0), times_of({{"a", {1, -1}}}));
  EXPECT_EQ(test::message_of([&] { return constraint_search(one, {}); }),
            "a search needs a limit of time or of evaluations");
  search::ListProblem const empty(detail::GraphRecorder{}, cores_and_devices(1, 0), times_of({}));
  EXPECT_EQ(test::message_of([&] { return constraint_search(empty, nodes(1)); }), "a search needs a graph with tasks");
}

TEST(ConstraintSearchWithoutGecode, Refuses) {
  if (have_constraint_search()) GTEST_SKIP() << "this build has Gecode";
  Graph graph;
  graph.task("a", {});
  search::ListProblem const problem(graph.recorder, cores_and_devices(1, 0), times_of({{"a", {1, -1}}}));
  EXPECT_THAT(test::message_of([&] { return constraint_search(problem, nodes(1)); }), ::testing::HasSubstr("Gecode"));
}

}  // namespace
}  // namespace granary::constraint_search_test
