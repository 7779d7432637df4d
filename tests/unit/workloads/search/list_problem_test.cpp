// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/schedules/search/list_problem.hpp>

#include "search_graph.hpp"
#include "support/message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace granary::list_problem_test {
namespace {

using search_test::cores_and_devices;
using search_test::Graph;
using search_test::times_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ListProblem, LinksReadersAndWriters) {
  Graph graph;
  graph.task("a", {{0, detail::AccessMode::Write}});
  graph.task("a", {{0, detail::AccessMode::Read}, {1, detail::AccessMode::Write}});
  graph.task("a", {{0, detail::AccessMode::Read}, {2, detail::AccessMode::Write}});
  graph.task("a", {{0, detail::AccessMode::ReadWrite}, {1, detail::AccessMode::Read}});
  search::ListProblem const problem(graph.recorder, cores_and_devices(1, 0), times_of({{"a", {5, -1}}}));
  EXPECT_THAT(problem.successors(0), ElementsAre(1, 2));
  EXPECT_THAT(problem.successors(1), ElementsAre(3));  // once, though for two data
  EXPECT_THAT(problem.successors(2), ElementsAre(3));
  EXPECT_THAT(problem.successors(3), IsEmpty());
  EXPECT_THAT(problem.predecessors(), ElementsAre(0, 1, 1, 2));
}

TEST(ListProblem, CommutingTasksFollowInTheOrderOfSubmission) {
  Graph graph;
  for (int t = 0; t < 3; ++t) graph.task("a", {{0, detail::AccessMode::Commute}});
  search::ListProblem const problem(graph.recorder, cores_and_devices(2, 0), times_of({{"a", {5, -1}}}));
  EXPECT_THAT(problem.successors(0), ElementsAre(1));
  EXPECT_THAT(problem.successors(1), ElementsAre(2));
  EXPECT_THAT(problem.predecessors(), ElementsAre(0, 1, 1));
}

TEST(ListProblem, WorkersOfEqualSpeedAreAClass) {
  Graph graph;
  graph.task("a", {});
  graph.task("b", {});
  auto const machine = cores_and_devices(3, 2);
  search::ListProblem const problem(graph.recorder, machine, times_of({{"a", {10, 2}}, {"b", {7, -1}}}));
  ASSERT_EQ(problem.classes().size(), 2U);
  EXPECT_THAT(problem.classes()[0].workers, ElementsAre(0, 1, 2));
  EXPECT_THAT(problem.classes()[1].workers, ElementsAre(3, 4));
  EXPECT_EQ(problem.class_of(2), 0U);
  EXPECT_EQ(problem.class_of(4), 1U);
  EXPECT_EQ(problem.time(0, 0), 10);
  EXPECT_EQ(problem.time(0, 1), 2);
  EXPECT_TRUE(problem.runs_on(1, 0));
  EXPECT_FALSE(problem.runs_on(1, 1));
  EXPECT_EQ(problem.time(1, 1), search::ListProblem::cannot_run);
}

TEST(ListProblem, MemoriesDivideClassesIfWanted) {
  Graph graph;
  graph.task("a", {});
  search::ListProblem const problem(graph.recorder, cores_and_devices(2, 2), times_of({{"a", {3, 3}}}),
                                    search::ListProblem::Classes::BySpeedAndMemory);
  ASSERT_EQ(problem.classes().size(), 3U);
  EXPECT_THAT(problem.classes()[0].workers, ElementsAre(0, 1));
  EXPECT_THAT(problem.classes()[2].workers, ElementsAre(3));
  EXPECT_EQ(search::ListProblem(graph.recorder, cores_and_devices(2, 2), times_of({{"a", {3, 3}}})).classes().size(),
            1U);
}

TEST(ListProblem, NamesACodeletThatNoWorkerRuns) {
  Graph graph;
  graph.task("a", {});
  graph.task("b", {});
  EXPECT_EQ(
      test::message_of([&] {
        return search::ListProblem(graph.recorder, cores_and_devices(2, 0), times_of({{"a", {1, 1}}, {"b", {-1, 1}}}));
      }),
      "no worker of this machine can run codelet 'b'");
}

TEST(ListProblem, MayBeEmpty) {
  search::ListProblem const problem(detail::GraphRecorder{}, cores_and_devices(2, 0), times_of({}));
  EXPECT_EQ(problem.tasks(), 0U);
  EXPECT_EQ(problem.classes().size(), 1U);
  EXPECT_EQ(search::ListScheduler(problem).schedule({}), 0);
}

}  // namespace
}  // namespace granary::list_problem_test
