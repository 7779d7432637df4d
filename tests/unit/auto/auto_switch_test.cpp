// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedulers that take over in the middle of a run, and schedules.
#include "auto_stage.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/schedules/recorder/schedule_recorder.hpp>

#include <unistd.h>

#include <gmock/gmock.h>

#include <filesystem>

namespace granary::auto_scheduler_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(AutoInMidRun, DoesNotChooseAgainWhileAllIsAsBelieved) {
  Stage stage(cores(4), own_policies("auto:candidates=auto-test-one+auto-test-all"));
  stage.submit_free(2000);
  stage.run(2000);
  EXPECT_EQ(stage.counter("choices"), 1);
}

TEST(AutoInMidRun, ChoosesAgainWhenHalfOfWhatWaitsIsNew) {
  Stage stage(cores(4), own_policies("auto:candidates=auto-test-one+auto-test-all"));
  stage.submit_free(400);
  stage.step_until(100);
  stage.submit_free(40);
  stage.step_until(150);
  EXPECT_EQ(stage.counter("choices"), 1);
  stage.submit_free(400);
  stage.step_until(200);
  EXPECT_EQ(stage.counter("choices"), 2);
  EXPECT_THAT(stage.remark(), StartsWith("auto-test-all: "));
  stage.run(840);
}

TEST(AutoInMidRun, ChoosesAgainWhenWorkersBecomeSlower) {
  SimulatorOptions options;
  options.check_invariants_every = 16;
  for (std::uint32_t w = 0; w < 4; ++w)
    options.slow.push_back({detail::WorkerId(w), 3, detail::Instant(std::chrono::milliseconds(40))});
  Stage stage(cores(4), own_policies("auto:candidates=auto-test-one+auto-test-all"), options);
  stage.submit_free(2000);
  stage.run(2000);
  EXPECT_GE(stage.counter("choices"), 2);
  EXPECT_THAT(stage.remark(), StartsWith("auto-test-all: "));
}

// The choices in a run of so many tasks of 1 ms on four cores that become slower by `factor` after 40 ms.
double choices_with_slower_workers(std::size_t tasks, double factor, std::string const& simulated) {
  SimulatorOptions options;
  for (std::uint32_t w = 0; w < 4; ++w)
    options.slow.push_back({detail::WorkerId(w), factor, detail::Instant(std::chrono::milliseconds(40))});
  Stage stage(cores(4), own_policies("auto:candidates=auto-test-one+auto-test-all:tasks=" + simulated), options);
  stage.submit_free(static_cast<int>(tasks));
  stage.run(tasks);
  return stage.counter("choices");
}

TEST(AutoInMidRun, PartsOverruleNoChoiceAmongWholeRuns) {
  EXPECT_EQ(choices_with_slower_workers(10'000, 2, "26500"), 1) << "3,250 of each are left, less than the whole";
  EXPECT_GE(choices_with_slower_workers(10'000, 2, "60000"), 2);
}

TEST(AutoInMidRun, DoesNotChooseAgainFromTooFewTasks) {
  // The first choice simulates 400 tasks of each. Of more than 4,000 new ones, 3,000 of each are enough.
  for (auto const& [simulated, choices] : {std::pair{"5000", 1}, std::pair{"7000", 2}}) {
    Stage stage(cores(4), own_policies("auto:candidates=auto-test-one+auto-test-all:tasks=" + std::string(simulated)));
    stage.submit_free(400);
    stage.step_until(100);
    stage.submit_free(4000);
    stage.run(4400);
    EXPECT_EQ(stage.counter("choices"), choices) << simulated;
  }
}

TEST(AutoInMidRun, LeavesAKindOfWorkerThatIsSlowerThanBelieved) {
  // The device is believed to be 20 times as fast as a core, and is not half as fast.
  register_toys();
  detail::AveragingEstimator estimator;
  auto const truth = speeds(1e-9, 2.5e-9);
  Simulator simulator(detail::Topology(cores_and_device(2, unbounded)),
                      own_policies("auto:candidates=auto-test-devices+auto-test-cpus:tasks=1000000"), estimator, truth);
  auto const codelet = simulator.add_codelet({.name = "work", .kernels = {no_kernel, no_kernel}});
  estimator.observe_kernel(codelet, 1e6, detail::WorkerKind::Cpu, std::chrono::milliseconds(1));
  estimator.observe_kernel(codelet, 1e6, detail::WorkerKind::Device, std::chrono::microseconds(50));
  for (int t = 0; t < 600; ++t) simulator.submit({.codelet = codelet, .accesses = {}, .flops = one_millisecond});
  while (simulator.planner().scheduler().remark().empty()) ASSERT_TRUE(simulator.step());
  EXPECT_THAT(simulator.planner().scheduler().remark(), StartsWith("auto-test-devices: "));
  EXPECT_EQ(simulator.run().statistics.tasks_run, 600U);
  EXPECT_THAT(simulator.planner().scheduler().remark(), StartsWith("auto-test-cpus: "));
}

// On 19 cores and a device as fast as one of them: a scheduler that uses all takes 95 % of the time of the first one.
TEST(AutoInMidRun, AChangeIsWorthWhatItGainsBeyondTheDataInMemories) {
  for (Bytes const stored : {Bytes{1'000}, Bytes{100'000'000}}) {
    Stage stage(cores_and_device(19, unbounded), starting_with("auto-test-cpus", {"auto-test-cpus", "auto-test-all"}));
    stage.beliefs.needed = 1;
    auto const usual = std::exchange(
        stage.codelet, stage.simulator.add_codelet({.name = "on cores", .kernels = {no_kernel, nullptr}}));
    std::vector<DataId> data;
    for (int d = 0; d < 10; ++d) data.push_back(stage.stored(stored));
    for (std::size_t t = 0; t < 400; ++t) stage.submit({{data[t % data.size()], detail::AccessMode::Read}});
    stage.step_until(400);
    EXPECT_EQ(stage.counter("choices"), 1);
    EXPECT_THAT(stage.remark(), StartsWith("auto-test-cpus: "));
    stage.codelet = usual;
    stage.submit_free(4000);
    stage.run(4400);
    EXPECT_EQ(stage.counter("choices"), 2);
    bool const changes = stored == 1'000;
    EXPECT_THAT(stage.remark(), StartsWith(changes ? "auto-test-all: " : "auto-test-cpus: ")) << stored;
  }
}

// Every pair of 12 rows and 12 columns, of which memory holds 8, on one core; the disk is never waited for. "eager"
// moves more, but not if memory holds all.
std::string chosen_for_pairs(std::string const& first, std::vector<std::string> const& candidates, bool all_fit) {
  Stage stage(cores(1, all_fit ? unbounded : Bytes{8 * 4096}), starting_with(first, candidates));
  stage.beliefs.needed = 1;
  std::vector<DataId> data;
  for (int d = 0; d < 24; ++d) data.push_back(stage.stored(4096));
  for (std::size_t row = 0; row < 12; ++row) {
    for (std::size_t column = 12; column < 24; ++column)
      stage.submit({{data[row], detail::AccessMode::Read}, {data[column], detail::AccessMode::Read}});
  }
  stage.run(144);
  return stage.remark();
}

TEST(AutoInMidRun, OfEquallyFastOnesTheOneThatMovesFewBytesGoesOn) {
  EXPECT_THAT(chosen_for_pairs("eager", {"planned", "eager"}, false), StartsWith("planned: "));
  EXPECT_THAT(chosen_for_pairs("eager", {"planned", "eager"}, true), StartsWith("eager: "));
}

TEST(AutoInMidRun, OfEquallyFastCandidatesTheOneWithTheFewestBytesComesBeforeTheLikelier) {
  EXPECT_THAT(chosen_for_pairs("auto-test-one", {"eager", "planned"}, false), StartsWith("planned: "));
  EXPECT_THAT(chosen_for_pairs("auto-test-one", {"eager", "planned"}, true), StartsWith("eager: "));
}

TEST(AutoInMidRun, WorkersThatTheFirstOneLeftIdleWorkForTheNext) {
  Stage stage(cores_and_device(2, unbounded),
              starting_with("auto-test-devices", {"auto-test-devices", "auto-test-all"}));
  stage.beliefs.needed = 1;
  stage.submit_free(300);
  EXPECT_NEAR(stage.run(300), 0.1, 0.003);
  EXPECT_EQ(stage.counter("choices"), 1);
}

TEST(AutoInMidRun, TheNextOneIsToldWhatWaitsAndWhatIsWhere) {
  SimulatorOptions options;
  options.check_invariants_every = 1;
  Stage stage(cores_and_device(2, 20'000), own_policies("auto:candidates=auto-test-one+auto-test-all"), options);
  std::vector<DataId> data;
  for (int d = 0; d < 40; ++d) data.push_back(stage.stored(1000));
  std::vector<TaskId> tasks;
  for (std::size_t t = 0; t < 200; ++t) {
    tasks.push_back(stage.submit({{data[t % 40], t % 3 == 0 ? detail::AccessMode::ReadWrite : detail::AccessMode::Read},
                                  {data[t * 7 % 40], detail::AccessMode::Read}}));
  }
  while (stage.told().times == 0) ASSERT_TRUE(stage.simulator.step());
  // Nothing but the end of the first task has happened, and what that led to.
  auto const& told = stage.told();
  EXPECT_TRUE(std::ranges::is_sorted(told.submitted));
  EXPECT_TRUE(std::ranges::includes(tasks, told.submitted));
  EXPECT_GT(told.submitted.size(), 150U);
  EXPECT_LT(told.submitted.size(), 200U) << "some were committed";
  EXPECT_TRUE(std::ranges::includes(told.submitted, told.ready));
  EXPECT_FALSE(told.ready.empty());
  Places on_device;
  auto const& view = stage.simulator.planner().view();
  for (DataId const id : data) {
    if (view.valid(id, NodeId(2))) on_device.emplace(id, NodeId(2));
  }
  EXPECT_FALSE(on_device.empty());
  EXPECT_TRUE(std::ranges::includes(told.valid, on_device));
  EXPECT_TRUE(std::ranges::includes(told.expected, told.valid));
  Places in_limited;
  for (auto const& place : told.expected) {
    if (place.second == NodeId(2)) in_limited.insert(place);
  }
  EXPECT_EQ(told.evictable, in_limited) << "its eviction policy knows the same replicas";
  auto const report = stage.simulator.run();
  EXPECT_EQ(report.statistics.tasks_run, 200U);
  EXPECT_GT(report.evictions, 0U);
}

TEST(AutoInMidRun, TasksThatCommuteKeepTheirTurns) {
  SimulatorOptions options;
  options.check_invariants_every = 1;
  for (auto const* const candidates : {"auto-test-one+auto-test-all", "eager+lws", "planned+eager", "dmdas+planned"}) {
    Stage stage(cores(4), own_policies(std::string("auto:candidates=") + candidates), options);
    std::array const data{stage.stored(100), stage.stored(100), stage.stored(100)};
    for (std::size_t t = 0; t < 300; ++t) {
      stage.submit({{data[t % 3], detail::AccessMode::Commute},
                    {data[t / 2 % 3], t % 50 == 0 ? detail::AccessMode::Read : detail::AccessMode::Commute}});
    }
    stage.run(300);
    EXPECT_GE(stage.counter("choices"), 1) << candidates;
  }
}

TEST(AutoInMidRun, CancelledTasksAreForgotten) {
  SimulatorOptions options;
  options.check_invariants_every = 1;
  for (std::uint64_t const before : {0, 1, 30}) {
    Stage stage(cores(4), own_policies("auto:candidates=auto-test-one+auto-test-all"), options);
    DataId const data = stage.stored(100);
    for (int t = 0; t < 100; ++t) stage.submit({{data, detail::AccessMode::Commute}});
    stage.submit_free(100);
    stage.submit({{data, detail::AccessMode::ReadWrite}});
    stage.step_until(before);
    stage.simulator.cancel_all(std::make_exception_ptr(Error("enough")));
    auto const report = stage.simulator.run();
    EXPECT_EQ(report.statistics.tasks_run + report.statistics.tasks_cancelled, 201U);
    EXPECT_GT(report.statistics.tasks_cancelled, 100U);
    auto const ran = report.statistics.tasks_run;
    stage.submit_free(100);
    stage.run(ran + 100);
    EXPECT_GE(stage.counter("choices"), 1) << before;
  }
}

TEST(AutoInMidRun, TasksThatComeBackRunAgain) {
  SimulatorOptions options;
  options.check_invariants_every = 1;
  options.planner.issue_depth = 1;
  for (std::uint64_t t = 0; t < 200; t += 2) options.faults.returns.insert(TaskId(t));
  Stage stage(cores(4), own_policies("auto:candidates=auto-test-one+auto-test-all"), options);
  DataId const data = stage.stored(100);
  for (int t = 0; t < 100; ++t) stage.submit({{data, detail::AccessMode::Commute}});
  stage.submit_free(100);
  stage.run(200);
  EXPECT_GE(stage.counter("choices"), 1);
}

// The schedule in a file: each task on the core with the number of its place in the order of submission.
class AutoWithASchedule : public testing::Test {
 public:
  static constexpr int tasks = 120;
  void SetUp() override {
    register_toys();
    ScheduleRecorder recorder(cores(4));
    Stage stage(cores(4), make_policies("eager", "lru"), {.observers = {&recorder}});
    submit(stage);
    stage.run(tasks);
    auto schedule = recorder.schedule();
    for (std::uint32_t t = 0; t < tasks; ++t) {
      schedule.tasks[t].worker = t % 4;
      schedule.tasks[t].rank = t / 4;
    }
    write_schedule(file, schedule);
  }
  void TearDown() override { std::filesystem::remove(file); }
  // No two tasks are alike. The fourth core gets the longest ones.
  static void submit(Stage& stage) {
    for (int t = 0; t < tasks; ++t) stage.submit({}, (1 + t % 4 + 0.001 * t) * one_millisecond);
  }
  [[nodiscard]] std::string with(std::string const& candidates) const {
    return "auto:candidates=" + candidates + ":schedule=" + file.string();
  }
  std::filesystem::path const file =
      std::filesystem::temp_directory_path() / ("granary-auto-" + std::to_string(::getpid()) + ".json");
};

TEST_F(AutoWithASchedule, FollowsItIfItIsTheFastest) {
  ScheduleRecorder recorder(cores(4));
  Stage stage(cores(4), own_policies(with("auto-test-one")), {.observers = {&recorder}});
  submit(stage);
  stage.run(tasks);
  EXPECT_THAT(stage.remark(), AllOf(StartsWith("static:file="), HasSubstr("; auto-test-one ")));
  EXPECT_EQ(stage.counter("dealt"), 0) << "each task has its place there";
}

TEST_F(AutoWithASchedule, LeavesItIfAnotherIsFaster) {
  Stage stage(cores(4), own_policies(with("auto-test-all")));
  submit(stage);
  stage.run(tasks);
  EXPECT_THAT(stage.remark(), AllOf(StartsWith("auto-test-all: "), HasSubstr("; static:file=")));
}

TEST_F(AutoWithASchedule, OfFewerTasksItIsNoCandidate) {
  Stage stage(cores(4), own_policies(with("auto-test-one")));
  submit(stage);
  stage.submit_free(10);
  stage.run(tasks + 10);
  EXPECT_THAT(stage.remark(), AllOf(StartsWith("auto-test-one: "), Not(HasSubstr("static"))));
}

TEST_F(AutoWithASchedule, LaterTasksThatItDoesNotHaveRunToo) {
  Stage stage(cores(4), own_policies(with("auto-test-one")));
  submit(stage);
  stage.step_until(40);
  EXPECT_THAT(stage.remark(), StartsWith("static:file="));
  stage.submit_free(60);
  EXPECT_EQ(stage.counter("dealt"), -1) << "another scheduler has taken over";
  stage.run(tasks + 60);
}

}  // namespace
}  // namespace granary::auto_scheduler_test
