// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/policies/registry.hpp>

#include <support/releasing_run.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace granary::test::lws_test {

using namespace detail;

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr GroupId g0{0};
constexpr GroupId g1{1};
constexpr GroupId g2{2};

class Lws : public ReleasingRun {
 public:
  explicit Lws(Machine machine = devices(2), std::string const& scheduler = "lws")
      : ReleasingRun(std::move(machine), scheduler) {}
  void keep_busy(GroupId group, int tasks = 1) {
    for (int i = 0; i < tasks; ++i) view.commit(add(), group);
  }
};

TEST(Lws, tasks_join_the_queue_of_the_group_that_released_them) {
  Lws t;
  auto const a = t.release(g1, {0, 0});
  auto const b = t.release(g0, {0});
  EXPECT_THAT(t.run.plan(g0), ElementsAre(b[0]));
  EXPECT_THAT(t.run.plan(g1), ElementsAre(a[0], a[1]));
}

TEST(Lws, tasks_that_nobody_released_go_round_the_workers) {
  Machine machine = devices(2);
  machine.add_worker({.name = "second", .node = NodeId(2), .kind = WorkerKind::Device});
  Lws t(machine);
  t.release(g1, {});
  auto const a = t.submit();
  auto const b = t.submit();
  auto const c = t.submit();
  auto const d = t.submit();
  auto const e = t.submit(0, 0b01);
  EXPECT_THAT(t.run.plan(g0), ElementsAre(a, d, e));
  EXPECT_THAT(t.run.plan(g1), ElementsAre(b, c));
}

TEST(Lws, tasks_that_an_external_task_released_go_round_the_workers) {
  Lws t;
  auto const a = t.release(g1, {0});
  std::vector<TaskId> b;
  for (int i = 0; i < 3; ++i) {
    t.run.events().external_finished(t.add());
    b.push_back(t.add());
    t.run.scheduler->ready(b.back());
  }
  EXPECT_THAT(t.run.plan(g0), ElementsAre(b[0], b[2]));
  EXPECT_THAT(t.run.plan(g1), ElementsAre(a[0], b[1]));
}

TEST(Lws, where_the_releaser_is_not_allowed_the_least_loaded_group_gets_it) {
  Lws t(devices(3));
  t.keep_busy(g1, 2);
  auto const a = t.release(g0, {0}, 0b110);
  EXPECT_THAT(t.run.plan(g2), ElementsAre(a[0]));
}

TEST(Lws, a_queue_is_sorted_by_priority_then_by_arrival) {
  Lws t;
  auto const a = t.release(g0, {1, 7, 7, 3});
  t.keep_busy(g0);
  EXPECT_EQ(t.run.next(g0), a[1]);
  EXPECT_EQ(t.run.next(g0), a[2]);
  EXPECT_EQ(t.run.next(g0), a[3]);
  EXPECT_EQ(t.run.next(g0), a[0]);
  EXPECT_EQ(t.run.next(g0), TaskId{});
}

TEST(Lws, the_last_of_the_most_urgent_is_stolen) {
  Lws t;
  auto const a = t.release(g0, {5, 7, 7, 3});
  t.keep_busy(g0);
  EXPECT_EQ(t.run.next_and_commit(g1), a[2]);
  EXPECT_EQ(t.run.next(g1), a[1]);
  EXPECT_THAT(t.run.plan(g0), ElementsAre(a[0], a[3]));
}

TEST(Lws, half_of_a_queue_is_stolen_from_its_end) {
  Lws t(devices(2), "lws:steal=0.5:from=end");
  auto const a = t.release(g0, {5, 4, 3, 2, 1});
  t.keep_busy(g0);
  EXPECT_EQ(t.run.next(g1), a[3]);
  EXPECT_THAT(t.run.plan(g1), ElementsAre(a[4]));
  EXPECT_THAT(t.run.plan(g0), ElementsAre(a[0], a[1], a[2]));
}

TEST(Lws, a_twentieth_is_a_set_where_the_queue_is_long) {
  Lws t;
  t.release(g0, std::vector<std::int64_t>(60, 1));
  t.keep_busy(g0);
  EXPECT_TRUE(t.run.next(g1).valid());
  EXPECT_EQ(t.run.plan(g0).size(), 57U);
  EXPECT_EQ(t.run.plan(g1).size(), 2U);
}

TEST(Lws, how_much_is_stolen_is_an_option) {
  for (auto const& [scheduler, left] : {std::pair("lws:steal=0", 3U), std::pair("lws:steal=1", 0U)}) {
    Lws t(devices(2), scheduler);
    t.release(g0, {4, 3, 2, 1});
    t.keep_busy(g0);
    EXPECT_TRUE(t.run.next(g1).valid());
    EXPECT_EQ(t.run.plan(g0).size(), left) << scheduler;
  }
  EXPECT_THROW((void)make_scheduler("lws:steal=2"), InvalidArgument);
  EXPECT_THROW((void)make_scheduler("lws:from=front"), InvalidArgument);
}

TEST(Lws, a_group_that_has_nothing_else_keeps_a_task_for_each_worker) {
  Lws t(devices(2), "lws:steal=1:from=end");
  auto const a = t.release(g0, {2, 1});
  EXPECT_EQ(t.run.next_and_commit(g1), a[1]);
  EXPECT_EQ(t.run.next(g1), TaskId{});
  EXPECT_EQ(t.run.next(g0), a[0]);
}

TEST(Lws, a_group_with_enough_to_do_does_not_steal) {
  Lws t;
  t.release(g0, {1, 2, 3});
  t.keep_busy(g0);
  t.keep_busy(g1, 2);
  EXPECT_EQ(t.run.next(g1), TaskId{});
}

TEST(Lws, the_nearest_victim_is_robbed_first) {
  auto const victim = [](Machine machine) {
    Lws t(std::move(machine));
    auto const far = t.release(g2, {1, 1});
    auto const near = t.release(g0, {1, 1});
    TaskId const stolen = t.run.next(g1);
    return stolen == far[1] ? g2 : (stolen == near[1] ? g0 : GroupId{});
  };
  EXPECT_EQ(victim(devices(3)), g2);  // as near as the other, and next in the ring
  Machine machine = devices(3);
  machine.add_link_pair(NodeId(1), NodeId(2), 1e11);
  EXPECT_EQ(victim(machine), g0);
}

// Tasks 1 to 4, of which the later ones are more urgent, become ready in another order.
TEST(Lws, a_queue_in_the_order_of_submission_ignores_release_and_priority) {
  Lws t(devices(2), "lws:order=submission");
  EXPECT_FALSE(t.run.scheduler->traits().heeds_priorities);
  EXPECT_TRUE(make_scheduler("lws")->traits().heeds_priorities);
  TaskId const releaser = t.add();
  TaskId const a = t.add(1);
  TaskId const b = t.add(2);
  TaskId const c = t.add(3);
  TaskId const d = t.add(4);
  t.view.commit(releaser, g0);
  t.run.finish(releaser);
  for (TaskId const task : {c, a, d, b}) t.run.scheduler->ready(task);
  EXPECT_THAT(t.run.plan(g0), ElementsAre(a, b, c, d));
  t.keep_busy(g0);
  EXPECT_EQ(t.run.next_and_commit(g1), d) << "a thief takes from the end";
  EXPECT_EQ(t.run.next(g0), a);
  EXPECT_EQ(t.run.next(g0), b);
  EXPECT_THROW((void)make_scheduler("lws:order=release"), InvalidArgument);
}

TEST(Lws, a_thief_takes_only_what_it_may_run) {
  Lws t;
  t.keep_busy(g0);
  auto const first = t.release(g0, {9, 8}, 0b11);
  t.release(g0, {1, 1, 1}, 0b01);
  EXPECT_EQ(t.run.next(g1), first[0]);
  EXPECT_EQ(t.run.next(g1), first[1]);
  EXPECT_EQ(t.run.next(g1), TaskId{});
  EXPECT_EQ(t.run.plan(g0).size(), 3U);
}

void give_every_task_once(std::string const& scheduler) {
  Random random(17);
  Lws t(devices(3), scheduler);
  std::set<TaskId> waiting;
  for (int step = 0; step < 20000; ++step) {
    auto const what = random.below(10);
    auto const group = GroupId(static_cast<std::uint32_t>(random.below(3)));
    if (what < 3) {
      waiting.insert(t.submit(random.between(-2, 2), 1 + random.below(7)));
    } else if (what < 5) {
      for (auto const task : t.release(group, {1, 2}, 1 + random.below(7))) waiting.insert(task);
    } else if (what < 6 && !waiting.empty()) {
      auto const victim = std::next(waiting.begin(), static_cast<std::ptrdiff_t>(random.below(waiting.size())));
      t.run.scheduler->withdrawn(*victim, Withdrawal::Cancelled, {});
      waiting.erase(victim);
    } else if (TaskId const task = t.run.next(group); task.valid()) {
      ASSERT_EQ(waiting.erase(task), 1U);
      ASSERT_TRUE(t.view.task(task).allowed_on(group));
    } else {
      ASSERT_THAT(t.run.plan(group), IsEmpty());
    }
  }
}

TEST(Lws, every_task_is_given_once_to_a_group_that_may_run_it) {
  for (auto const* scheduler :
       {"lws", "lws:from=end", "lws:steal=1", "lws:steal=0.5:from=end", "lws:order=submission"}) {
    give_every_task_once(scheduler);
  }
}

}  // namespace
}  // namespace granary::test::lws_test
