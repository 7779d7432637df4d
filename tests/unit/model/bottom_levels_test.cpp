// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/model/bottom_levels.hpp>
#include <granary/detail/core/model/task_graph.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace granary {
namespace {

using namespace detail;

TEST(BottomLevels, AreTheTimesToTheEndOfTheGraph) {
  auto const read = [](std::uint32_t data) { return Access{DataId(data), AccessMode::Read}; };
  auto const write = [](std::uint32_t data) { return Access{DataId(data), AccessMode::ReadWrite}; };
  std::vector<std::vector<Access>> const tasks{
      {write(0)},           // followed by both readers
      {read(0), write(1)},  // followed by the last
      {read(0)},            // the end of its path
      {write(1)},
  };
  std::array const times{100, 30, 500, 7};
  EXPECT_EQ(bottom_levels(
                tasks.size(), [&](std::size_t task) -> auto const& { return tasks.at(task); },
                [&](std::size_t task) { return Duration(times.at(task)); }),
            (std::vector<std::int64_t>{600, 37, 500, 7}));
}

// The task graph is the definition: the level of a task is its time and the largest level of its successors.
TEST(BottomLevels, FollowTheEdgesOfTheTaskGraph) {
  std::array const modes{AccessMode::Read,      AccessMode::Read,    AccessMode::Write,
                         AccessMode::ReadWrite, AccessMode::Commute, AccessMode::Commute};
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    std::vector<AccessList> tasks;
    std::vector<Duration> times;
    TaskGraph graph;
    for (std::size_t i = 0; i < 40; ++i) {
      std::vector<Access> accesses(1 + random.below(4));
      for (auto& access : accesses)
        access = {DataId(static_cast<std::uint32_t>(random.below(5))), modes.at(random.below(6))};
      tasks.emplace_back(accesses);
      times.emplace_back(1 + random.below(100));
      graph.add(AccessList(accesses));
    }
    std::vector<std::int64_t> expected(tasks.size());
    for (std::size_t i = tasks.size(); i-- > 0;) {
      graph.for_each_successor(graph[TaskId(i)],
                               [&](TaskId next) { expected[i] = std::max(expected[i], expected[next.index()]); });
      expected[i] += times[i].count();
    }
    EXPECT_EQ(bottom_levels(
                  tasks.size(), [&](std::size_t i) -> auto const& { return tasks[i]; },
                  [&](std::size_t i) { return times[i]; }),
              expected)
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace granary
