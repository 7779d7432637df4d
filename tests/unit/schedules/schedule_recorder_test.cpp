// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/schedules/recorder/schedule_recorder.hpp>
#include <granary/detail/simulator/platform_truth.hpp>
#include <granary/detail/simulator/simulator.hpp>
#include <granary/detail/workloads/tiled_cholesky.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace granary::schedule_recorder_test {

using namespace detail;

namespace {

using testing::HasSubstr;

// A run on mirage; what it recorded.
class Recorded {
 public:
  explicit Recorded(SimulatorOptions options = {})
      : simulator([&] {
          options.observers = {&recorder};
          options.trace.record = true;
          return Simulator(Topology(platform.machine), make_policies("heftp", "lru"), estimator, truth, options);
        }()) {}

  void run(workloads::Workload const& workload) {
    workload.submit(simulator, {platform.home_node(), platform.home_in_place()});
    report = simulator.run();
  }

  Platform platform = Platform::find("mirage");
  PlatformTruth truth{platform};
  PlatformEstimator estimator{platform};
  ScheduleRecorder recorder{platform.machine};
  Simulator simulator;
  SimulationReport report;
};

TEST(ScheduleRecorder, RecordsWhereAndWhenEachTaskRan) {
  Recorded run;
  workloads::TiledCholesky const cholesky({.tiles = 6, .tile = 960});
  run.run(cholesky);
  auto const schedule = run.recorder.schedule();
  auto const trace = run.simulator.trace();
  ASSERT_EQ(schedule.tasks.size(), trace.tasks.size());
  for (auto const& ran : trace.tasks) {
    auto const& task = schedule.tasks[ran.task.index()];
    EXPECT_EQ(task.worker, ran.worker.value());
    EXPECT_EQ(task.codelet, ran.codelet.value());
    EXPECT_EQ(Instant(task.start), ran.begin);
    EXPECT_EQ(Instant(task.start + task.duration), ran.end);
  }
  EXPECT_EQ(schedule.workers.size(), run.platform.machine.workers.size());
  EXPECT_EQ(schedule.workers.back().name, run.platform.machine.workers.back().name);
  EXPECT_LE(Instant(schedule.makespan), run.report.end);
  EXPECT_EQ(parse_schedule(format_schedule(schedule), "itself"), schedule);
}

TEST(ScheduleRecorder, RanksAreTheOrderOnAWorker) {
  Recorded run;
  run.run(workloads::TiledCholesky({.tiles = 6, .tile = 960}));
  auto const schedule = run.recorder.schedule();
  std::map<std::pair<std::uint32_t, std::uint64_t>, ScheduledTask> ordered;
  for (auto const& task : schedule.tasks) ordered.emplace(std::pair(task.worker, task.rank), task);
  ASSERT_EQ(ordered.size(), schedule.tasks.size());
  for (auto it = ordered.begin(); std::next(it) != ordered.end(); ++it) {
    auto const& next = std::next(it)->second;
    if (it->second.worker != next.worker) continue;
    EXPECT_LE(it->second.start + it->second.duration, next.start);
  }
}

TEST(ScheduleRecorder, TheGraphIsThatOfARecorderOfGraphs) {
  Recorded run;
  workloads::TiledCholesky const cholesky({.tiles = 5, .tile = 960});
  run.run(cholesky);
  GraphRecorder graph;
  cholesky.submit(graph, {run.platform.home_node(), run.platform.home_in_place()});
  auto const unplaced = unplaced_schedule(run.platform.machine, graph);
  EXPECT_EQ(unplaced.graph_hash(), run.recorder.schedule().graph_hash());
  EXPECT_EQ(unplaced.workers, run.recorder.schedule().workers);
}

TEST(ScheduleRecorder, ATaskThatCameBackCountsWhereItRan) {
  SimulatorOptions options;
  for (std::uint64_t task = 0; task < 20; ++task) options.faults.returns.emplace(task);
  Recorded run(options);
  run.run(workloads::TiledCholesky({.tiles = 4, .tile = 960}));
  auto const trace = run.simulator.trace();
  for (auto const& ran : trace.tasks) {
    EXPECT_EQ(Instant(run.recorder.schedule().tasks[ran.task.index()].start), ran.begin);
  }
}

TEST(ScheduleRecorder, ThereIsNoScheduleOfAFailedRun) {
  SimulatorOptions options;
  options.faults.tasks.emplace(3);
  Recorded run(options);
  EXPECT_TRUE(run.recorder.schedule().tasks.empty());
  run.run(workloads::TiledCholesky({.tiles = 3, .tile = 960}));
  EXPECT_THAT(test::message_of<Error>([&] { (void)run.recorder.schedule(); }),
              HasSubstr("of 10 tasks did not run, the first is task 3 ('"));
}

// The same application, in the second run with data whose ids are reused.
TEST(ScheduleRecorder, AReleasedDatumIsAnotherOneAlthoughItsIdIsReused) {
  auto const play = [](bool wait) {
    Recorded run;
    auto const codelet = run.simulator.add_codelet({.name = "gemm", .variant = "s"});
    for (int i = 0; i < 3; ++i) {
      auto const data = run.simulator.add_data({.name = "x", .bytes = 64});
      for (auto const mode : {AccessMode::Write, AccessMode::Read}) {
        Access const accesses[] = {{data, mode}};
        run.simulator.submit({.codelet = codelet, .accesses = accesses, .flops = 1e6});
      }
      run.simulator.release_data(data);
      if (wait) run.simulator.run();
    }
    run.simulator.run();
    return run.recorder.schedule().graph_hash();
  };
  EXPECT_EQ(play(true), play(false));
}

}  // namespace
}  // namespace granary::schedule_recorder_test
