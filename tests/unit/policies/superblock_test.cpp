// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/registry.hpp>
#include <support/fake_system_view.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace granary {

using namespace detail;

namespace {

using test::devices;
using test::FakeRun;
using test::FakeSystemView;
using test::read;
using test::read_write;
using test::write;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr GroupId g0{0};
constexpr GroupId g1{1};

// C(i,j) += A(i,k) B(k,j) on tiles of 100 bytes, submitted step by step; the tasks of the first step are ready.
struct Product {
  static constexpr std::size_t order = 4;
  explicit Product(std::uint32_t groups, Bytes capacity, char const* specification = "superblock")
      : view(machine(groups, capacity)), run(view, make_scheduler(specification)) {
    for (std::size_t i = 0; i < order * order; ++i) {
      a.push_back(view.add_data());
      b.push_back(view.add_data());
      c.push_back(view.add_data());
    }
    for (std::size_t k = 0; k < order; ++k) {
      for (std::size_t i = 0; i < order; ++i) {
        for (std::size_t j = 0; j < order; ++j) {
          tasks.push_back(
              view.add_task({read(a[i * order + k]), read(b[k * order + j]), read_write(c[i * order + j])}));
          run.scheduler->submitted(tasks.back());
        }
      }
    }
    for (std::size_t t = 0; t < order * order; ++t) run.scheduler->ready(tasks[t]);
  }
  static Machine machine(std::uint32_t groups, Bytes capacity) {
    auto made = devices(groups);
    for (std::uint32_t g = 1; g <= groups; ++g) made.nodes[g].capacity = capacity;
    return made;
  }
  // Runs the group's next task to its end; its successor becomes ready.
  TaskId step(GroupId group) {
    TaskId const task = run.next_and_commit(group);
    if (!task.valid()) return task;
    run.scheduler->finished(task);
    view.finish(task);
    if (task.index() + order * order < tasks.size()) run.scheduler->ready(tasks[task.index() + order * order]);
    return task;
  }

  FakeSystemView view;
  FakeRun run;
  std::vector<DataId> a, b, c;
  std::vector<TaskId> tasks;
};

// Memory for 8 data: the block is 2 x 2 of C with one column of A and one row of B at a time.
TEST(Superblock, keeps_a_compact_block_resident_and_runs_it_step_by_step) {
  Product product(1, 1000, "superblock:share=1");
  std::vector<TaskId> ran;
  for (int i = 0; i < 16; ++i) ran.push_back(product.step(g0));
  EXPECT_THAT(
      ran, ElementsAre(TaskId(0), TaskId(1), TaskId(4), TaskId(5), TaskId(16), TaskId(17), TaskId(20), TaskId(21),
                       TaskId(32), TaskId(33), TaskId(36), TaskId(37), TaskId(48), TaskId(49), TaskId(52), TaskId(53)));
}

TEST(Superblock, publishes_the_whole_block_before_its_tasks_are_ready) {
  Product product(1, 1000, "superblock:share=1");
  EXPECT_EQ(product.run.next(g0), TaskId(0));
  EXPECT_EQ(product.run.plan(g0).size(), 15U);
  EXPECT_EQ(product.run.board.uses(product.c[0], g0), 3U);
}

TEST(Superblock, gives_groups_blocks_of_their_own) {
  Product product(2, 1000, "superblock:share=1");
  product.step(g0);
  TaskId const other = product.step(g1);
  for (TaskId const task : product.run.plan(g0)) EXPECT_NE(task.index() % 16, other.index() % 16);
}

TEST(Superblock, runs_everything_once) {
  for (Bytes const capacity : {Bytes(300), Bytes(700), Bytes(5000)}) {
    Product product(2, capacity);
    std::vector<TaskId> ran;
    for (bool more = true; more;) {
      more = false;
      for (GroupId const group : {g0, g1}) {
        if (TaskId const task = product.step(group); task.valid()) {
          ran.push_back(task);
          more = true;
        }
      }
    }
    EXPECT_EQ(ran.size(), product.tasks.size());
    EXPECT_THAT(ran, testing::UnorderedElementsAreArray(product.tasks));
    EXPECT_THAT(product.run.plan(g0), IsEmpty());
  }
}

TEST(Superblock, an_idle_group_takes_a_datum_over) {
  FakeSystemView view(devices(2));
  FakeRun run(view, make_scheduler("superblock:share=0.1"));
  DataId const shared = view.add_data();
  std::vector<TaskId> tasks;
  for (int i = 0; i < 4; ++i) {
    tasks.push_back(view.add_task({read(shared), write(view.add_data())}));
    run.scheduler->submitted(tasks.back());
  }
  for (TaskId const task : tasks) run.scheduler->ready(task);
  EXPECT_EQ(run.next_and_commit(g0), tasks[0]) << "all four are one block";
  EXPECT_EQ(run.next_and_commit(g1), tasks[3]);
  EXPECT_THAT(run.plan(g0), UnorderedElementsAre(tasks[1], tasks[2]));
}

TEST(Superblock, tasks_that_write_nothing_and_tasks_that_the_owner_cannot_run_go_where_they_can) {
  FakeSystemView view(devices(2));
  FakeRun run(view, make_scheduler("superblock"));
  DataId const data = view.add_data();
  TaskId const first = view.add_task({read_write(data)});
  TaskId const elsewhere = view.add_task({read_write(data)}, 0, Duration{100}, 2);
  TaskId const reader = view.add_task({read(view.add_data())});
  for (TaskId const task : {first, elsewhere, reader}) run.scheduler->submitted(task);
  run.scheduler->ready(first);
  EXPECT_EQ(run.next_and_commit(g0), first);
  run.scheduler->finished(first);
  view.finish(first);
  run.scheduler->ready(elsewhere);
  run.scheduler->ready(reader);
  EXPECT_EQ(run.next_and_commit(g0), reader);
  EXPECT_EQ(run.next_and_commit(g0), TaskId{});
  EXPECT_EQ(run.next_and_commit(g1), elsewhere);
}

// A device and a core, which is ten times slower unless a task is for it.
struct DeviceAndCore {
  static constexpr GroupId device{0};
  static constexpr GroupId core{1};
  static Machine machine() {
    auto made = devices(1);
    made.nodes[1].capacity = 10'000;
    made.add_worker({.name = "core", .node = NodeId(0)});
    return made;
  }
  TaskId submit(std::initializer_list<Access> accesses, std::int64_t priority = 0) {
    TaskId const task = view.add_task(accesses, priority);
    view.set_duration(task, core, Duration{1000});
    run.scheduler->submitted(task);
    return task;
  }
  TaskId submit_for_core(std::initializer_list<Access> accesses) {
    TaskId const task = view.add_task(accesses, 0, Duration{100}, 2);
    run.scheduler->submitted(task);
    return task;
  }
  // As fast on both.
  TaskId submit_for_any(std::initializer_list<Access> accesses) {
    TaskId const task = view.add_task(accesses);
    run.scheduler->submitted(task);
    return task;
  }
  void finish(TaskId task) {
    run.scheduler->finished(task);
    view.finish(task);
  }

  FakeSystemView view{machine()};
  FakeRun run{view, make_scheduler("superblock:share=0.1")};
};

TEST(Superblock, a_group_that_runs_the_first_of_many_tasks_that_are_slow_there_does_not_get_their_datum) {
  DeviceAndCore mixed;
  DataId const data = mixed.view.add_data();
  TaskId const first = mixed.submit_for_core({write(data)});
  TaskId const second = mixed.submit({read_write(data)});
  TaskId const third = mixed.submit({read_write(data)});
  mixed.run.scheduler->ready(first);
  EXPECT_FALSE(mixed.run.next_and_commit(mixed.device).valid());
  EXPECT_EQ(mixed.run.next_and_commit(mixed.core), first);
  EXPECT_THAT(mixed.run.plan(mixed.core), IsEmpty());
  mixed.finish(first);
  mixed.run.scheduler->ready(second);
  EXPECT_FALSE(mixed.run.next_and_commit(mixed.core).valid());
  EXPECT_EQ(mixed.run.next_and_commit(mixed.device), second);
  EXPECT_THAT(mixed.run.plan(mixed.device), ElementsAre(third));
}

TEST(Superblock, a_group_loses_a_datum_when_tasks_submitted_later_are_slow_there) {
  DeviceAndCore mixed;
  DataId const data = mixed.view.add_data();
  TaskId const first = mixed.submit_for_core({write(data)});
  mixed.run.scheduler->ready(first);
  EXPECT_EQ(mixed.run.next_and_commit(mixed.core), first);
  TaskId const second = mixed.submit({read_write(data)});
  TaskId const third = mixed.submit({read_write(data)});
  EXPECT_THAT(mixed.run.plan(mixed.core), UnorderedElementsAre(second, third));
  mixed.finish(first);
  mixed.run.scheduler->ready(second);
  EXPECT_THAT(mixed.run.plan(mixed.core), IsEmpty());
  EXPECT_FALSE(mixed.run.next_and_commit(mixed.core).valid());
  EXPECT_EQ(mixed.run.next_and_commit(mixed.device), second);
  EXPECT_THAT(mixed.run.plan(mixed.device), ElementsAre(third));
}

TEST(Superblock, a_datum_without_owner_closes_its_readers_until_it_has_one_again) {
  DeviceAndCore mixed;
  DataId const data = mixed.view.add_data();
  DataId const input = mixed.view.add_data();
  DataId const result = mixed.view.add_data();
  TaskId const first = mixed.submit_for_core({write(data)});
  mixed.run.scheduler->ready(first);
  EXPECT_EQ(mixed.run.next_and_commit(mixed.core), first);
  TaskId const second = mixed.submit({read_write(data)});
  TaskId const start = mixed.submit({read(input), write(result)});
  TaskId const reader = mixed.submit({read(data), read_write(result)});
  TaskId const urgent = mixed.submit({read(input), write(mixed.view.add_data())}, 1);
  mixed.finish(first);
  mixed.run.scheduler->ready(second);  // the core loses the datum
  mixed.run.scheduler->ready(urgent);
  mixed.run.scheduler->ready(start);
  EXPECT_EQ(mixed.run.next_and_commit(mixed.device), urgent);
  EXPECT_THAT(mixed.run.plan(mixed.device), IsEmpty());
  EXPECT_EQ(mixed.run.next_and_commit(mixed.device), second);
  EXPECT_THAT(mixed.run.plan(mixed.device), UnorderedElementsAre(start, reader));
}

TEST(Superblock, a_block_has_only_data_that_suit_its_group) {
  DeviceAndCore mixed;
  DataId const input = mixed.view.add_data();
  TaskId const on_core = mixed.submit_for_core({read(input), write(mixed.view.add_data())});
  TaskId const also = mixed.submit_for_core({read(input), write(mixed.view.add_data())});
  DataId const both = mixed.view.add_data();
  TaskId const start = mixed.submit_for_any({read(input), write(both)});
  TaskId const update = mixed.submit({read(input), read_write(both)});
  mixed.submit_for_core({read_write(both)});
  for (TaskId const task : {on_core, also, start}) mixed.run.scheduler->ready(task);
  EXPECT_EQ(mixed.run.next_and_commit(mixed.core), on_core);
  EXPECT_THAT(mixed.run.plan(mixed.core), ElementsAre(also));
  EXPECT_EQ(mixed.run.next_and_commit(mixed.device), start);
  EXPECT_THAT(mixed.run.plan(mixed.device), ElementsAre(update));
}

TEST(Superblock, an_idle_group_takes_one_task_of_a_datum_that_does_not_suit_it) {
  DeviceAndCore mixed;
  DataId const shared = mixed.view.add_data();
  std::vector<TaskId> firsts;
  std::vector<TaskId> rest;
  for (int i = 0; i < 4; ++i) {
    DataId const data = mixed.view.add_data();
    firsts.push_back(mixed.submit_for_any({read(shared), write(data)}));
    rest.push_back(mixed.submit({read(shared), read_write(data)}));
  }
  for (TaskId const task : firsts) mixed.run.scheduler->ready(task);
  EXPECT_EQ(mixed.run.next_and_commit(mixed.device), firsts[0]);
  EXPECT_EQ(mixed.run.next_and_commit(mixed.core), firsts[3]);
  EXPECT_THAT(mixed.run.plan(mixed.core), IsEmpty());
  EXPECT_THAT(mixed.run.plan(mixed.device), testing::IsSupersetOf(rest));
}

TEST(Superblock, forgets_what_is_cancelled_wherever_it_stands) {
  Product product(1, 1000, "superblock:share=1");
  product.step(g0);
  product.run.scheduler->withdrawn(TaskId(1), Withdrawal::Cancelled, {});    // in the block
  product.run.scheduler->withdrawn(TaskId(15), Withdrawal::Cancelled, {});   // in the pool
  product.run.scheduler->withdrawn(TaskId(17), Withdrawal::NeverReady, {});  // in the block, not ready
  std::vector<TaskId> ran;
  for (TaskId task = product.step(g0); task.valid(); task = product.step(g0)) ran.push_back(task);
  EXPECT_THAT(ran, testing::Not(testing::Contains(TaskId(1))));
  EXPECT_THAT(ran, testing::Not(testing::Contains(TaskId(15))));
  EXPECT_THAT(ran, testing::Not(testing::Contains(TaskId(17))));
  EXPECT_THAT(product.run.plan(g0), testing::Not(testing::Contains(TaskId(17))));
}

}  // namespace
}  // namespace granary
