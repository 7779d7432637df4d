// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/model/task_graph.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace granary::task_graph_test {
namespace {

detail::AccessList list(std::initializer_list<detail::Access> accesses) {
  return detail::AccessList({accesses.begin(), accesses.size()});
}
detail::Access read(std::uint32_t data) { return {DataId(data), detail::AccessMode::Read}; }
detail::Access write(std::uint32_t data) { return {DataId(data), detail::AccessMode::Write}; }
detail::Access commute(std::uint32_t data) { return {DataId(data), detail::AccessMode::Commute}; }

std::vector<TaskId> finish(TaskGraph& graph, TaskId task) {
  std::vector<TaskId> released;
  graph.finish(task, [&](Task& next) { released.push_back(next.id); });
  return released;
}

TEST(TaskGraph, ReadersFollowTheWriterAndAWriterFollowsTheReaders) {
  TaskGraph graph;
  EXPECT_EQ(graph.add(list({write(0)})).predecessors, 0U);
  EXPECT_EQ(graph.add(list({read(0)})).predecessors, 1U);
  EXPECT_EQ(graph.add(list({read(0)})).predecessors, 1U);
  EXPECT_EQ(graph.add(list({write(0)})).predecessors, 2U);
  EXPECT_EQ(finish(graph, TaskId(0)), (std::vector<TaskId>{TaskId(1), TaskId(2)}));
  EXPECT_TRUE(finish(graph, TaskId(1)).empty());
  EXPECT_EQ(finish(graph, TaskId(2)), (std::vector<TaskId>{TaskId(3)}));
  EXPECT_TRUE(finish(graph, TaskId(3)).empty());
  EXPECT_EQ(graph.size(), 0U);
  EXPECT_EQ(graph.submitted(), 4U);
  EXPECT_EQ(graph.find(TaskId(0)), nullptr);
}

TEST(TaskGraph, ARunOfTasksThatCommuteFollowsWhatIsBeforeAndIsFollowedAsAWhole) {
  TaskGraph graph;
  EXPECT_EQ(graph.add(list({write(0)})).predecessors, 0U);
  for (int t = 1; t <= 3; ++t) EXPECT_EQ(graph.add(list({commute(0)})).predecessors, 1U) << "the writer";
  for (int t = 4; t <= 5; ++t) EXPECT_EQ(graph.add(list({read(0)})).predecessors, 3U) << "the run";
  EXPECT_EQ(graph.add(list({commute(0)})).predecessors, 2U) << "the readers";
  EXPECT_EQ(graph.add(list({commute(0)})).predecessors, 2U);
  EXPECT_EQ(graph.add(list({write(0)})).predecessors, 2U) << "the second run";
  EXPECT_EQ(graph.add(list({read(0)})).predecessors, 1U);
  EXPECT_EQ(finish(graph, TaskId(0)), (std::vector<TaskId>{TaskId(1), TaskId(2), TaskId(3)}));
  EXPECT_TRUE(finish(graph, TaskId(2)).empty());
  EXPECT_TRUE(finish(graph, TaskId(3)).empty());
  EXPECT_EQ(finish(graph, TaskId(1)), (std::vector<TaskId>{TaskId(4), TaskId(5)}));
}

std::vector<TaskId> numbers(std::uint64_t from, std::uint64_t to) {
  std::vector<TaskId> tasks;
  for (auto t = from; t <= to; ++t) tasks.emplace_back(t);
  return tasks;
}

// Round by round the edges take links that those of the round before have left.
TEST(TaskGraph, ReleasesInTheOrderOfSubmission) {
  TaskGraph graph;
  for (std::uint64_t first = 0; first < 90; first += 30) {
    graph.add(list({write(0), write(1)}));
    graph.add(list({write(2)}));
    for (int t = 2; t < 30; ++t) graph.add(t % 2 == 0 ? list({read(0), read(1)}) : list({read(1), read(2)}));
    std::vector<TaskId> successors;
    graph.for_each_successor(graph[TaskId(first)], [&](TaskId task) { successors.push_back(task); });
    EXPECT_EQ(successors.size(), 42U) << "once for each datum";
    EXPECT_TRUE(std::ranges::is_sorted(successors));
    EXPECT_TRUE(finish(graph, TaskId(first + 1)).empty());
    EXPECT_EQ(finish(graph, TaskId(first)), numbers(first + 2, first + 29));
    for (auto const task : numbers(first + 2, first + 29)) EXPECT_TRUE(finish(graph, task).empty());
  }
  EXPECT_EQ(graph.size(), 0U);
}

TEST(TaskGraph, ForgetsFinishedTasksOfALongRun) {
  TaskGraph graph;
  graph.add(list({read(0)}));
  for (std::uint64_t t = 1; t < 10000; ++t) {
    EXPECT_EQ(graph.add(list({commute(0)})).predecessors, 1U);
    if (t >= 4) finish(graph, TaskId(t - 3));
  }
  EXPECT_EQ(graph.add(list({write(0)})).predecessors, 3U);
  EXPECT_EQ(graph.add(list({commute(0)})).predecessors, 1U);
}

TEST(TaskGraph, ForgetsAnUnusedDatum) {
  TaskGraph graph;
  graph.add(list({write(3)}));
  finish(graph, TaskId(0));
  graph.forget(DataId(3));
  graph.forget(DataId(99));
  EXPECT_EQ(graph.add(list({read(3)})).predecessors, 0U);
}

// The slow reference: a task waits for every earlier unfinished task that shares a datum which either of them writes,
// directly or through tasks between.
class Reference {
 public:
  void add(detail::AccessList const& accesses) {
    auto& task = m_tasks.emplace_back();
    for (auto const& access : accesses) task.accesses.push_back(access);
    for (std::size_t before = 0; before + 1 < m_tasks.size(); ++before) {
      if (!m_tasks[before].finished && conflict(m_tasks[before], task)) task.waits_for.insert(before);
    }
  }
  void finish(TaskId task) {
    m_tasks[task.index()].finished = true;
    for (auto& other : m_tasks) other.waits_for.erase(task.index());
  }
  [[nodiscard]] std::set<TaskId> runnable() const {
    std::set<TaskId> found;
    for (std::size_t t = 0; t < m_tasks.size(); ++t) {
      if (!m_tasks[t].finished && m_tasks[t].waits_for.empty()) found.insert(TaskId(t));
    }
    return found;
  }

 private:
  struct Entry {
    std::vector<detail::Access> accesses;
    std::set<std::size_t> waits_for;
    bool finished = false;
  };
  static bool conflict(Entry const& a, Entry const& b) {
    for (auto const& x : a.accesses) {
      for (auto const& y : b.accesses) {
        bool const alike =
            x.mode == y.mode && (x.mode == detail::AccessMode::Read || x.mode == detail::AccessMode::Commute);
        if (x.data == y.data && !alike) return true;
      }
    }
    return false;
  }
  std::vector<Entry> m_tasks;
};

TEST(TaskGraph, AgreesWithASlowReferenceOnRandomGraphs) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    detail::Random random(seed);
    TaskGraph graph;
    Reference reference;
    std::set<TaskId> runnable;
    auto const data = 1 + random.below(12);
    double const commuting = 0.4 * static_cast<double>(seed % 3);
    for (int step = 0; step < 600; ++step) {
      if (step < 400 && random.chance(0.55)) {
        std::vector<detail::Access> accesses;
        for (auto n = random.below(6); n > 0; --n) {
          auto const mode = random.chance(0.7)   ? detail::AccessMode::Read
                            : random.chance(0.5) ? detail::AccessMode::Write
                                                 : detail::AccessMode::ReadWrite;
          accesses.push_back({DataId(static_cast<std::uint32_t>(random.below(data))),
                              random.chance(commuting) ? detail::AccessMode::Commute : mode});
        }
        detail::AccessList const merged{accesses};
        reference.add(merged);
        Task const& task = graph.add(detail::AccessList{accesses});
        if (task.predecessors == 0) runnable.insert(task.id);
      } else if (!runnable.empty()) {
        auto const chosen = *std::next(runnable.begin(), static_cast<std::ptrdiff_t>(random.below(runnable.size())));
        runnable.erase(chosen);
        reference.finish(chosen);
        auto const released = finish(graph, chosen);
        EXPECT_TRUE(std::ranges::is_sorted(released)) << "seed " << seed << ", step " << step;
        for (TaskId const task : released) EXPECT_TRUE(runnable.insert(task).second);
      }
      ASSERT_EQ(runnable, reference.runnable()) << "seed " << seed << ", step " << step;
    }
    while (!runnable.empty()) {
      auto const chosen = *runnable.begin();
      runnable.erase(runnable.begin());
      for (TaskId const released : finish(graph, chosen)) runnable.insert(released);
    }
    EXPECT_EQ(graph.size(), 0U) << "seed " << seed;
  }
}

TEST(TaskGraph, ForgetsFinishedReadersOfADatumThatIsNeverWritten) {
  TaskGraph graph;
  for (std::uint64_t t = 0; t < 10000; ++t) {
    graph.add(list({read(0)}));
    if (t >= 3) finish(graph, TaskId(t - 3));
  }
  Task const& writer = graph.add(list({write(0)}));
  EXPECT_EQ(writer.predecessors, 3U);
}

}  // namespace
}  // namespace granary::task_graph_test
