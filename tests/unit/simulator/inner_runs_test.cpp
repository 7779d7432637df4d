// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/inner_graph.hpp>
#include <granary/detail/core/planner/journal.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace granary {

using namespace detail;

namespace {

using enum AccessMode;

void no_kernel(KernelCall const&) {}

// Stages of `width` inner tasks of that many flops; each stage depends on the whole previous one.
struct Stages {
  std::size_t stages = 1;
  std::size_t width = 4;
  double flops = 100;
};

void expand(void const* parameters, InnerGraph& graph) {
  auto const& work = *static_cast<Stages const*>(parameters);
  auto const id = graph.add_codelet({.name = "inner"});
  std::vector<Access> all;
  for (std::size_t p = 0; p < work.width; ++p) all.push_back({graph.part(0, 8 * p), ReadWrite});
  for (std::size_t s = 0; s < work.stages; ++s) {
    if (s > 0) graph.submit({id, all, 0, 1});
    for (auto const& access : all) graph.submit({id, std::span(&access, 1), 0, work.flops});
  }
}

struct Bench {
  explicit Bench(std::uint32_t workers, SimulatorOptions options = {}, WorkerKind kind = WorkerKind::Cpu) {
    ConstantSpeeds::Options speeds;
    speeds.seconds_per_flop = {1e-9, 1e-9};
    truth = ConstantSpeeds(speeds);
    Machine machine;
    machine.add_node({.name = "host"});
    for (std::uint32_t w = 0; w < workers; ++w) {
      machine.add_worker({.name = "w" + std::to_string(w), .node = NodeId(0), .kind = kind});
    }
    options.check_invariants_every = 1;
    simulator.emplace(Topology(machine), make_policies("eager", "lru"), estimator, truth, options);
    codelet = simulator->add_codelet({.name = "whole", .kernels = {no_kernel, no_kernel}, .expand = expand});
  }
  DataId datum() { return simulator->add_data({.name = "x", .bytes = 64, .origin = {}, .home = {}}); }
  TaskId submit(DataId data, Stages const& work, AccessMode mode = ReadWrite) {
    std::array const accesses{Access{data, mode}};
    double const flops = static_cast<double>(work.stages * work.width) * work.flops;
    return simulator->submit({codelet, accesses, 0, flops}, Parameters(work));
  }
  long long end() { return simulator->run().end.time_since_epoch().count(); }

  AveragingEstimator estimator;
  ConstantSpeeds truth;
  std::optional<Simulator> simulator;
  CodeletId codelet;
};

TEST(SimulatorInner, ALoneTaskIsSharedByTheWorkersOfItsGroup) {
  Bench bench(4);
  bench.submit(bench.datum(), {.width = 8}, Write);
  auto const report = bench.simulator->run();
  EXPECT_EQ(report.end.time_since_epoch().count(), 200);
  EXPECT_EQ(report.statistics.tasks_run, 1U);
  for (auto const& worker : report.workers) {
    EXPECT_EQ(worker.inner_tasks, 2U);
    EXPECT_EQ(worker.busy, Duration(200));
  }
  EXPECT_EQ(report.workers[0].tasks, 1U);
}

TEST(SimulatorInner, InnerTasksFollowTheirDependencies) {
  Bench bench(4);
  bench.submit(bench.datum(), {.stages = 3, .width = 4}, Write);
  EXPECT_EQ(bench.end(), 3 * 100 + 2 * 1);
}

TEST(SimulatorInner, AHelperGoesBackToItsOwnTasks) {
  // The second task starts when a worker ends its inner task, at 1000; the graph's other tasks continue.
  Bench bench(2);
  auto const x = bench.datum(), y = bench.datum();
  bench.submit(x, {.width = 4, .flops = 1000}, Write);
  bench.simulator->step();
  bench.submit(y, {.width = 1, .flops = 500}, Write);
  auto const report = bench.simulator->run();
  EXPECT_EQ(report.end.time_since_epoch().count(), 2500);
  EXPECT_EQ(report.workers[0].inner_tasks + report.workers[1].inner_tasks, 5U);
}

TEST(SimulatorInner, TasksRunAsTheyAreOnDevicesAndOnSingleWorkers) {
  Bench devices(4, {}, WorkerKind::Device);
  devices.submit(devices.datum(), {.width = 8}, Write);
  EXPECT_EQ(devices.end(), 800);
  Bench single(1);
  single.submit(single.datum(), {.width = 8}, Write);
  auto const report = single.simulator->run();
  EXPECT_EQ(report.end.time_since_epoch().count(), 800);
  EXPECT_EQ(report.workers[0].inner_tasks, 0U);
}

TEST(SimulatorInner, TasksRunAsTheyAreWhereOthersWait) {
  Bench bench(2);
  for (int t = 0; t < 16; ++t) bench.submit(bench.datum(), {.width = 4}, Write);
  auto const report = bench.simulator->run();
  auto const inner = report.workers[0].inner_tasks + report.workers[1].inner_tasks;
  EXPECT_LT(inner, 16 * 4U / 2) << "most tasks ran while others waited";
  EXPECT_GT(inner, 0U) << "the last ones were shared";
}

TEST(SimulatorInner, AFailureIsTheParents) {
  SimulatorOptions options;
  options.faults.tasks = {TaskId(0)};
  Bench bench(3, options);
  auto const x = bench.datum();
  bench.submit(x, {.stages = 2}, Write);
  bench.submit(x, {.stages = 2});
  auto const report = bench.simulator->run();
  ASSERT_EQ(report.failures.size(), 1U);
  EXPECT_EQ(report.failures[0].task, TaskId(0));
  EXPECT_EQ(report.statistics.tasks_cancelled, 1U);
}

TEST(SimulatorInner, RunsRepeatExactly) {
  auto const run = [] {
    SimulatorOptions options;
    options.faults.task_delay = Duration(50);
    options.faults.seed = 3;
    Journal journal;
    options.observers = {&journal};
    Bench bench(3, options);
    std::vector<DataId> data;
    for (int d = 0; d < 3; ++d) data.push_back(bench.datum());
    for (std::size_t t = 0; t < 20; ++t) {
      bench.submit(data[t % 3], {.stages = 1 + t % 2, .width = 1 + t % 5}, t < 3 ? Write : ReadWrite);
    }
    auto const end = bench.end();
    return std::pair(end, journal.commands());
  };
  EXPECT_TRUE(run() == run());
}

}  // namespace
}  // namespace granary
