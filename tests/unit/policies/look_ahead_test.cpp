// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/registry.hpp>

#include <support/fake_system_view.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace granary::test::look_ahead_test {

using namespace detail;

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr GroupId cores{0};
constexpr GroupId gpu{1};
constexpr WorkerId core{0};
constexpr WorkerId device{1};

// A core and a GPU that share a memory: nothing is transferred.
Machine core_and_gpu() {
  Machine machine;
  auto const host = machine.add_node({.name = "host"});
  machine.add_worker({.name = "core", .node = host, .kind = WorkerKind::Cpu});
  machine.add_worker({.name = "gpu", .node = host, .kind = WorkerKind::Device});
  return machine;
}

class Looking {
 public:
  explicit Looking(std::string const& look, Machine machine = core_and_gpu())
      : view(std::move(machine)), run(view, make_scheduler("heftp:look=" + look)) {}

  TaskId submit(std::int64_t on_core, std::int64_t on_gpu, std::int64_t priority,
                std::initializer_list<Access> accesses = {}) {
    TaskId const task = view.add_task(accesses, priority, Duration{on_core});
    view.set_duration(task, gpu, Duration{on_gpu});
    run.scheduler->submitted(task);
    return task;
  }
  // As the planner does: the group is asked, and starts the task that it gets.
  TaskId start(GroupId group, WorkerId worker) {
    TaskId const task = run.next_and_commit(group);
    if (task.valid()) run.issue(task, worker);
    return task;
  }
  // Where a task goes when it is ready.
  GroupId group_of(TaskId task) {
    run.scheduler->ready(task);
    static_cast<void>(run.scheduler->hand_over(task, gpu));  // queues it without taking anything
    for (GroupId const group : {cores, gpu}) {
      if (testing::Value(run.plan(group), testing::Contains(task))) return group;
    }
    return {};
  }

  FakeSystemView view;
  FakeRun run;
};

// A long task runs on the GPU, and releases urgent tasks there, behind which a task would wait.
struct Passed : Looking {
  explicit Passed(std::string const& look) : Looking(look) {
    auto const d = view.add_data();
    first = submit(1000, 10, 9, {write(d)});
    for (int i = 0; i < urgent; ++i) submit(1000, 10, 8, {read(d)});
    run.scheduler->ready(first);
    EXPECT_EQ(start(gpu, device), first);
    late = submit(50, 10, 1);
  }
  static constexpr int urgent = 10;
  TaskId first;
  TaskId late;
};

TEST(LookAhead, LetAndHeftpDifferOnATaskThatMoreUrgentOnesPass) {
  EXPECT_EQ(Passed("none").group_of(TaskId(11)), gpu);
  Passed let("let");
  EXPECT_EQ(let.late, TaskId(11));
  EXPECT_EQ(let.group_of(let.late), cores);
}

TEST(LookAhead, LetLeavesATaskOnTheDeviceThatEndsThereBeforeACoreWouldEndIt) {
  Passed let("let");
  TaskId const longer = let.submit(500, 10, 1);  // the GPU ends it at 10 + 100 + 10
  EXPECT_EQ(let.group_of(longer), gpu);
  TaskId const equal = let.submit(130, 10, 0);  // as early on a core as behind the longer one
  EXPECT_EQ(let.group_of(equal), cores);
}

TEST(LookAhead, GbUsesACoreIfTheDevicesStayBusyUntilItsEnd) {
  Passed gb("gb");
  EXPECT_EQ(gb.group_of(gb.late), cores);
  TaskId const longer = gb.submit(500, 10, 1);  // the GPU is idle from 110 on
  EXPECT_EQ(gb.group_of(longer), gpu);
}

TEST(LookAhead, GbLooksAtTheDevicesAndLetAtTheTask) {
  // An urgent task, which nothing passes, while the GPU has work until the core has run it.
  for (auto const* look : {"let", "gb"}) {
    Passed rule(look);
    TaskId const urgent = rule.submit(60, 10, 99);
    EXPECT_EQ(rule.group_of(urgent), std::string(look) == "gb" ? cores : gpu) << look;
  }
}

TEST(LookAhead, MmsUsesACoreOnlyIfAllEndsEarlier) {
  // The GPU's tasks last until 110. A core that takes 90 shortens the end from 120 to 110, one that takes 130 does not.
  for (auto const& [time, expected] : {std::pair(90, cores), std::pair(119, cores), std::pair(120, gpu)}) {
    Passed mms("mms");
    TaskId const task = mms.submit(time, 10, 1);
    EXPECT_EQ(mms.group_of(task), expected) << time;
  }
}

TEST(LookAhead, MmsSeesWhatATaskReleases) {
  // On a core the task ends in time, but so late that what it releases prolongs the whole.
  for (bool const releases : {false, true}) {
    Passed mms("mms");
    auto const d = mms.view.add_data();
    TaskId const task = mms.submit(105, 10, 99, {write(d)});
    if (releases) {
      mms.submit(1000, 30, 98, {read_write(d)});
      mms.submit(200, 1000, 97, {read(d)});
    }
    EXPECT_EQ(mms.group_of(task), releases ? gpu : cores);
  }
}

TEST(LookAhead, WhatHeftpPutsOnACoreStaysThere) {
  for (auto const* look : {"let", "gb", "mms"}) {
    Looking rule(look);
    EXPECT_EQ(rule.group_of(rule.submit(10, 20, 0)), cores) << look;
  }
}

TEST(LookAhead, TasksReleasedTogetherAreQueuedByPriority) {
  Looking let("let");
  TaskId const low = let.submit(1000, 10, 1);
  TaskId const high = let.submit(1000, 10, 2);
  let.run.scheduler->ready(low);
  let.run.scheduler->ready(high);
  EXPECT_EQ(let.run.next(gpu), high);
  EXPECT_EQ(let.run.next(gpu), low);
}

TEST(LookAhead, ForgetsCancelledTasksAndKnowsReturnedOnes) {
  for (auto const* look : {"let", "gb", "mms"}) {
    Looking rule(look);
    auto const d = rule.view.add_data();
    TaskId const first = rule.submit(1000, 10, 1, {write(d)});
    TaskId const second = rule.submit(1000, 10, 1, {read_write(d)});
    TaskId const third = rule.submit(1000, 10, 1, {read(d)});
    rule.run.scheduler->ready(first);
    EXPECT_EQ(rule.start(gpu, device), first);
    rule.run.finish(first);  // a worker gave it back
    rule.run.scheduler->submitted(first);
    rule.run.scheduler->ready(first);
    EXPECT_EQ(rule.start(gpu, device), first);
    rule.run.finish(first);
    rule.run.scheduler->ready(second);
    rule.run.scheduler->withdrawn(third, Withdrawal::NeverReady, {});
    rule.run.scheduler->withdrawn(second, Withdrawal::Cancelled, {});
    EXPECT_EQ(rule.run.next(gpu), TaskId{}) << look;
    EXPECT_THAT(rule.run.plan(gpu), IsEmpty());
  }
}

TEST(LookAhead, DoesNothingWithoutBothKindsOfWorkers) {
  for (auto const* look : {"let", "gb", "mms"}) {
    FakeSystemView view(devices(1));
    FakeRun run(view, make_scheduler(std::string("heftp:look=") + look));
    TaskId const task = view.add_task({});
    run.scheduler->submitted(task);
    run.scheduler->ready(task);
    EXPECT_EQ(run.next(GroupId(0)), task);
  }
}

TEST(LookAhead, UnknownRulesAreRefused) {
  EXPECT_THROW((void)make_scheduler("heftp:look=far"), InvalidArgument);
  EXPECT_THROW((void)make_scheduler("heft:look=let"), InvalidArgument);
}

}  // namespace
}  // namespace granary::test::look_ahead_test
