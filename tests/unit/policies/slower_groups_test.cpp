// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/common/slower_groups.hpp>
#include <granary/detail/policies/registry.hpp>
#include <support/fake_system_view.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace granary {

using namespace detail;

namespace {

using test::FakeRun;
using test::FakeSystemView;
using test::read_write;
using ::testing::ElementsAre;

constexpr GroupId device{0};
constexpr GroupId core{1};

Machine device_and_core() {
  auto machine = test::devices(1);
  machine.nodes[1].capacity = 10'000;
  machine.add_worker({.name = "core", .node = NodeId(0)});
  return machine;
}

struct Mixed {
  FakeSystemView view{device_and_core()};

  // A task that changes a datum, and takes 100 ns on the device.
  TaskId add(Duration on_core, DataId data) {
    TaskId const task = view.add_task({read_write(data)});
    view.set_duration(task, core, on_core);
    return task;
  }
  TaskId add(Duration on_core) { return add(on_core, view.add_data()); }
};

TEST(SlowerGroups, a_task_is_for_groups_that_are_nearly_as_fast) {
  Mixed mixed;
  SlowerGroups slower;
  slower.attach(mixed.view);
  EXPECT_THAT(slower.ready(mixed.view.task(mixed.add(Duration{200}))), ElementsAre(device, core));
  EXPECT_THAT(slower.ready(mixed.view.task(mixed.add(Duration{201}))), ElementsAre(device));
  EXPECT_THAT(slower.ready(mixed.view.task(mixed.add(Duration{49}))), ElementsAre(core));
}

TEST(SlowerGroups, a_task_stays_for_the_groups_for_which_it_became_ready) {
  Mixed mixed;
  SlowerGroups slower;
  slower.attach(mixed.view);
  TaskId const task = mixed.add(Duration{1000});
  slower.ready(mixed.view.task(task));
  mixed.view.set_duration(task, core, Duration{10});
  EXPECT_THAT(slower.fast_groups(mixed.view.task(task)), ElementsAre(device));
  EXPECT_FALSE(slower.is_fast(mixed.view.task(task), core));
}

// The device was busy when the task became ready; when it is asked again, it is believed to be the slower one. Nobody
// asks the core again.
TEST(SlowerGroups, no_task_is_left_to_a_group_that_is_not_asked_again) {
  for (std::string const scheduler : {"superblock", "darts"}) {
    Mixed mixed;
    FakeRun run(mixed.view, make_scheduler(scheduler));
    TaskId const task = mixed.add(Duration{1000});
    run.scheduler->submitted(task);
    run.scheduler->ready(task);
    EXPECT_FALSE(run.next_and_commit(core).valid()) << scheduler;
    mixed.view.set_duration(task, core, Duration{10});
    EXPECT_EQ(run.next_and_commit(device), task) << scheduler;
  }
}

// However many tasks for other groups are more urgent.
TEST(SlowerGroups, of_superblock_find_their_task_behind_many_of_the_others) {
  Mixed mixed;
  FakeRun run(mixed.view, make_scheduler("superblock"));
  std::vector<TaskId> tasks;
  for (int i = 0; i < 100; ++i) tasks.push_back(mixed.add(Duration{1000}));
  TaskId const last = mixed.add(Duration{10});
  tasks.push_back(last);
  for (TaskId const task : tasks) run.scheduler->submitted(task);
  for (TaskId const task : tasks) run.scheduler->ready(task);
  EXPECT_EQ(run.next_and_commit(core), last);
}

TEST(SlowerGroups, a_slower_group_takes_what_loses_least_while_the_fast_ones_are_busy) {
  Mixed mixed;
  SlowerGroups slower;
  slower.attach(mixed.view);
  TaskId const first = mixed.add(Duration{1000});
  TaskId const least = mixed.add(Duration{300});
  for (TaskId const task : {first, least}) slower.ready(mixed.view.task(task));
  EXPECT_FALSE(slower.best_for(core).valid());  // the device ends both in 200 ns
  TaskId const third = mixed.add(Duration{1000});
  slower.ready(mixed.view.task(third));
  EXPECT_EQ(slower.best_for(core), least);
  EXPECT_FALSE(slower.best_for(device).valid());
  slower.leave(mixed.view.task(least));
  EXPECT_FALSE(slower.best_for(core).valid());
}

TEST(SlowerGroups, of_superblock_take_single_tasks_and_no_blocks) {
  Mixed mixed;
  FakeRun run(mixed.view, make_scheduler("superblock:share=0.1"));
  std::vector<TaskId> tasks;
  for (int i = 0; i < 4; ++i) tasks.push_back(mixed.add(Duration{1000}));
  DataId const data = mixed.view.add_data();
  tasks.push_back(mixed.add(Duration{300}, data));
  TaskId const successor = mixed.add(Duration{1000}, data);
  for (TaskId const task : tasks) run.scheduler->submitted(task);
  run.scheduler->submitted(successor);

  run.scheduler->ready(tasks[0]);
  run.scheduler->ready(tasks[4]);
  EXPECT_FALSE(run.next_and_commit(core).valid());  // the device has them done before
  for (int i = 1; i < 4; ++i) run.scheduler->ready(tasks[static_cast<std::size_t>(i)]);
  EXPECT_EQ(run.next_and_commit(core), tasks[4]);
  EXPECT_TRUE(run.plan(core).empty());
  run.scheduler->finished(tasks[4]);
  mixed.view.finish(tasks[4]);

  run.scheduler->ready(successor);
  EXPECT_FALSE(run.next_and_commit(core).valid());
  std::vector<TaskId> on_device;
  for (TaskId task = run.next_and_commit(device); task.valid(); task = run.next_and_commit(device))
    on_device.push_back(task);
  EXPECT_EQ(on_device.size(), 5U);
}

}  // namespace
}  // namespace granary
