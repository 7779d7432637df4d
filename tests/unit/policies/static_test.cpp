// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/policies/static/static.hpp>
#include <granary/detail/schedules/recorder/schedule_recorder.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace granary::static_test {

using namespace detail;

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Repair = StaticScheduler::Repair;

// A host with cores and devices that share its memory.
Machine machine_of(std::uint32_t cores, std::uint32_t devices) {
  Machine machine;
  auto const host = machine.add_node({.name = "host"});
  for (std::uint32_t c = 0; c < cores; ++c) machine.add_worker({.name = "core " + std::to_string(c), .node = host});
  for (std::uint32_t d = 0; d < devices; ++d) {
    machine.add_worker({.name = "gpu " + std::to_string(d), .node = host, .kind = WorkerKind::Device});
  }
  return machine;
}

// Microseconds of a codelet by its name: "name/core/device"; slow workers take a multiple.
class Times final : public GroundTruth, public Estimator {
 public:
  [[nodiscard]] Duration kernel_time(Task const&, Codelet const& codelet, Worker const& worker) const override {
    auto const found = slow.find(worker.name);
    return of(codelet, worker.kind) * (found == slow.end() ? 1 : found->second);
  }
  [[nodiscard]] bool runs_on(Codelet const& codelet, WorkerKind kind) const override {
    return of(codelet, kind) > Duration{0};
  }
  void codelet_added(CodeletId, Codelet const& codelet) override { m_codelets.push_back(codelet); }
  [[nodiscard]] Duration kernel_time(CodeletId codelet, double, WorkerKind kind) const override {
    return of(m_codelets[codelet.index()], kind);
  }
  void observe_kernel(CodeletId, double, WorkerKind, Duration) override {}

  std::map<std::string, int> slow = {};

 private:
  static Duration of(Codelet const& codelet, WorkerKind kind) {
    auto const slash = codelet.name.find('/', codelet.name.find('/') + (kind == WorkerKind::Device ? 1 : 0));
    return std::chrono::microseconds(std::stoi(codelet.name.substr(slash + 1)));
  }
  std::vector<Codelet> m_codelets;
};

struct GivenTask {
  std::string codelet;
  std::vector<std::uint32_t> reads;  // what earlier tasks write, by their numbers
};

struct Run {
  Schedule recorded;
  std::map<std::string, double> counters;
  [[nodiscard]] std::string where(std::size_t task) const { return recorded.workers[recorded.tasks[task].worker].name; }
  [[nodiscard]] long start(std::size_t task) const { return recorded.tasks[task].start.count() / 1000; }
  [[nodiscard]] long makespan() const { return recorded.makespan.count() / 1000; }
};

Run run(Machine const& machine, std::vector<GivenTask> const& tasks, std::unique_ptr<Scheduler> scheduler,
        Times times = {}) {
  ScheduleRecorder recorder(machine);
  SimulatorOptions options;
  options.planner.depth = 0;
  options.planner.issue_ahead = Duration{0};
  options.observers = {&recorder};
  auto truth = times;
  Simulator simulator(Topology(machine), {std::move(scheduler), make_eviction("lru")}, times, truth, options);
  std::map<std::string, CodeletId> codelets;
  std::vector<DataId> results;
  for (auto const& task : tasks) {
    if (!codelets.contains(task.codelet)) codelets[task.codelet] = simulator.add_codelet({.name = task.codelet});
    results.push_back(simulator.add_data({.name = "result", .bytes = 8}));
    std::vector<Access> accesses{{results.back(), AccessMode::Write}};
    for (auto const read : task.reads) accesses.push_back({results[read], AccessMode::Read});
    simulator.submit({.codelet = codelets[task.codelet], .accesses = accesses});
  }
  EXPECT_TRUE(simulator.run().failures.empty());
  Run result{recorder.schedule(), {}};
  for (auto const& [name, value] : simulator.planner().scheduler().counters()) result.counters[name] = value;
  return result;
}

struct Placed {
  std::string worker;
  long start = 0;
  long duration = 0;
};

// A schedule of these tasks: what a run of them records, placed otherwise. Ranks follow from the starts.
Schedule schedule_of(Machine const& machine, std::vector<GivenTask> const& tasks, std::vector<Placed> const& places) {
  auto schedule = run(machine, tasks, make_scheduler("eager")).recorded;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    auto& task = schedule.tasks[t];
    auto const found = std::ranges::find(schedule.workers, places[t].worker, &ScheduleWorker::name);
    task.worker = static_cast<std::uint32_t>(found - schedule.workers.begin());
    task.rank = static_cast<std::uint64_t>(places[t].start);
    task.start = std::chrono::microseconds(places[t].start);
    task.duration = std::chrono::microseconds(places[t].duration);
    schedule.makespan = std::max(schedule.makespan, task.start + task.duration);
  }
  return schedule;
}

std::unique_ptr<Scheduler> as_scheduled(Schedule schedule, StaticScheduler::Options options = {}) {
  return std::make_unique<StaticScheduler>("night.json", std::move(schedule), options);
}

TEST(Static, EachWorkerRunsItsTasksInTheFilesOrder) {
  auto const machine = machine_of(2, 1);
  std::vector<GivenTask> const tasks{{"a/10/1", {}}, {"a/10/1", {}}, {"a/10/1", {}}, {"b/4/4", {0}}};
  auto const schedule =
      schedule_of(machine, tasks, {{"core 1", 0, 10}, {"core 0", 20, 10}, {"core 0", 0, 10}, {"gpu 0", 10, 4}});
  auto const result = run(machine, tasks, as_scheduled(schedule));
  EXPECT_EQ(result.where(3), "gpu 0");
  // Nothing runs when the first task comes. It is not asked to wait for the others, which could never come.
  EXPECT_EQ(result.start(0), 0);
  EXPECT_EQ(result.start(2), 0);
  EXPECT_EQ(result.start(1), 10);
  EXPECT_EQ(result.start(3), 10);
  EXPECT_EQ(result.makespan(), 20);
}

TEST(Static, AnIdleWorkerWaitsForItsNextTaskWithoutRepair) {
  auto const machine = machine_of(1, 1);
  std::vector<GivenTask> const tasks{{"a/10/10", {}}, {"b/5/5", {0}}, {"b/5/5", {}}};
  std::vector<Placed> const places{{"core 0", 0, 10}, {"gpu 0", 10, 5}, {"gpu 0", 15, 5}};
  auto const schedule = schedule_of(machine, tasks, places);
  EXPECT_EQ(run(machine, tasks, as_scheduled(schedule)).start(2), 15);
  auto const repaired = run(machine, tasks, as_scheduled(schedule, {.repair = Repair::Auto}));
  EXPECT_EQ(repaired.start(2), 0) << "it ends before the first one is ready";
  EXPECT_EQ(repaired.makespan(), 15);
}

TEST(Static, AutoWaitsIfItsOwnTaskWillBeReadyBefore) {
  auto const machine = machine_of(1, 1);
  std::vector<GivenTask> const tasks{{"a/10/10", {}}, {"b/5/5", {0}}, {"c/13/13", {}}};
  auto const schedule = schedule_of(machine, tasks, {{"core 0", 0, 10}, {"gpu 0", 10, 5}, {"gpu 0", 15, 13}});
  EXPECT_EQ(run(machine, tasks, as_scheduled(schedule, {.repair = Repair::Auto})).start(2), 15);
}

// The device idles until task 0 has ended. The codelet "x" is the one that it accelerates most, "y" is second.
class Stealing : public testing::Test {
 public:
  Machine machine = machine_of(1, 1);
  std::vector<GivenTask> tasks{{"a/40/40", {}}, {"z/9/3", {0}}, {"z/9/3", {}}, {"x/30/1", {}}, {"y/20/2", {}}};
  Schedule schedule = schedule_of(
      machine, tasks, {{"core 0", 0, 40}, {"gpu 0", 40, 3}, {"core 0", 40, 9}, {"core 0", 49, 20}, {"core 0", 69, 30}});
  [[nodiscard]] std::vector<std::string> where(Repair repair) const {
    auto const result = run(machine, tasks, as_scheduled(schedule, {.repair = repair}));
    return {result.where(2), result.where(4), result.where(3)};
  }
};

TEST_F(Stealing, IsOfTheCodeletsWithTheTopAccelerations) {
  EXPECT_THAT(where(Repair::None), ElementsAre("core 0", "core 0", "core 0"));
  EXPECT_THAT(where(Repair::Top), ElementsAre("core 0", "core 0", "gpu 0"));
  EXPECT_THAT(where(Repair::TopTwo), ElementsAre("core 0", "gpu 0", "gpu 0"));
  EXPECT_THAT(where(Repair::Auto), ElementsAre("gpu 0", "gpu 0", "gpu 0"))
      << "all end before the core would start them";
}

TEST(Static, TasksOfAWorkerThatTheMachineLacksAreDealtOut) {
  auto const three = machine_of(0, 3);
  std::vector<GivenTask> const tasks(6, {"x/0/6", {}});
  std::vector<Placed> places;
  for (int t = 0; t < 6; ++t) places.push_back({"gpu " + std::to_string(t % 3), t / 3 * 6, 6});
  auto const schedule = schedule_of(three, tasks, places);
  EXPECT_EQ(run(three, tasks, as_scheduled(schedule)).makespan(), 12);
  auto const result = run(machine_of(0, 2), tasks, as_scheduled(schedule));
  EXPECT_EQ(result.makespan(), 18);
  EXPECT_EQ(result.counters.at("dealt"), 2);
}

TEST(Static, WorkersAreFoundByNameThenByNodeThenByKind) {
  Schedule schedule;
  schedule.workers = {{"gpu 1", WorkerKind::Device, "host"},
                      {"other", WorkerKind::Device, "host"},
                      {"third", WorkerKind::Device, "elsewhere"},
                      {"gpu 0", WorkerKind::Cpu, "host"}};
  schedule.codelets = {"x"};
  for (std::uint32_t w = 0; w < 4; ++w) schedule.tasks.push_back({.worker = w});
  StaticPlan const plan(schedule, machine_of(1, 3));
  std::vector<std::uint32_t> workers;
  for (std::uint32_t t = 0; t < 4; ++t) workers.push_back(plan.worker(plan.place_of(t)).value());
  EXPECT_THAT(workers, ElementsAre(2, 1, 3, 0));
  StaticPlan const fewer(schedule, machine_of(0, 2));
  EXPECT_TRUE(fewer.worker(fewer.place_of(1)).valid());
  EXPECT_FALSE(fewer.worker(fewer.place_of(2)).valid());
  EXPECT_FALSE(fewer.worker(fewer.place_of(3)).valid());
}

TEST(Static, TheRankCountsMoreThanTheStart) {
  Schedule schedule;
  schedule.workers = {{"core 0", WorkerKind::Cpu, "host"}, {"core 1", WorkerKind::Cpu, "host"}};
  schedule.codelets = {"x"};
  schedule.tasks = {{.worker = 0, .rank = 2, .start = Duration(1)},
                    {.worker = 0, .rank = 1, .start = Duration(5)},
                    {.worker = 1, .rank = 9, .start = Duration(3)}};
  StaticPlan const plan(schedule, machine_of(2, 0));
  EXPECT_THAT((std::vector{plan.place_of(0), plan.place_of(1), plan.place_of(2)}), ElementsAre(2, 1, 0));
}

TEST(Static, AnOrderThatCannotBeKeptIsNot) {
  auto const machine = machine_of(2, 0);
  std::vector<GivenTask> const tasks{{"a/5/0", {}}, {"a/5/0", {0}}, {"a/5/0", {}}, {"a/5/0", {2}}};
  // Each worker's first task waits for the other's second one.
  auto const schedule =
      schedule_of(machine, tasks, {{"core 0", 9, 5}, {"core 1", 0, 5}, {"core 1", 9, 5}, {"core 0", 0, 5}});
  auto const result = run(machine, tasks, as_scheduled(schedule));
  EXPECT_GE(result.counters.at("stalls"), 1);
  EXPECT_EQ(result.where(0), "core 0");
}

TEST(Static, AnotherGraphIsRefusedByItsFirstOtherTask) {
  auto const machine = machine_of(1, 0);
  std::vector<GivenTask> const tasks{{"a/5/0", {}}, {"b/5/0", {0}}, {"a/5/0", {}}};
  auto const schedule = schedule_of(machine, tasks, {{"core 0", 0, 5}, {"core 0", 5, 5}, {"core 0", 10, 5}});
  auto const refusal = [&](std::vector<GivenTask> const& other) {
    return test::message_of([&] { (void)run(machine, other, as_scheduled(schedule)); });
  };
  EXPECT_EQ(refusal(tasks), "");
  EXPECT_EQ(refusal({tasks[0], {"c/5/0", {0}}}),
            "task 1 ('c/5/0') is not the one of the schedule night.json, which is of another graph: there it is "
            "'b/5/0'");
  EXPECT_THAT(refusal({tasks[0], {"b/5/0", {}}}),
              AllOf(HasSubstr("task 1 ('b/5/0')"), HasSubstr("its flops, its variant or its accesses differ")));
  EXPECT_EQ(refusal({tasks[0], tasks[1], tasks[2], tasks[0]}),
            "task 3 ('a/5/0') is not in the schedule night.json, which has 3 tasks");
  auto const any =
      run(machine, {tasks[0], {"c/5/0", {0}}, tasks[2], tasks[0]}, as_scheduled(schedule, {.any_graph = true}));
  EXPECT_EQ(any.recorded.tasks.size(), 4U);
}

TEST(Static, ARefusedTaskChangesNothing) {
  auto const machine = machine_of(1, 0);
  std::vector<GivenTask> const tasks{{"a/5/0", {}}, {"b/5/0", {}}};
  auto const schedule = schedule_of(machine, tasks, {{"core 0", 0, 5}, {"core 0", 5, 5}});
  Times times;
  Simulator simulator(Topology(machine), {as_scheduled(schedule), make_eviction("lru")}, times, times);
  auto const a = simulator.add_codelet({.name = "a/5/0"});
  auto const b = simulator.add_codelet({.name = "b/5/0"});
  auto const submit = [&](CodeletId codelet) {
    auto const data = simulator.add_data({.name = "result", .bytes = 8});
    Access const accesses[] = {{data, AccessMode::Write}};
    simulator.submit({.codelet = codelet, .accesses = accesses});
  };
  EXPECT_THROW(submit(b), InvalidArgument);
  EXPECT_EQ(simulator.planner().live_tasks(), 0U);
  submit(a);
  submit(b);
  EXPECT_EQ(simulator.run().statistics.tasks_run, 2U);
}

TEST(Static, NeedsAFile) {
  EXPECT_EQ(test::message_of([] { (void)make_scheduler("static"); }),
            "policy 'static' needs the file of a schedule: static:file=FILE (granary-simulate --save-schedule)");
  EXPECT_THAT(scheduler_names(), testing::Not(testing::Contains("static")));
  EXPECT_THAT(all_scheduler_names(), testing::Contains("static"));
  EXPECT_THROW((void)make_scheduler("static:file=none.json"), IoError);
  EXPECT_THAT(test::message_of([] { (void)make_scheduler("static:file=none.json:repair=all"); }),
              HasSubstr("must be one of none, g, gs, auto"));
  EXPECT_EQ(default_eviction("static"), "belady");
}

TEST(Static, ReadsItsFile) {
  auto const machine = machine_of(2, 0);
  std::vector<GivenTask> const tasks{{"a/5/0", {}}, {"b/5/0", {0}}};
  auto const schedule = schedule_of(machine, tasks, {{"core 1", 0, 5}, {"core 0", 5, 5}});
  auto const file = std::filesystem::temp_directory_path() / ("granary-static-" + std::to_string(::getpid()) + ".json");
  write_schedule(file, schedule);
  for (std::string const options : {"", ":repair=g", ":repair=gs", ":repair=auto", ":times=refresh", ":graph=any"}) {
    auto const result = run(machine, tasks, make_scheduler("static:file=" + file.string() + options));
    EXPECT_EQ(result.makespan(), 10) << options;
  }
  std::filesystem::remove(file);
}

TEST(StaticLane, SumsTheTasksBeforeAPlace) {
  StaticLane lane({2, 5, 9});
  for (auto const place : {2U, 5U, 9U}) lane.insert(place, Duration(place));
  EXPECT_EQ(lane.before(2), Duration(0));
  EXPECT_EQ(lane.before(9), Duration(7));
  EXPECT_EQ(lane.before(100), Duration(16));
  lane.insert(7, Duration(70));
  EXPECT_EQ(lane.before(7), Duration(7));
  EXPECT_EQ(lane.before(8), Duration(77));
  EXPECT_EQ(lane.before(9), Duration(77));
  EXPECT_EQ(lane.before(10), Duration(86));
  lane.make_ready(5);
  lane.erase(5, Duration(5));
  EXPECT_TRUE(lane.ready().empty());
  EXPECT_EQ(lane.before(10), Duration(81));
  EXPECT_EQ(lane.first(), 2U);
}

TEST(StaticLane, CountsTasksThatAreNotPlannedThere) {
  StaticLane lane;
  lane.insert(3, Duration(30));
  EXPECT_EQ(lane.before(3), Duration(0));
  EXPECT_EQ(lane.before(5), Duration(30));
  lane.erase(3, Duration(30));
  EXPECT_EQ(lane.before(5), Duration(0));
}

TEST(StaticPace, TellsASlowWorkerFromASlowCodelet) {
  StaticPace pace(3);
  CodeletId const gemm{0};
  CodeletId const trsm{1};
  for (int i = 0; i < 100; ++i) {
    for (std::uint32_t w = 0; w < 3; ++w) {
      int const slow = w == 2 ? 2 : 1;
      pace.measured(gemm, WorkerKind::Device, WorkerId(w), Duration(100), Duration(130 * slow));
      pace.measured(trsm, WorkerKind::Device, WorkerId(w), Duration(100), Duration(70 * slow));
    }
  }
  double const normal = pace.of_worker(WorkerId(0));
  EXPECT_NEAR(pace.of_worker(WorkerId(2)) / normal, 2, 0.1);
  EXPECT_NEAR(pace.of_codelet(gemm, WorkerKind::Device) * normal, 1.3, 0.1);
  EXPECT_NEAR(pace.of_codelet(trsm, WorkerKind::Device) * normal, 0.7, 0.1);
  EXPECT_EQ(pace.of_codelet(gemm, WorkerKind::Cpu), 1);
  EXPECT_EQ(pace.of_codelet(CodeletId(7), WorkerKind::Cpu), 1);
}

}  // namespace
}  // namespace granary::static_test
