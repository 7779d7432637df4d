// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/auto/trial_run.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace granary::trial_run_test {

using namespace detail;

namespace {

void no_kernel(KernelCall const&) {}

constexpr double one_millisecond = 1e6;  // operations, at one a nanosecond
constexpr std::uint32_t depth = 4;
constexpr std::uint64_t everything = 1'000'000;

// Accepts tasks and starts only the first few, so that the others can be tried.
class Keeps final : public Scheduler {
 public:
  explicit Keeps(std::size_t started) : m_left(started) {}
  void attach(SystemView const&, PlanBoard&) override {}
  void ready(TaskId task) override { m_ready.push_back(task); }
  TaskId next(GroupId) override {
    if (m_left == 0 || m_ready.empty()) return {};
    --m_left;
    TaskId const task = m_ready.front();
    m_ready.erase(m_ready.begin());
    return task;
  }
  void withdrawn(TaskId task, Withdrawal, GroupId) override { std::erase(m_ready, task); }

 private:
  std::size_t m_left;
  std::vector<TaskId> m_ready;
};

class OneFlopPerNanosecond final : public Estimator {
 public:
  [[nodiscard]] Duration kernel_time(CodeletId, double flops, WorkerKind) const override {
    return std::max(from_seconds(flops * 1e-9), Duration{1});
  }
  void observe_kernel(CodeletId, double, WorkerKind, Duration) override {}
};

ConstantSpeeds speeds() {
  ConstantSpeeds::Options options;
  options.seconds_per_flop = {1e-9, 1e-9};
  return ConstantSpeeds(options);
}

struct Stage {
  Stage(Machine machine, PolicySet policies)
      : simulator(Topology(std::move(machine)), std::move(policies), estimator, truth, {.planner = {.depth = depth}}),
        codelet(simulator.add_codelet({.name = "work", .kernels = {no_kernel, no_kernel}})) {}
  // Something goes on outside, so that the scheduler may keep tasks back.
  explicit Stage(Machine machine, std::size_t started = 0)
      : Stage(std::move(machine), {std::make_unique<Keeps>(started), make_eviction("lru")}) {
    simulator.submit({.codelet = simulator.add_codelet({.name = "outside", .external = true}), .accesses = {}});
  }

  DataId stored(Bytes bytes) {
    bool const in_place = !simulator.planner().topology().groups_on(NodeId(0)).empty();
    return simulator.add_data(
        {.bytes = bytes, .origin = NodeId(0), .home = NodeId(0), .origin_is_home = true, .in_place = in_place});
  }
  DataId temporary(Bytes bytes) { return simulator.add_data({.bytes = bytes}); }
  TaskId submit(std::vector<Access> const& accesses, double flops = one_millisecond) {
    return tasks.emplace_back(simulator.submit({.codelet = codelet, .accesses = accesses, .flops = flops}));
  }
  [[nodiscard]] TrialRuns trials(std::size_t from = 0) const {
    return TrialRuns(TrialTasks(simulator.planner().view(), std::span(tasks).subspan(from), depth));
  }

  OneFlopPerNanosecond estimator;
  ConstantSpeeds truth{speeds()};
  Simulator simulator;
  CodeletId codelet;
  std::vector<TaskId> tasks;
};

Machine host_with_disk(std::uint32_t cores, Bytes capacity = unbounded, double bandwidth = 1e9) {
  Machine machine;
  machine.add_node({.name = "disk", .kind = NodeKind::Disk});
  machine.add_node({.name = "host", .capacity = capacity});
  machine.add_link_pair(NodeId(0), NodeId(1), bandwidth, Duration(100), 4);
  for (std::uint32_t w = 0; w < cores; ++w) machine.add_worker({.name = "core", .node = NodeId(1)});
  return machine;
}

Machine host_with_device(std::uint32_t cores, Bytes capacity, double bandwidth = 1e9) {
  Machine machine;
  machine.add_node({.name = "host"});
  machine.add_node({.name = "gpu", .kind = NodeKind::Device, .capacity = capacity});
  machine.add_link_pair(NodeId(0), NodeId(1), bandwidth);
  for (std::uint32_t w = 0; w < cores; ++w) machine.add_worker({.name = "core", .node = NodeId(0)});
  machine.add_worker({.name = "gpu", .node = NodeId(1), .kind = WorkerKind::Device});
  return machine;
}

std::unique_ptr<TrialRun> complete_run(TrialRuns const& trials, char const* scheduler = "eager") {
  auto run = trials.start({scheduler, "lru"}, 0, everything);
  if (!run || !run->advance(everything)) return nullptr;
  return run;
}

// C(i, j) += A(i, k) B(k, j), the steps k outermost. Data are numbered as they are used, as in a trial run.
void submit_product(Stage& stage, std::size_t order, Bytes bytes) {
  std::vector<DataId> data(3 * order * order);
  auto const tile = [&](std::size_t matrix, std::size_t row, std::size_t column) {
    auto& id = data[(matrix * order + row) * order + column];
    if (!id.valid()) id = stage.stored(bytes);
    return id;
  };
  for (std::size_t k = 0; k < order; ++k) {
    for (std::size_t i = 0; i < order; ++i) {
      for (std::size_t j = 0; j < order; ++j) {
        stage.submit({{tile(0, i, k), AccessMode::Read},
                      {tile(1, k, j), AccessMode::Read},
                      {tile(2, i, j), AccessMode::ReadWrite}});
      }
    }
  }
}

TEST(TrialRuns, TakesAsLongAsTheRunItself) {
  for (auto const* const scheduler : {"eager", "darts", "dmdas", "planned", "superblock"}) {
    auto const machine = host_with_disk(2, 12'000'000);
    Stage waiting(machine);
    submit_product(waiting, 6, 1'000'000);
    Stage real(machine, make_policies(scheduler, "luf", 3));
    submit_product(real, 6, 1'000'000);
    auto const trials = waiting.trials();
    EXPECT_EQ(trials.tasks(), 216U);
    EXPECT_NEAR(trials.work_seconds(), 0.216, 1e-9);
    auto const run = trials.start({scheduler, "luf"}, 3, everything);
    ASSERT_NE(run, nullptr);
    ASSERT_TRUE(run->advance(everything));
    EXPECT_DOUBLE_EQ(run->seconds(), seconds(real.simulator.run().end.time_since_epoch())) << scheduler;
    EXPECT_EQ(run->ends().size(), 216U);
    EXPECT_TRUE(std::ranges::is_sorted(run->ends()));
    EXPECT_LE(seconds(run->ends().back()), run->seconds());
  }
}

TEST(TrialRuns, LeavesTheRealRunAlone) {
  Stage stage(host_with_disk(2));
  DataId const data = stage.stored(1000);
  for (int t = 0; t < 20; ++t) stage.submit({{data, AccessMode::ReadWrite}});
  ASSERT_NE(complete_run(stage.trials()), nullptr);
  EXPECT_EQ(stage.simulator.planner().live_tasks(), 20U + 1U);
  EXPECT_FALSE(stage.simulator.planner().view().expected(data, NodeId(1)));
}

TEST(TrialRuns, AnEarlyPartPredictsTheWholeInProportionToItsWork) {
  Stage stage(host_with_disk(4));
  for (int t = 0; t < 400; ++t) stage.submit({}, (1 + t % 3) * one_millisecond);
  auto const trials = stage.trials();
  auto const whole = complete_run(trials);
  ASSERT_NE(whole, nullptr);
  auto const part = trials.start({"eager", "lru"}, 0, everything);
  ASSERT_NE(part, nullptr);
  for (std::uint64_t const tasks : {100U, 200U, 399U}) {
    ASSERT_TRUE(part->advance(tasks));
    EXPECT_EQ(part->ends().size(), tasks);
    EXPECT_NEAR(part->seconds(), whole->seconds(), 0.05 * whole->seconds()) << tasks;
  }
  ASSERT_TRUE(part->advance(400));
  EXPECT_DOUBLE_EQ(part->seconds(), whole->seconds());
}

TEST(TrialRuns, AnEarlyPartTakesNoLessThanTheChainThatIsLeft) {
  Stage stage(host_with_disk(4));
  for (int t = 0; t < 100; ++t) stage.submit({});
  DataId const data = stage.stored(1);
  for (int t = 0; t < 100; ++t) stage.submit({{data, AccessMode::ReadWrite}});
  auto const trials = stage.trials();
  auto const run = trials.start({"eager", "lru"}, 0, everything);
  ASSERT_NE(run, nullptr);
  EXPECT_DOUBLE_EQ(run->seconds(), 0.1) << "before its first task has ended";
  ASSERT_TRUE(run->advance(40));
  EXPECT_GE(run->seconds(), 0.1 + 0.01) << "the first 40 of 200 ms of work took 10 ms, with no part of the chain";
}

TEST(TrialRuns, ToldOfTheFirstTasksItEndsWithThem) {
  Stage stage(host_with_disk(1));
  for (int t = 0; t < 50; ++t) stage.submit({});
  auto const trials = stage.trials();
  auto const run = trials.start({"eager", "lru"}, 0, 20);
  ASSERT_NE(run, nullptr);
  EXPECT_TRUE(run->advance(20));
  EXPECT_NEAR(run->seconds(), 0.05, 1e-9) << "the others are left";
  EXPECT_FALSE(run->advance(21));
}

TEST(TrialRuns, NamesWhatLimitsTheRun) {
  Stage workers(host_with_disk(4));
  for (int t = 0; t < 40; ++t) workers.submit({});
  auto run = complete_run(workers.trials());
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->limit(), "the workers");

  Stage order(host_with_disk(4));
  DataId const data = order.temporary(1);
  order.submit({{data, AccessMode::Write}});
  for (int t = 0; t < 40; ++t) order.submit({{data, AccessMode::ReadWrite}});
  run = complete_run(order.trials());
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->limit(), "the order");

  Stage disk(host_with_disk(4));
  for (int t = 0; t < 40; ++t) disk.submit({{disk.stored(10'000'000), AccessMode::Read}});
  run = complete_run(disk.trials());
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->limit(), "the disk");

  Stage links(host_with_device(0, unbounded));
  for (int t = 0; t < 40; ++t) links.submit({{links.stored(10'000'000), AccessMode::Read}});
  run = complete_run(links.trials());
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->limit(), "the links");
}

TEST(TrialRuns, ABusIsALimitToo) {
  // Two devices behind one bus: each link is busy half of the time.
  Machine machine;
  machine.add_node({.name = "host"});
  auto const bus = machine.add_bus({.name = "switch", .bandwidth = 1e9});
  for (std::uint32_t d = 1; d <= 2; ++d) {
    machine.add_node({.name = "gpu", .kind = NodeKind::Device});
    machine.add_link_pair(NodeId(0), NodeId(d), 1e9, Duration(0), 1, {bus});
    machine.add_worker({.name = "gpu", .node = NodeId(d), .kind = WorkerKind::Device});
  }
  Stage stage(machine);
  for (int t = 0; t < 40; ++t) stage.submit({{stage.stored(4'000'000), AccessMode::Read}});
  auto const run = complete_run(stage.trials());
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->limit(), "the links");
}

TEST(TrialRuns, AllDataFitInEachDeviceOrElseInTheHost) {
  auto const fits = [](Machine const& machine) {
    Stage stage(machine);
    DataId const shared = stage.stored(400);
    for (int t = 0; t < 6; ++t) stage.submit({{shared, AccessMode::Read}, {stage.stored(100), AccessMode::Read}});
    return stage.trials().fits();
  };
  EXPECT_TRUE(fits(host_with_disk(1, 1000)));
  EXPECT_FALSE(fits(host_with_disk(1, 999)));
  EXPECT_TRUE(fits(host_with_device(1, 1000)));
  EXPECT_FALSE(fits(host_with_device(1, 999)));
  auto smaller = host_with_device(1, 1000);
  smaller.nodes[0].capacity = 10;
  EXPECT_TRUE(fits(smaller)) << "the host's tasks use their data in place";
}

TEST(TrialRuns, PoliciesThatCannotRunTheTasksAreNoErrors) {
  Stage stage(host_with_disk(1));
  for (int t = 0; t < 5; ++t) stage.submit({});
  auto const trials = stage.trials();
  EXPECT_EQ(trials.start({"nobody", "lru"}, 0, everything), nullptr);
  EXPECT_EQ(trials.start({"eager", "nobody"}, 0, everything), nullptr);
  EXPECT_EQ(trials.start({"static:file=none.json", "lru"}, 0, everything), nullptr);
  register_scheduler("trial-run-test-keeps", [](PolicyOptions&) { return std::make_unique<Keeps>(3); });
  auto const run = trials.start({"trial-run-test-keeps", "lru"}, 0, everything);
  ASSERT_NE(run, nullptr);
  EXPECT_TRUE(run->advance(3));
  EXPECT_FALSE(run->advance(4));
}

// The first task runs, and the others are tried.
class AfterTheFirst : public testing::Test {
 public:
  Stage stage{host_with_disk(2), 1};
  void run_first(std::vector<Access> const& accesses) {
    stage.submit(accesses);
    while (stage.simulator.step()) continue;
    ASSERT_EQ(stage.simulator.planner().live_tasks(), 1U) << "the one outside";
  }
};

TEST_F(AfterTheFirst, ATemporaryThatHasAValueIsInTheHostsMemory) {
  DataId const data = stage.temporary(1'000'000);
  run_first({{data, AccessMode::Write}});
  for (int t = 0; t < 6; ++t) stage.submit({{data, AccessMode::Read}});
  auto const run = complete_run(stage.trials(1));
  ASSERT_NE(run, nullptr);
  EXPECT_DOUBLE_EQ(run->seconds(), 0.003) << "two workers, and nothing moves";
}

TEST_F(AfterTheFirst, ADatumThatVariesKeepsThePresentSize) {
  DataId const data = stage.simulator.add_data({.bytes = 10, .bound = 1'000'000});
  run_first({{data, AccessMode::Write}});
  for (int t = 0; t < 3; ++t) stage.submit({{data, AccessMode::ReadWrite}});
  auto const run = complete_run(stage.trials(1));
  ASSERT_NE(run, nullptr);
  EXPECT_DOUBLE_EQ(run->seconds(), 0.003);
}

TEST(TrialRuns, AMachineNeedsNoHost) {
  Machine machine;
  machine.add_node({.name = "device", .kind = NodeKind::Device});
  machine.add_worker({.name = "lane", .node = NodeId(0), .kind = WorkerKind::Device});
  Stage stage(std::move(machine), 1);
  DataId const data = stage.temporary(1000);
  stage.submit({{data, AccessMode::Write}});
  while (stage.simulator.step()) continue;
  for (int t = 0; t < 3; ++t) stage.submit({{data, AccessMode::Read}});
  auto const run = complete_run(stage.trials(1));
  ASSERT_NE(run, nullptr);
  EXPECT_DOUBLE_EQ(run->seconds(), 0.003);
}

TEST_F(AfterTheFirst, AValueWithAHomeIsThereAndGoesBack) {
  DataId const data = stage.simulator.add_data({.bytes = 10'000'000, .home = NodeId(0)});
  run_first({{data, AccessMode::Write}});
  stage.submit({{data, AccessMode::ReadWrite}});
  auto const run = complete_run(stage.trials(1));
  ASSERT_NE(run, nullptr);
  EXPECT_NEAR(run->seconds(), 0.010 + 0.001 + 0.010, 1e-6) << "there, one task, and back";
}

TEST(TrialRuns, TimesAreKnownOnEachKindThatAnyTaskOfACodeletMayUse) {
  // The first task's datum is too large for the device.
  Stage stage(host_with_device(1, 1000));
  stage.submit({{stage.stored(5000), AccessMode::Read}});
  for (int t = 0; t < 10; ++t) stage.submit({{stage.stored(10), AccessMode::Read}});
  auto const trials = stage.trials();
  EXPECT_NEAR(trials.work_seconds(), 0.011, 1e-9);
  auto const run = complete_run(trials);
  ASSERT_NE(run, nullptr);
  EXPECT_GE(run->seconds(), 0.0055);
}

TEST(TrialRuns, CommutingTasksAreKeptApart) {
  Stage stage(host_with_disk(4));
  DataId const data = stage.temporary(1);
  stage.submit({{data, AccessMode::Write}});
  for (int t = 0; t < 20; ++t) stage.submit({{data, AccessMode::Commute}, {data, AccessMode::Commute}});
  for (auto const* const scheduler : {"eager", "planned"}) {
    auto const run = complete_run(stage.trials(), scheduler);
    ASSERT_NE(run, nullptr);
    EXPECT_DOUBLE_EQ(run->seconds(), 0.021) << scheduler;
  }
}

}  // namespace
}  // namespace granary::trial_run_test
