// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/journal.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/reload_counter.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

namespace granary::simulator_test {

using namespace detail;

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

void no_kernel(KernelCall const&) {}

Machine disk_and_host(std::uint32_t workers, Bytes capacity = unbounded) {
  Machine machine;
  machine.add_node({.name = "disk", .kind = NodeKind::Disk});
  machine.add_node({.name = "host", .capacity = capacity});
  machine.add_link_pair(NodeId(0), NodeId(1), 1e9, Duration(100), 4);
  for (std::uint32_t w = 0; w < workers; ++w) machine.add_worker({.name = "cpu", .node = NodeId(1)});
  return machine;
}

ConstantSpeeds::Options one_flop_per_nanosecond() {
  ConstantSpeeds::Options options;
  options.seconds_per_flop = {1e-9, 1e-9};
  return options;
}

struct Bench {
  explicit Bench(Machine machine, SimulatorOptions options = {}, PolicySet policies = make_policies("eager", "lru"))
      : simulator(Topology(std::move(machine)), std::move(policies), estimator, truth, std::move(options)),
        codelet(simulator.add_codelet({.name = "work", .kernels = {no_kernel, no_kernel}})) {}

  DataId stored(std::string name, Bytes bytes) {
    return simulator.add_data(
        {.name = std::move(name), .bytes = bytes, .origin = NodeId(0), .home = NodeId(0), .origin_is_home = true});
  }
  TaskId submit(std::vector<Access> const& accesses, double flops) {
    return simulator.submit({.codelet = codelet, .accesses = accesses, .flops = flops});
  }

  AveragingEstimator estimator;
  ConstantSpeeds truth{one_flop_per_nanosecond()};
  Simulator simulator;
  CodeletId codelet;
};

long long nanoseconds(Instant at) { return at.time_since_epoch().count(); }

// Gives the task that it gave first again and again.
class Repeating final : public Scheduler {
 public:
  Repeating() { set_policy_name("repeating"); }
  void attach(SystemView const& view, PlanBoard& board) override { m_eager->attach(view, board); }
  void ready(TaskId task) override { m_eager->ready(task); }
  TaskId next(GroupId group) override {
    TaskId const task = m_eager->next(group);
    return !task.valid() || m_given.valid() ? m_given : m_given = task;
  }
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override { m_eager->withdrawn(task, why, group); }

 private:
  TaskId m_given;
  std::unique_ptr<Scheduler> m_eager = make_scheduler("eager");
};

TEST(Simulator, ThrowsWhatAPolicyDidWrongAfterTheRunningTasksHaveEnded) {
  Bench bench(disk_and_host(1), {}, {std::make_unique<Repeating>(), make_eviction("lru")});
  bench.submit({{bench.stored("a", 1000), AccessMode::ReadWrite}}, 500);
  try {
    bench.simulator.run();
    FAIL() << "nothing was thrown";
  } catch (Error const& error) {
    EXPECT_STREQ(error.what(), "scheduler 'repeating' gave task 'work' 0 a second time");
  }
  EXPECT_TRUE(bench.simulator.idle());
  EXPECT_EQ(bench.simulator.report().failures.size(), 1U);
  EXPECT_THROW(bench.submit({}, 500), Error);
}

TEST(Simulator, LetsTimePassWhileTooManyTasksLive) {
  SimulatorOptions options;
  options.booking.max_live_tasks = 16;
  Bench bench(disk_and_host(2), options);
  std::vector<DataId> data;
  for (int i = 0; i < 20; ++i) data.push_back(bench.stored("a", 1000));
  for (std::size_t i = 0; i < 400; ++i) bench.submit({{data[i % 20], AccessMode::ReadWrite}}, 500);
  EXPECT_GT(bench.simulator.now(), Instant{});
  auto const report = bench.simulator.run();
  EXPECT_EQ(report.statistics.tasks_run, 400U);
  EXPECT_EQ(report.statistics.most_live_tasks, 16U);
}

TEST(Simulator, LetsTimePassWhileTooMuchIsBooked) {
  Machine machine;
  NodeId const host = machine.add_node({.name = "host", .capacity = 10'000});
  machine.add_worker({.name = "cpu", .node = host});
  SimulatorOptions options;
  options.booking = {.sleep = 4000, .wakeup = 2700};
  options.trace.record = true;
  Bench bench(machine, options);
  for (int i = 0; i < 10; ++i) {
    DataId const a = bench.simulator.add_data({.name = "a", .bytes = 1000});
    bench.submit({{a, AccessMode::Write}}, 500);
    bench.simulator.release_data(a);
  }
  EXPECT_EQ(nanoseconds(bench.simulator.now()), 500 * 8) << "at four data it slept until two were left, then at four";
  auto const report = bench.simulator.run();
  EXPECT_EQ(report.statistics.booking.peak, 4000U);
  EXPECT_EQ(report.statistics.booking.sleeps, 4U);
  EXPECT_EQ(report.submission_slept, Duration(500 * 8));
  Bytes most = 0;
  for (auto const& level : bench.simulator.trace().booked) {
    EXPECT_EQ(level.limit, 4000U);
    most = std::max(most, level.bytes);
  }
  EXPECT_EQ(most, 4000U);
}

TEST(Simulator, OtherwiseSubmissionTakesNoTime) {
  Bench bench(disk_and_host(2));
  DataId const a = bench.stored("a", 1000);
  for (int i = 0; i < 400; ++i) bench.submit({{a, AccessMode::ReadWrite}}, 500);
  EXPECT_EQ(bench.simulator.now(), Instant{});
  EXPECT_EQ(bench.simulator.run().statistics.most_live_tasks, 400U);
}

TEST(Simulator, AddsUpLatencyTransferKernelAndWriteBack) {
  Bench bench(disk_and_host(1));
  DataId const a = bench.stored("a", 1000);
  bench.submit({{a, AccessMode::ReadWrite}}, 500);
  auto const report = bench.simulator.run();
  // 100 + 1000 to fetch, 500 to compute, 100 + 1000 to write back.
  EXPECT_EQ(nanoseconds(report.end), 2700);
  EXPECT_EQ(bench.simulator.now(), report.end);
  ASSERT_EQ(report.workers.size(), 1U);
  EXPECT_EQ(report.workers[0].busy, Duration(500));
  EXPECT_EQ(report.workers[0].tasks, 1U);
  EXPECT_EQ(report.statistics.links[0].bytes, 1000U);
  EXPECT_EQ(report.statistics.links[1].bytes, 1000U);
  EXPECT_EQ(report.statistics.nodes[1].peak, 1000U);
  EXPECT_TRUE(report.failures.empty());
}

TEST(Simulator, RunsWorkersSideBySideAndEachInOrder) {
  for (std::uint32_t const workers : {1U, 2U, 4U}) {
    Bench bench(disk_and_host(workers));
    for (int t = 0; t < 8; ++t) bench.submit({}, 1000);
    auto const report = bench.simulator.run();
    EXPECT_EQ(nanoseconds(report.end), 8000 / workers);
    for (auto const& worker : report.workers) EXPECT_EQ(worker.busy, Duration(8000 / workers));
  }
}

TEST(Simulator, TasksReleasedTogetherStartInTheOrderOfSubmission) {
  Bench bench(disk_and_host(2), {.trace = {.record = true}});
  DataId const a = bench.stored("a", 1000);
  DataId const b = bench.stored("b", 1000);
  bench.submit({{a, AccessMode::ReadWrite}, {b, AccessMode::ReadWrite}}, 100);
  for (int t = 1; t < 20; ++t) {
    bench.submit({{t % 3 == 0 ? b : a, AccessMode::Read}, {b, AccessMode::Read}}, 10.0 * (1 + t % 5));
  }
  bench.simulator.run();
  auto tasks = bench.simulator.trace().tasks;
  ASSERT_EQ(tasks.size(), 20U);
  std::ranges::stable_sort(tasks, {}, &TraceTask::begin);
  EXPECT_TRUE(std::ranges::is_sorted(tasks, {}, &TraceTask::task));
}

TEST(Simulator, OverlapsTransfersWithKernels) {
  Bench bench(disk_and_host(1));
  for (int t = 0; t < 4; ++t) bench.submit({{bench.stored("d" + std::to_string(t), 900), AccessMode::Read}}, 10000);
  // The four fetches share the link and arrive together, 100 + 3600 after the start.
  EXPECT_EQ(nanoseconds(bench.simulator.run().end), 3700 + 40000);
}

TEST(Simulator, GoesOnFromWhereItCameToRest) {
  Bench bench(disk_and_host(1));
  bench.submit({}, 300);
  EXPECT_EQ(nanoseconds(bench.simulator.run().end), 300);
  EXPECT_EQ(nanoseconds(bench.simulator.run().end), 300);
  bench.submit({}, 200);
  auto const report = bench.simulator.run();
  EXPECT_EQ(nanoseconds(report.end), 500);
  EXPECT_EQ(report.statistics.tasks_run, 2U);
}

TEST(Simulator, StepsOneThingAtATime) {
  Bench bench(disk_and_host(1));
  EXPECT_FALSE(bench.simulator.step());
  bench.submit({}, 300);
  EXPECT_EQ(bench.simulator.planner().live_tasks(), 1U);
  EXPECT_TRUE(bench.simulator.step());
  EXPECT_EQ(bench.simulator.planner().live_tasks(), 0U);
  EXPECT_FALSE(bench.simulator.step());
}

TEST(Simulator, FailsTheCopiesAndTasksOfItsFaultPlan) {
  SimulatorOptions options;
  options.faults.copies = {1};
  options.faults.tasks = {TaskId(2)};
  options.check_invariants_every = 1;
  Bench bench(disk_and_host(1), options);
  for (int t = 0; t < 4; ++t) bench.submit({{bench.stored("d" + std::to_string(t), 10), AccessMode::Read}}, 10);
  auto const report = bench.simulator.run();
  std::vector<std::uint64_t> failed;
  for (auto const& failure : report.failures) failed.push_back(failure.task.value());
  EXPECT_THAT(failed, ElementsAre(1, 2));
  EXPECT_EQ(report.statistics.tasks_run, 2U);
  EXPECT_TRUE(bench.simulator.run().failures.empty());
}

TEST(Simulator, ATaskThatOnlyWritesPoisonedDataDefinesThemAgain) {
  SimulatorOptions options;
  options.faults.tasks = {TaskId(0)};
  options.check_invariants_every = 1;
  Bench bench(disk_and_host(1), options);
  DataId const a = bench.stored("a", 10);
  bench.submit({{a, AccessMode::ReadWrite}}, 10);
  EXPECT_THAT(bench.simulator.run().failures.at(0).poisoned_data, ElementsAre(a));
  EXPECT_THROW(bench.submit({{a, AccessMode::Read}}, 10), InvalidArgument);
  bench.submit({{a, AccessMode::Write}}, 10);
  bench.submit({{a, AccessMode::Read}}, 10);
  auto const report = bench.simulator.run();
  EXPECT_TRUE(report.failures.empty());
  EXPECT_EQ(report.statistics.tasks_run, 2U);
}

TEST(Simulator, CancelsWhatNoWorkerHas) {
  Bench bench(disk_and_host(1), {.planner = {.issue_depth = 1}});
  for (int t = 0; t < 5; ++t) bench.submit({}, 100);
  bench.simulator.cancel_all(std::make_exception_ptr(Error("enough")));
  auto const report = bench.simulator.run();
  EXPECT_EQ(report.statistics.tasks_run, 1U);
  EXPECT_EQ(report.statistics.tasks_cancelled, 4U);
  EXPECT_EQ(report.failures.size(), 1U);
}

// Writes down what it is told, and when.
class Witness final : public PlannerObserver {
 public:
  std::vector<std::string> seen;

 private:
  void add(std::string const& what) {
    seen.push_back(what + " at " + std::to_string(nanoseconds(planner().view().now())));
  }
  void handled(Event const& event, NewIds ids) override {
    if (std::holds_alternative<AddCodelet>(event)) add("codelet " + std::to_string(ids.codelet.value()));
    if (std::holds_alternative<AddData>(event)) add("data " + std::to_string(ids.data.value()));
    if (std::holds_alternative<TaskSubmission>(event)) add("task " + std::to_string(ids.task.value()));
    if (auto const* const done = std::get_if<TaskDone>(&event)) {
      add("ran " + std::to_string(nanoseconds(done->times.begin)) + "-" + std::to_string(nanoseconds(done->times.end)));
    }
    if (auto const* const done = std::get_if<CopyDone>(&event)) {
      add("copied by " + std::to_string(nanoseconds(done->ended)));
    }
  }
  void performed(Command const& command) override {
    constexpr std::array names{"copy", "run", "abort", "begin", "ship", "retire", "forget"};
    add(names[command.index()]);
  }
  void noticed(Notice const& notice) override {
    constexpr std::array names{"allocated", "freed", "kept aside", "not kept", "evicted"};
    add(names[notice.index()]);
  }
};

TEST(Simulator, TellsObserversOfEventsCommandsAndNoticesInOrder) {
  Witness witness;
  Bench bench(disk_and_host(1), {.planner = {.write_back_early = false}, .observers = {&witness}});
  DataId const a = bench.stored("a", 1000);
  bench.submit({{a, AccessMode::Read}}, 70);
  while (bench.simulator.step()) continue;
  bench.simulator.release_data(a);
  EXPECT_THAT(witness.seen, ElementsAre("codelet 0 at 0", "data 0 at 0", "allocated at 0", "task 0 at 0", "copy at 0",
                                        "copied by 1100 at 1100", "run at 1100", "ran 1100-1170 at 1170",
                                        "retire at 1170", "freed at 1170", "forget at 1170"));
}

class Lazy final : public Scheduler {
 public:
  void attach(SystemView const&, PlanBoard&) override {}
  void ready(TaskId) override {}
  TaskId next(GroupId) override { return {}; }
  void withdrawn(TaskId, Withdrawal, GroupId) override {}
};

TEST(Simulator, SaysSoWhenAPolicyLeavesTasksBehind) {
  Bench bench(disk_and_host(1), {}, {std::make_unique<Lazy>(), make_eviction("lru")});
  bench.submit({}, 70);
  try {
    bench.simulator.run();
    FAIL() << "it came to rest";
  } catch (Error const& error) {
    EXPECT_THAT(error.what(), HasSubstr("keeps back task 'work' 0, which is ready"));
  }
}

TEST(Simulator, TellsOfEachTaskThatEnds) {
  Witness witness;
  Bench bench(disk_and_host(1), {.observers = {&witness}});
  for (double const flops : {100.0, 50.0}) bench.submit({}, flops);
  bench.simulator.run();
  EXPECT_THAT(witness.seen, IsSupersetOf({"ran 0-100 at 100", "ran 100-150 at 150"}));
}

TEST(Simulator, ReportsIdleTimeAndTrafficByKind) {
  Machine machine = disk_and_host(1);
  machine.add_node({.name = "gpu", .kind = NodeKind::Device});
  machine.add_link_pair(NodeId(1), NodeId(2), 1e9);
  machine.workers[0].node = NodeId(2);
  machine.workers[0].kind = WorkerKind::Device;
  Bench bench(std::move(machine));
  bench.submit({{bench.stored("a", 1000), AccessMode::ReadWrite}}, 500);
  auto const report = bench.simulator.run();
  EXPECT_EQ(report.of(TransferKind::DiskRead).bytes, 1000U);
  EXPECT_EQ(report.of(TransferKind::DiskRead).transfers, 1U);
  EXPECT_EQ(report.of(TransferKind::HostToDevice).bytes, 1000U);
  EXPECT_EQ(report.of(TransferKind::DeviceToHost).bytes, 1000U);
  EXPECT_EQ(report.of(TransferKind::DiskWrite).bytes, 1000U);
  EXPECT_EQ(report.of(TransferKind::DeviceToDevice).bytes, 0U);
  EXPECT_EQ(report.bytes(), 4000U);
  EXPECT_EQ(report.workers[0].busy + report.workers[0].idle, report.end - Instant{});
  EXPECT_EQ(report.workers[0].idle, Duration(100 + 1000 + 1000 + 1000 + 100 + 1000));
}

TEST(Simulator, CountsEvictionsAndReloadsOfValuesThatWereThere) {
  Bench bench(disk_and_host(1, 1000), {.planner = {.depth = 1, .issue_depth = 1}});
  std::vector<DataId> data;
  for (int d = 0; d < 2; ++d) data.push_back(bench.stored("d" + std::to_string(d), 600));
  for (std::size_t t = 0; t < 4; ++t) bench.submit({{data[t % 2], AccessMode::Read}}, 10);
  auto const report = bench.simulator.run();
  EXPECT_EQ(report.evictions, 3U);
  EXPECT_EQ(report.reloads, 2U);
  EXPECT_EQ(report.reload_bytes, 1200U);
}

TEST(Reloads, AreOfTheSameValueOnly) {
  ReloadCounter counter(2);
  DataId const data(3);
  counter.copied(data, NodeId(0), 10);
  counter.copied(data, NodeId(1), 10);
  counter.written(data, NodeId(1));
  counter.copied(data, NodeId(0), 10);
  EXPECT_EQ(counter.reloads(), 0U);
  counter.copied(data, NodeId(1), 10);
  EXPECT_EQ(counter.reloads(), 1U);
  counter.forgotten(data);
  counter.copied(data, NodeId(1), 10);
  EXPECT_EQ(counter.reloads(), 1U);
  EXPECT_EQ(counter.bytes(), 10U);
}

TEST(Simulator, ChargedDecisionsDelayWhatTheyDecide) {
  // The first task was committed at submission at no cost; each of the others when the previous one ended.
  SimulatorOptions options;
  options.planner = {.depth = 1, .issue_depth = 1};
  options.planner.issue_ahead = Duration(1);
  options.charge_decisions = DecisionCost::per_committed_task(Duration(7));
  options.check_invariants_every = 1;
  Bench bench(disk_and_host(1), options);
  for (int t = 0; t < 4; ++t) bench.submit({}, 100);
  auto const report = bench.simulator.run();
  auto const charged = static_cast<Duration::rep>(report.statistics.tasks_committed) - 2;
  EXPECT_EQ(report.decision_time, Duration(7 * charged));
  EXPECT_EQ(nanoseconds(report.end), 400 + 7 * charged);
}

TEST(Simulator, LaterEventsWaitForAnEarlierDecision) {
  Witness witness;
  SimulatorOptions options;
  options.observers = {&witness};
  options.planner = {.depth = 1, .issue_depth = 1};
  options.charge_decisions = DecisionCost::per_committed_task(Duration(30));
  Bench bench(disk_and_host(3), options);
  for (int t = 0; t < 9; ++t) bench.submit({}, 100);
  auto const report = bench.simulator.run();
  EXPECT_THAT(witness.seen, IsSupersetOf({"ran 0-100 at 100", "ran 0-100 at 130", "ran 0-100 at 160"}));
  EXPECT_EQ(report.statistics.tasks_run, 9U);
}

TEST(Simulator, MeasuredDecisionsTakeTime) {
  SimulatorOptions options;
  options.charge_decisions = DecisionCost::measured();
  Bench bench(disk_and_host(2), options);
  for (int t = 0; t < 50; ++t) bench.submit({{bench.stored("d" + std::to_string(t), 10), AccessMode::ReadWrite}}, 100);
  auto const report = bench.simulator.run();
  EXPECT_GT(report.decision_time, Duration{0});
  EXPECT_EQ(report.statistics.tasks_run, 50U);
  EXPECT_GE(report.end - Instant{}, Duration(2500));
}

TEST(Simulator, RefusesDecisionsOfNegativeCost) {
  SimulatorOptions options;
  options.charge_decisions = DecisionCost::per_committed_task(Duration(-1));
  EXPECT_THROW(Bench(disk_and_host(1), options), InvalidArgument);
}

TEST(Simulator, StopsWhereItsClockEnds) {
  Bench bench(disk_and_host(1));
  DataId const a = bench.stored("a", 1000);
  for (int n = 0; n < 3; ++n) bench.submit({{a, AccessMode::ReadWrite}}, 2e18);
  try {
    bench.simulator.run();
    FAIL();
  } catch (InvalidArgument const& error) {
    EXPECT_STREQ(error.what(), "the simulated run takes more than 146 years, the limit of virtual time");
  }
}

TEST(Simulator, RepeatsExactly) {
  auto const run = [] {
    Journal journal;
    SimulatorOptions options;
    options.observers = {&journal};
    options.faults.copy_delay = Duration(700);
    options.faults.task_delay = Duration(300);
    options.faults.seed = 4;
    Bench bench(disk_and_host(3, 3000), options, make_policies("darts", "luf", 9));
    std::vector<DataId> data;
    for (int d = 0; d < 20; ++d) data.push_back(bench.stored("d" + std::to_string(d), 300));
    for (std::size_t t = 0; t < 100; ++t) {
      bench.submit({{data[t % 20], AccessMode::Read}, {data[(t * 7) % 20], AccessMode::ReadWrite}}, 100);
    }
    bench.simulator.run();
    return journal.commands();
  };
  auto const once = run();
  EXPECT_GT(once.size(), 300U);
  EXPECT_TRUE(once == run());
}

}  // namespace
}  // namespace granary::simulator_test
