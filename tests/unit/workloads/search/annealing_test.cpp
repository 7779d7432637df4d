// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/schedules/search/annealing.hpp>

#include "search_graph.hpp"
#include "support/message_of.hpp"
#include "support/seeds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace granary::annealing_test {
namespace {

using search_test::cores_and_devices;
using search_test::fault_of;
using search_test::Graph;
using search_test::random_graph;
using search_test::times_of;

search::ListPlan as_submitted(search::ListProblem const& problem) {
  return {std::vector<double>(problem.tasks()), std::vector<std::uint32_t>(problem.tasks())};
}

// A chain of three tasks that only cores run, submitted last, and six tasks that a device runs ten times as fast.
Graph chain_and_others() {
  Graph graph;
  for (int t = 0; t < 6; ++t) graph.task("fast", {});
  for (int t = 0; t < 3; ++t) graph.task("chain", {{0, detail::AccessMode::ReadWrite}});
  return graph;
}

struct Problem {
  Graph graph = chain_and_others();
  search::ListProblem problem{graph.recorder, cores_and_devices(1, 1),
                              times_of({{"fast", {50, 5}}, {"chain", {10, -1}}})};
  search::ListScheduler scheduler{problem};
};

TEST(Annealing, FindsTheOptimumOfASmallProblem) {
  Problem small;
  auto const first = as_submitted(small.problem);
  EXPECT_EQ(small.scheduler.schedule(first), 330);
  auto const best = anneal(small.problem, small.scheduler, first, {.limit = {.evaluations = 3000}, .seed = 1});
  EXPECT_EQ(best.makespan, Duration(30));
  EXPECT_EQ(best.evaluations, 3000U);
  EXPECT_EQ(small.scheduler.schedule(best.plan), 30);
  EXPECT_EQ(fault_of(small.problem, best.plan, small.scheduler.times(), 30), "");
}

TEST(Annealing, EvaluationsAndASeedAreRepeatable) {
  detail::Random random(7);
  auto const graph = random_graph(random, 60);
  search::ListProblem const problem(graph.recorder, cores_and_devices(2, 1), times_of({{"a", {9, 2}}, {"b", {5, 4}}}));
  search::ListScheduler scheduler(problem);
  search::AnnealingOptions const options{.limit = {.evaluations = 500}, .seed = 3};
  auto const one = anneal(problem, scheduler, as_submitted(problem), options);
  auto const other = anneal(problem, scheduler, as_submitted(problem), options);
  EXPECT_EQ(one.makespan, other.makespan);
  EXPECT_EQ(one.plan.priorities, other.plan.priorities);
  EXPECT_EQ(one.plan.classes, other.plan.classes);
}

TEST(Annealing, NeverReturnsAWorsePlan) {
  test::Seeds const seeds(0, 50);
  for (auto seed = seeds.first; seed < seeds.end; ++seed) {
    SCOPED_TRACE("GRANARY_TEST_SEED=" + std::to_string(seed));
    detail::Random random(seed);
    auto const graph = random_graph(random, 25);
    search::ListProblem const problem(graph.recorder, cores_and_devices(2, 1),
                                      times_of({{"a", {9, 2}}, {"b", {5, -1}}}));
    search::ListScheduler scheduler(problem);
    auto const first = scheduler.schedule(as_submitted(problem));
    // So hot that it accepts nearly every move.
    auto const best = anneal(problem, scheduler, as_submitted(problem),
                             {.limit = {.evaluations = 200}, .seed = seed, .hot = 10, .cold = 10});
    EXPECT_LE(best.makespan.count(), first);
    EXPECT_EQ(scheduler.schedule(best.plan), best.makespan.count());
    EXPECT_EQ(fault_of(problem, best.plan, scheduler.times(), best.makespan.count()), "");
  }
}

TEST(Annealing, OneEvaluationIsTheFirstPlan) {
  Problem small;
  auto const first = as_submitted(small.problem);
  auto const best = anneal(small.problem, small.scheduler, first, {.limit = {.evaluations = 1}});
  EXPECT_EQ(best.makespan, Duration(330));
  EXPECT_EQ(best.plan.classes, first.classes);
  EXPECT_EQ(best.evaluations, 1U);
}

TEST(Annealing, EndsWhenItIsToldTo) {
  Problem small;
  search::AnnealingOptions options{.limit = {.time = std::chrono::hours(1), .evaluations = 1000}};
  std::vector<double> shares;
  options.progress = [&](double share, Duration best) {
    EXPECT_LE(best, Duration(330));
    shares.push_back(share);
    return shares.size() < 100;
  };
  auto const best = anneal(small.problem, small.scheduler, as_submitted(small.problem), options);
  EXPECT_EQ(best.evaluations, 100U);
  EXPECT_EQ(shares.size(), 100U);
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  EXPECT_DOUBLE_EQ(shares.back(), 0.1);
}

// A schedule that takes long must not delay the end of the search by many schedules.
TEST(Annealing, LooksAtTheClockBeforeEachSchedule) {
  Problem small;
  auto const best = anneal(small.problem, small.scheduler, as_submitted(small.problem),
                           {.limit = {.time = std::chrono::nanoseconds(1)}});
  EXPECT_EQ(best.evaluations, 1U);
}

TEST(Annealing, RefusesWhatItCannotSearch) {
  Problem small;
  auto const refused = [&](search::ListPlan const& plan, search::SearchLimit const& limit) {
    return test::message_of([&] { return anneal(small.problem, small.scheduler, plan, {.limit = limit}); });
  };
  auto plan = as_submitted(small.problem);
  EXPECT_EQ(refused(plan, {}), "a search needs a limit of time or of evaluations");
  plan.classes[7] = 1;
  EXPECT_EQ(refused(plan, {.evaluations = 9}), "task 7 cannot run on class 1 of the workers");
  plan.classes[7] = 2;
  EXPECT_EQ(refused(plan, {.evaluations = 9}), "task 7 cannot run on class 2 of the workers");
  plan.classes.pop_back();
  EXPECT_EQ(refused(plan, {.evaluations = 9}), "the plan has 9 priorities and 8 classes, and the graph 9 tasks");
  search::ListProblem const empty(detail::GraphRecorder{}, cores_and_devices(1, 0), times_of({}));
  search::ListScheduler scheduler(empty);
  EXPECT_EQ(test::message_of([&] { return anneal(empty, scheduler, {}, {.limit = {.evaluations = 9}}); }),
            "a search needs a graph with tasks");
}

}  // namespace
}  // namespace granary::annealing_test
