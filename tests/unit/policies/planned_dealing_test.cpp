// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "planned_product.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <vector>

namespace granary {

using namespace detail;

namespace {

using test::FakeRun;
using test::FakeSystemView;
using test::first_group;
using test::PlannedProduct;
using test::read;
using test::read_write;
using test::second_group;
using testing::AnyOfArray;
using testing::IsEmpty;
using testing::IsSubsetOf;
using testing::SizeIs;
using testing::UnorderedElementsAreArray;

constexpr GroupId cores{2};
constexpr std::uint64_t on_devices = 0b011;
constexpr std::uint64_t on_cores = 0b100;

// Two devices whose memories hold 12 data of 100 bytes each, and a core; each datum that is written is a block.
struct TwoDevices {
  TwoDevices() : view(machine()), run(view, make_scheduler("planned")) {
    for (int i = 0; i < 2; ++i) leading.push_back(add({read_write(view.add_data())}));
  }
  static Machine machine() {
    auto made = PlannedProduct::machine(2, 1200);
    made.add_worker({.name = "core", .node = NodeId(0), .kind = WorkerKind::Cpu});
    return made;
  }
  TaskId add(std::initializer_list<Access> accesses, std::uint64_t groups = on_devices) {
    TaskId const task = view.add_task(accesses, 0, Duration{100}, groups);
    run.scheduler->submitted(task);
    return task;
  }
  TaskId add_ready(std::initializer_list<Access> accesses, std::uint64_t groups = on_devices) {
    ready.push_back(add(accesses, groups));
    return ready.back();
  }
  // A ready task that changes a datum of its own.
  TaskId add_alone() { return add_ready({read(view.add_data()), read_write(view.add_data())}); }
  // All tasks are submitted, and two of them end: there is a plan from the next question on.
  void settle() {
    for (auto const* const tasks : {&leading, &ready}) {
      for (TaskId const task : *tasks) run.scheduler->ready(task);
    }
    for (TaskId const task : leading) {
      ASSERT_EQ(run.next_and_commit(first_group), task);
      run.finish(task);
    }
  }
  // What the group is given until it is given nothing.
  std::vector<TaskId> all_for(GroupId group) {
    std::vector<TaskId> given;
    for (TaskId task = run.next_and_commit(group); task.valid(); task = run.next_and_commit(group))
      given.push_back(task);
    return given;
  }

  FakeSystemView view;
  FakeRun run;
  std::vector<TaskId> leading, ready;
};

TEST(PlannedDealing, deals_blocks_to_nodes_and_lets_an_idle_one_take_over) {
  PlannedProduct product(2, 1200);
  product.settle();
  std::vector<std::set<std::size_t>> tiles(2);
  for (int i = 0; i < 8; ++i) {
    tiles[0].insert(product.tile_of(product.step(first_group)));
    tiles[1].insert(product.tile_of(product.step(second_group)));
  }
  for (auto const tile : tiles[0]) EXPECT_FALSE(tiles[1].contains(tile)) << tile;
  std::size_t run = 18;
  while (product.step(second_group).valid()) ++run;
  while (product.step(first_group).valid()) ++run;
  EXPECT_EQ(run, product.tasks.size());
}

// A tile is loaded in the time of one update: blocks of 2 x 2 tiles need four loads for four updates.
TEST(PlannedDealing, has_larger_blocks_where_links_are_slow) {
  auto const planned = [](double bandwidth) {
    PlannedProduct product(2, 1200, "planned", bandwidth);
    product.settle();
    product.step(first_group);
    return product.run.plan(first_group).size();
  };
  EXPECT_GE(planned(1e9), planned(1e12) + 2 * PlannedProduct::order);
}

// More than one task, so that the data of the next ones can be fetched.
TEST(PlannedDealing, begins_the_next_block_before_the_last_one_has_ended) {
  PlannedProduct product(2, 1200);
  product.settle();
  for (int i = 0; i < 12; ++i) {
    product.step(first_group);
    EXPECT_LT(product.run.plan(first_group).size(), 16 + product.order);
  }
  EXPECT_GE(product.run.plan(first_group).size(), 15U);
}

TEST(PlannedDealing, wants_the_inputs_of_ready_tasks_early) {
  PlannedProduct product(2, 1200);
  product.settle();
  std::set<TaskId> ready;
  for (std::size_t t = 0; t < product.tasks.size(); t += product.order) ready.insert(product.tasks[t]);
  for (int i = 0; i < 8; ++i) {
    TaskId const task = product.step(first_group);
    if ((task.index() + 1) % product.order != 0) ready.insert(product.tasks[task.index() + 1]);
    for (TaskId const planned : product.run.plan(first_group))
      EXPECT_EQ(product.run.board.wants_inputs(planned), ready.contains(planned)) << planned.index();
  }
  EXPECT_GT(product.run.plan(first_group).size(), 8U);
}

TEST(PlannedDealing, begins_a_block_after_those_that_make_its_inputs_unless_a_node_is_idle) {
  TwoDevices devices;
  auto& view = devices.view;
  DataId const made = view.add_data();
  TaskId const maker = devices.add({read_write(made)});
  devices.add({read_write(made)});
  std::vector<TaskId> closed, open;
  for (int i = 0; i < 10; ++i) {
    DataId const result = view.add_data();
    closed.push_back(devices.add_ready({read(view.add_data()), read_write(result)}));
    devices.add({read(made), read_write(result)});
    open.push_back(devices.add_alone());
  }
  devices.settle();
  auto const first = devices.all_for(first_group);
  EXPECT_THAT(first, UnorderedElementsAreArray(open)) << "the maker is not ready, and its block has not begun";
  EXPECT_THAT(devices.run.next_and_commit(second_group), AnyOfArray(closed)) << "it would be idle";
  EXPECT_FALSE(devices.run.next_and_commit(second_group).valid()) << "it is not any more";
  for (TaskId const task : first) devices.run.finish(task);
  devices.run.scheduler->ready(maker);
  EXPECT_EQ(devices.run.next_and_commit(first_group), maker);
  EXPECT_THAT(devices.run.next_and_commit(first_group), AnyOfArray(closed)) << "the block of the maker has begun";
  EXPECT_THAT(devices.run.next_and_commit(second_group), AnyOfArray(closed));
}

TEST(PlannedDealing, prefers_a_block_whose_data_the_node_holds_where_there_are_no_rows_and_columns) {
  TwoDevices devices;
  std::vector<TaskId> tasks;
  for (int i = 0; i < 20; ++i) tasks.push_back(devices.add_alone());
  devices.settle();
  NodeId const second_node(2);
  for (std::size_t const held : {7, 13}) {
    for (auto const& access : devices.view.task(tasks[held]).accesses) devices.run.expect(access.data, second_node);
    EXPECT_EQ(devices.run.next_and_commit(second_group), tasks[held]);
    TaskId const other = devices.run.next_and_commit(second_group);
    EXPECT_THAT(other, AnyOfArray(tasks)) << "one that it does not hold, rather than none";
  }
}

TEST(PlannedDealing, takes_few_tasks_ahead_when_no_block_is_left) {
  PlannedProduct product(2, 1200);
  product.settle();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(product.run.next_and_commit(first_group).valid()) << "not yet";
  auto const committed = product.view.committed(first_group);
  for (TaskId const task : std::vector(committed.begin(), committed.end())) {
    product.run.finish(task);
    if ((task.index() + 1) % product.order != 0) product.run.scheduler->ready(product.tasks[task.index() + 1]);
  }
  // Blocks of 4 tasks begin while fewer than 16 are planned: of the last 20, all have.
  for (int i = 0; i < 40; ++i) product.step(first_group);
  EXPECT_TRUE(product.run.next_and_commit(first_group).valid());
  EXPECT_TRUE(product.run.next_and_commit(first_group).valid());
  EXPECT_FALSE(product.run.next_and_commit(first_group).valid()) << "its worker has one task, and another one";
}

TEST(PlannedDealing, takes_over_a_datum_with_all_tasks_that_still_write_it) {
  PlannedProduct product(2, 1200);
  product.settle();
  for (int i = 0; i < 46; ++i) product.step(first_group);
  EXPECT_THAT(product.run.plan(second_group), IsEmpty());
  TaskId const taken = product.run.next_and_commit(second_group);
  ASSERT_TRUE(taken.valid());
  std::vector<TaskId> rest;
  for (std::size_t t = taken.index() + 1; t % product.order != 0; ++t) rest.push_back(product.tasks[t]);
  ASSERT_THAT(rest, SizeIs(product.order - 1));
  EXPECT_EQ(product.run.plan(second_group), rest);
  product.run.finish(taken);
  product.run.scheduler->ready(rest[0]);
  EXPECT_EQ(product.run.next_and_commit(second_group), rest[0]);
}

TEST(PlannedDealing, runs_a_task_first_whose_chain_takes_most_of_the_time_that_is_left) {
  std::size_t const tile = 10;
  for (bool const long_chain : {true, false}) {
    PlannedProduct product(2, 1200);
    std::set<TaskId> chain;
    for (std::size_t k = 0; k < product.order; ++k) {
      chain.insert(product.tasks[tile * product.order + k]);
      // All others take 6000 ns on two devices.
      product.view.set_duration(product.tasks[tile * product.order + k], Duration{long_chain ? 10'000 : 200});
    }
    product.settle();
    TaskId given = product.step(first_group);
    while (given.valid() && !product.run.board.planned(*chain.rbegin())) given = product.step(first_group);
    ASSERT_TRUE(given.valid()) << "its block begins while others have tasks left";
    EXPECT_EQ(chain.contains(given), long_chain);
    for (std::size_t k = 1; k < product.order; ++k) EXPECT_EQ(chain.contains(product.step(first_group)), long_chain);
  }
}

TEST(PlannedDealing, leaves_tasks_for_cores_to_these_at_once) {
  TwoDevices devices;
  std::vector<TaskId> for_cores, for_devices;
  for (int i = 0; i < 10; ++i) {
    DataId const result = devices.view.add_data();
    for_cores.push_back(devices.add_ready({read_write(result)}, on_cores));
    devices.add({read_write(result)});
    for_cores.push_back(devices.add_ready({read_write(devices.view.add_data())}, on_cores));
    for_devices.push_back(devices.add_alone());
  }
  devices.settle();
  EXPECT_TRUE(devices.run.next_and_commit(first_group).valid()) << "though blocks before have a task ready for cores";
  EXPECT_THAT(devices.all_for(cores), UnorderedElementsAreArray(for_cores));
  EXPECT_THAT(devices.run.plan(cores), IsEmpty());
  EXPECT_THAT(devices.all_for(second_group), IsSubsetOf(for_devices));
}

TEST(PlannedDealing, gives_a_task_that_was_planned_for_cores_to_a_device_if_it_is_faster_when_ready) {
  TwoDevices devices;
  for (int i = 0; i < 20; ++i) devices.add_alone();
  TaskId const task = devices.add({read_write(devices.view.add_data())}, on_devices | on_cores);
  devices.view.set_duration(task, cores, Duration{10});
  devices.settle();
  EXPECT_THAT(devices.all_for(first_group), SizeIs(testing::Gt(10U))) << "there is a plan";
  devices.view.set_duration(task, cores, Duration{100'000});
  devices.run.scheduler->ready(task);
  EXPECT_THAT(devices.all_for(cores), IsEmpty());
  EXPECT_EQ(devices.run.next_and_commit(second_group), task);
}

}  // namespace
}  // namespace granary
