// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/driver_rules.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

namespace granary {

using namespace detail;

namespace {

static_assert(tasks_are_scarce(0, 0) && tasks_are_scarce(0, 9), "a worker has nothing to do");
static_assert(tasks_are_scarce(1, 0) && !tasks_are_scarce(1, 1) && !tasks_are_scarce(2, 0));
static_assert(is_skipped(true, true) && !is_skipped(true, false) && !is_skipped(false, true));

struct Graph {
  std::deque<int> ready;
  std::deque<int> taken = {};
  int const* take() {
    if (ready.empty()) return nullptr;
    taken.push_back(ready.front());
    ready.pop_front();
    return &taken.back();
  }
};
struct Job {
  Graph graph;
};

TEST(DriverRules, AHelperTakesFromItsOwnRunThenFromTheFirstWithAReadyTask) {
  std::vector<std::unique_ptr<Job>> runs;
  for (std::deque<int> const& ready : {std::deque<int>{}, std::deque<int>{10, 11}, std::deque<int>{20}})
    runs.push_back(std::make_unique<Job>(Job{{ready}}));
  auto const take = [&](Job* preferred) {
    auto const [run, task] = take_inner_task(preferred, runs);
    EXPECT_EQ(run == nullptr, task == nullptr);
    return task == nullptr ? 0 : *task;
  };
  EXPECT_EQ(take(runs[2].get()), 20);
  EXPECT_EQ(take(runs[2].get()), 10);  // its own has none left
  EXPECT_EQ(take(nullptr), 11);
  EXPECT_EQ(take(nullptr), 0);
  EXPECT_EQ(take(runs[0].get()), 0);
}

}  // namespace
}  // namespace granary
