// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Submission, order, and the tasks that workers get.
#include "hand.hpp"

#include <granary/detail/core/base/error.hpp>

#include <gmock/gmock.h>

namespace granary::test {

using namespace detail;

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Planner, RunsATaskAfterThoseItDependsOn) {
  Hand hand(disk_and_host(1000, 8, 3));
  DataId const a = hand.temporary("a", 10);
  DataId const b = hand.temporary("b", 10);
  TaskId const writes_a = hand.submit({write(a)});
  TaskId const reads_a = hand.submit({read(a), write(b)});
  TaskId const also_reads_a = hand.submit({read(a)});
  TaskId const overwrites_a = hand.submit({write(a)});
  EXPECT_TRUE(hand.runs_now(writes_a));
  EXPECT_EQ(hand.runs.size(), 1U);
  hand.finish(writes_a);
  EXPECT_TRUE(hand.runs_now(reads_a));
  EXPECT_TRUE(hand.runs_now(also_reads_a));
  EXPECT_FALSE(hand.runs_now(overwrites_a));
  hand.finish(reads_a);
  EXPECT_FALSE(hand.runs_now(overwrites_a));
  hand.finish(also_reads_a);
  EXPECT_TRUE(hand.runs_now(overwrites_a));
  EXPECT_FALSE(hand.planner.idle());
  hand.finish(overwrites_a);
  EXPECT_TRUE(hand.planner.idle());
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
  EXPECT_EQ(hand.planner.statistics().tasks_run, 4U);
}

TEST(Planner, TasksReleasedTogetherRunInTheOrderOfSubmission) {
  Hand hand(disk_and_host(1000));
  DataId const a = hand.temporary("a", 10);
  hand.submit({write(a)});
  for (int t = 1; t < 12; ++t) hand.submit({read(a)});
  hand.finish_all();
  EXPECT_THAT(hand.order_of_runs(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

// The cores' group is the first, and the data are in the memory of both.
TEST(Planner, AnIdleDeviceIsAskedBeforeAnIdleCore) {
  for (auto const* scheduler : {"eager", "lfq", "heteroprio:limit=0"}) {
    Machine machine = disk_and_host(1000, 8, 2);
    machine.add_worker({.name = "gpu", .node = host_node, .kind = WorkerKind::Device});
    Hand hand(std::move(machine), {.depth = 0}, scheduler);
    DataId const a = hand.temporary("a", 10);
    TaskId const first = hand.submit({write(a)});
    std::vector<TaskId> readers;
    for (int t = 0; t < 3; ++t) readers.push_back(hand.submit({read(a)}));
    ASSERT_EQ(hand.runs.size(), 1U) << scheduler;
    EXPECT_EQ(hand.runs[0].worker, WorkerId(2)) << scheduler;
    hand.finish(first);
    ASSERT_EQ(hand.runs.size(), 3U) << scheduler;
    EXPECT_EQ(hand.runs[0].worker, WorkerId(2)) << scheduler;
  }
}

TEST(Planner, RetiresEachTaskOnce) {
  Hand hand(disk_and_host(1000));
  DataId const a = hand.temporary("a", 10);
  for (int i = 0; i < 5; ++i) hand.submit({write(a)});
  hand.finish_all();
  std::vector<std::uint64_t> retired;
  for (auto const& command : hand.logged<RetireCommand>()) retired.push_back(command.task.value());
  EXPECT_THAT(retired, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(hand.order_of_runs(), ElementsAre(0, 1, 2, 3, 4));
}

TEST(Planner, RunsATaskWithoutData) {
  Hand hand(disk_and_host(1000));
  TaskId const task = hand.submit({});
  EXPECT_TRUE(hand.runs_now(task));
  hand.finish(task);
  EXPECT_TRUE(hand.planner.idle());
}

TEST(Planner, MergesRepeatedAccesses) {
  Hand hand(disk_and_host(100));
  DataId const a = hand.stored("a", 100);
  TaskId const task = hand.submit({read(a), write(a), read(a)});
  hand.finish_copies();
  EXPECT_TRUE(hand.runs_now(task));
  hand.finish_all();
  EXPECT_EQ(hand.planner.statistics().nodes[1].peak, 100U);
}

TEST(Planner, SaysWhereWorkersFindTheData) {
  Hand hand(disk_and_host(1000));
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.temporary("b", 50);
  hand.submit({read(a), write(b)});
  hand.finish_copies();
  ASSERT_EQ(hand.runs.size(), 1U);
  auto const allocated = hand.logged<Allocated>();
  ASSERT_EQ(allocated.size(), 2U);
  auto const& run = hand.runs[0];
  ASSERT_EQ(run.places.size(), 2U);
  for (auto const& place : allocated) {
    auto const& given = run.places[run.description->accesses[0].data == place.data ? 0 : 1];
    EXPECT_EQ(given, (Place{host_node, Slot::Pool, place.offset}));
  }
  EXPECT_TRUE(run.varying.empty() && run.kept.empty());
}

TEST(Planner, CommitsNoMoreTasksThanItsDepthAhead) {
  for (std::uint32_t const depth : {1U, 2U, 4U}) {
    Hand hand(disk_and_host(10000), {.depth = depth, .write_back_early = false});
    for (int i = 0; i < 10; ++i) hand.submit({read(hand.stored("d" + std::to_string(i), 100))});
    EXPECT_EQ(hand.copies.size(), depth);
    hand.finish_copy();
    EXPECT_EQ(hand.runs.size(), 1U);
    EXPECT_EQ(hand.logged<CopyCommand>().size(), depth + 1);
    hand.finish_all();
    EXPECT_EQ(hand.planner.statistics().tasks_run, 10U);
  }
}

TEST(Planner, CommitsOnlyToIdleWorkersWithADepthOf0) {
  Hand hand(disk_and_host(10000, 8, 2), {.depth = 0, .write_back_early = false});
  for (int i = 0; i < 5; ++i) hand.submit({read(hand.stored("d" + std::to_string(i), 100))});
  EXPECT_EQ(hand.copies.size(), 2U);
  hand.finish_copy();
  EXPECT_EQ(hand.runs.size(), 1U);
  EXPECT_EQ(hand.logged<CopyCommand>().size(), 2U);
  hand.finish_copy();
  EXPECT_EQ(hand.runs.size(), 2U);
  EXPECT_EQ(hand.logged<CopyCommand>().size(), 2U);
  hand.finish(hand.runs.front().task);
  EXPECT_EQ(hand.logged<CopyCommand>().size(), 3U);
  hand.finish_all();
  EXPECT_EQ(hand.planner.statistics().tasks_run, 5U);
}

TEST(Planner, HandsAWorkerFewTasksAhead) {
  PlannerOptions options{.depth = 8, .issue_ahead = std::chrono::seconds(1), .issue_depth = 3};
  Hand hand(disk_and_host(1000), options);
  for (int i = 0; i < 10; ++i) hand.submit({});
  EXPECT_EQ(hand.runs.size(), 3U);
  hand.finish(hand.runs.front().task);
  EXPECT_EQ(hand.runs.size(), 3U);
  options.issue_ahead = Duration{0};
  Hand careful(disk_and_host(1000), options);
  for (int i = 0; i < 10; ++i) careful.submit({});
  EXPECT_EQ(careful.runs.size(), 1U);
}

TEST(Planner, HandsADeviceWorkerSecondTasksWhateverTheyTake) {
  PlannerOptions options{.depth = 8, .issue_ahead = Duration{0}, .issue_depth = 3, .device_issue = 2};
  Hand device(three_levels(1000, 1000), options);
  for (int i = 0; i < 10; ++i) device.submit({});
  EXPECT_EQ(device.runs.size(), 2U);
  device.finish(device.runs.front().task);
  EXPECT_EQ(device.runs.size(), 2U);
  Hand host(disk_and_host(1000), options);
  for (int i = 0; i < 10; ++i) host.submit({});
  EXPECT_EQ(host.runs.size(), 1U);
  options.device_issue = 0;
  EXPECT_THROW(Hand(three_levels(1000, 1000), options), InvalidArgument);
}

TEST(Planner, RefusesATaskThatCanNeverFitByNameWithTheNumbers) {
  Hand hand(disk_and_host(250));
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  DataId const c = hand.stored("c", 100);
  try {
    hand.submit({read(a), read(b), read_write(c)});
    FAIL() << "accepted";
  } catch (MemoryLimitError const& error) {
    EXPECT_THAT(error.what(), HasSubstr("'work'"));
    EXPECT_THAT(error.what(), HasSubstr("'host'"));
    EXPECT_THAT(error.what(), HasSubstr("300 bytes"));
    EXPECT_THAT(error.what(), HasSubstr("250 bytes"));
  }
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
  EXPECT_TRUE(hand.log.empty());
}

TEST(Planner, CompletesAtExactlyTheMinimumThatTheMessageNames) {
  Machine machine = disk_and_host(100);
  machine.nodes[1].alignment = 64;
  auto const play = [&](Bytes capacity) {
    machine.nodes[1].capacity = capacity;
    Hand hand(machine, {.depth = 4});
    std::vector<DataId> data;
    for (int i = 0; i < 6; ++i) data.push_back(hand.stored("d" + std::to_string(i), static_cast<Bytes>(50 + 10 * i)));
    for (std::size_t i = 0; i < data.size(); ++i) {
      for (std::size_t j = 0; j < data.size(); ++j) {
        if (i != j) hand.submit({read(data[i]), read_write(data[j])});
      }
    }
    hand.finish_all();
    hand.flush();
    hand.finish_all();
    EXPECT_TRUE(hand.planner.idle());
    EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
    EXPECT_EQ(hand.planner.statistics().tasks_run, 30U);
    EXPECT_LE(hand.planner.statistics().nodes[1].peak, capacity);
  };
  // The two largest data, 90 and 100 bytes, take 128 each; the message has the first that does not fit.
  Bytes capacity = 1;
  for (int attempt = 0;; ++attempt) {
    ASSERT_LT(attempt, 10);
    try {
      play(capacity);
      break;
    } catch (MemoryLimitError const& error) {
      std::string const text = error.what();
      Bytes const named = std::stoull(text.substr(text.find("at least ") + 9));
      ASSERT_GT(named, capacity);
      capacity = named;
    }
  }
  EXPECT_EQ(capacity, 256U);
}

TEST(Planner, RefusesWhatItDoesNotKnow) {
  Hand hand(disk_and_host(1000));
  DataId const a = hand.stored("a", 10);
  DataId const empty = hand.temporary("empty", 10);
  EXPECT_THROW(hand.submit({read(DataId(77))}), InvalidArgument);
  EXPECT_THROW(hand.submit({read(empty)}), InvalidArgument);
  EXPECT_THROW(hand.submit({read_write(empty)}), InvalidArgument);
  EXPECT_THROW(hand.planner.handle(TaskSubmission{.codelet = CodeletId(9), .accesses = {}}), InvalidArgument);
  CodeletId const device_only =
      hand.planner.handle(AddCodelet{{.name = "device only", .kernels = {nullptr, no_kernel}}});
  EXPECT_THROW(hand.planner.handle(TaskSubmission{.codelet = device_only, .accesses = {}}), InvalidArgument);
  EXPECT_THROW(hand.release(DataId(77)), InvalidArgument);
  hand.release(a);
  EXPECT_THROW(hand.submit({read(a)}), InvalidArgument);
  EXPECT_THROW(hand.release(a), InvalidArgument);
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
  TaskId const fine = hand.submit({write(empty)});
  EXPECT_EQ(fine.value(), 0U) << "what is refused takes no number";
}

TEST(Planner, RefusesDataThatCannotBe) {
  Hand hand(disk_and_host(1000));
  EXPECT_THROW(hand.add({.name = "nothing", .bytes = 0}), InvalidArgument);
  EXPECT_THROW(hand.add({.name = "nowhere", .bytes = 1, .home = NodeId(9)}), InvalidArgument);
  EXPECT_THROW(hand.add({.name = "from nowhere", .bytes = 1, .origin = NodeId(9)}), InvalidArgument);
  EXPECT_THROW(hand.add({.name = "two", .bytes = 1, .origin = disk_node, .home = host_node, .origin_is_home = true}),
               InvalidArgument);
  try {
    hand.add({.name = "not in place", .bytes = 1, .home = host_node});
    FAIL() << "accepted";
  } catch (InvalidArgument const& error) {
    EXPECT_THAT(error.what(), HasSubstr("'not in place'"));
  }
}

TEST(Planner, RefusesToBeMadeOfNothing) {
  AveragingEstimator estimator;
  Machine idle = disk_and_host(1000, 1, 0);
  EXPECT_THROW(Planner(Topology(idle), make_policies("eager", "lru"), estimator), InvalidArgument);
  EXPECT_THROW(Planner(Topology(disk_and_host(1000)), PolicySet{}, estimator), InvalidArgument);
  EXPECT_THROW(Planner(Topology(disk_and_host(1000)), make_policies("eager", "lru"), estimator, {.device_issue = 0}),
               InvalidArgument);
}

}  // namespace
}  // namespace granary::test
