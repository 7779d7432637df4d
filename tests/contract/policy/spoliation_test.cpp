// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/platform_truth.hpp>
#include <granary/detail/simulator/simulator.hpp>
#include <granary/detail/workloads/tiled_cholesky.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace granary::test {

using namespace detail;

namespace {

struct Run {
  SimulationReport report;
  Trace trace;
};

// Cholesky on the Static paper's node, on which a worker gets a task when it is idle.
Run run(std::string const& scheduler) {
  auto const platform = Platform::find("static2016");
  PlatformTruth const truth(platform, {.precision = Precision::Single});
  PlatformEstimator estimator(platform, {.precision = Precision::Single});
  Simulator simulator(Topology(platform.machine), make_policies(scheduler, "lru"), estimator, truth,
                      {.planner = {.depth = 0}, .all_restartable = true, .trace = {.record = true}});
  workloads::TiledCholesky const cholesky({.tiles = 12, .tile = 960, .precision = Precision::Single});
  cholesky.submit(simulator, {platform.home_node(), platform.home_in_place()});
  auto report = simulator.run();
  EXPECT_TRUE(report.failures.empty());
  return {std::move(report), simulator.trace()};
}

// Static, section VI: without spoliation cores keep the tasks that devices wait for.
TEST(Spoliation, HelpsWhereFewTasksAreReady) {
  auto const plain = run("heteroprio:limit=0:slow=least-urgent:merge_cpu=1:merge_device=1").report.end;
  for (std::string const rules : {"sp", "pp", "pc", "pcep", "pcept"}) {
    EXPECT_LT(run("heteroprio:spoliation=" + rules).report.end, plain) << rules;
  }
}

TEST(Spoliation, TheTraceHasAllRunsOfEachTaskOnTheirWorkers) {
  auto [report, trace] = run("heteroprio:spoliation=pcept");
  std::ranges::stable_sort(trace.tasks, {}, &TraceTask::begin);
  std::map<WorkerId, Instant> free;
  std::map<TaskId, int> completed;
  std::map<WorkerId, Duration> busy;
  for (auto const& task : trace.tasks) {
    EXPECT_GE(task.begin, free[task.worker]);
    free[task.worker] = task.end;
    busy[task.worker] += task.end - task.begin;
    if (!task.stopped) ++completed[task.task];
    EXPECT_EQ(task.flops > 0, !task.stopped);
  }
  EXPECT_EQ(completed.size(), report.statistics.tasks_run);
  for (auto const& [task, runs] : completed) EXPECT_EQ(runs, 1) << task.value();
  EXPECT_EQ(trace.tasks.size(), report.statistics.tasks_run + report.statistics.tasks_aborted);
  for (std::uint32_t w = 0; w < report.workers.size(); ++w) EXPECT_EQ(busy[WorkerId(w)], report.workers[w].busy) << w;
}

}  // namespace
}  // namespace granary::test
