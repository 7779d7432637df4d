// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/policies/registry.hpp>

#include <support/releasing_run.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace granary::test::lfq_test {

using namespace detail;

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr GroupId g0{0};
constexpr GroupId g1{1};
constexpr GroupId g2{2};

class Lfq : public ReleasingRun {
 public:
  explicit Lfq(Machine machine = devices(2), std::string const& scheduler = "lfq")
      : ReleasingRun(std::move(machine), scheduler) {}
};

TEST(Lfq, a_group_takes_the_most_urgent_of_its_own_queue) {
  Lfq t;
  auto const a = t.release(g0, {1, 7, 7, 3});
  auto const b = t.release(g1, {9});
  EXPECT_EQ(t.run.next(g0), a[1]);
  EXPECT_EQ(t.run.next(g0), a[2]);
  EXPECT_THAT(t.run.plan(g0), ElementsAre(a[3], a[0]));
  EXPECT_THAT(t.run.plan(g1), ElementsAre(b[0]));
}

// Two workers: the default room of eight; here two of each release find room.
TEST(Lfq, what_finds_no_room_goes_to_the_shared_queue) {
  Lfq t(devices(2), "lfq:queue=1");
  auto const a = t.release(g0, {5, 1, 6, 8});
  auto const b = t.release(g1, {2, 3, 4});
  EXPECT_EQ(t.run.next(g0), a[3]);
  EXPECT_THAT(t.run.plan(g0), ElementsAre(a[2]));
  EXPECT_THAT(t.run.plan(g1), ElementsAre(b[2], b[1]));
  EXPECT_EQ(t.run.next(g0), a[2]);
  EXPECT_EQ(t.run.next(g0), b[2]) << "a neighbour's queue comes before the shared one";
  EXPECT_EQ(t.run.next(g0), b[1]);
  EXPECT_EQ(t.run.next(g0), a[0])
      << "the shared queue is in the order of arrival: of one release the most urgent first";
  EXPECT_EQ(t.run.next(g0), a[1]);
  EXPECT_EQ(t.run.next(g0), b[0]);
  EXPECT_EQ(t.run.next(g0), TaskId{});
}

TEST(Lfq, the_room_is_four_times_the_workers_for_each_worker) {
  Machine machine = devices(2);
  machine.add_worker({.name = "second", .node = NodeId(2), .kind = WorkerKind::Device});
  for (auto const& [group, room] : {std::pair(g0, 12U), std::pair(g1, 24U)}) {
    Lfq t(machine);
    t.release(group, std::vector<std::int64_t>(40, 1));
    EXPECT_TRUE(t.run.next(group).valid());
    EXPECT_EQ(t.run.plan(group).size(), room - 1);
  }
}

TEST(Lfq, a_full_queue_keeps_less_urgent_tasks) {
  Lfq t(devices(1), "lfq:queue=1");
  auto const a = t.release(g0, {1});
  auto const b = t.release(g0, {9});
  EXPECT_EQ(t.run.next(g0), a[0]);
  EXPECT_EQ(t.run.next(g0), b[0]);
}

TEST(Lfq, the_nearest_queue_is_robbed_first) {
  auto const victim = [](Machine machine) {
    Lfq t(std::move(machine));
    auto const far = t.release(g2, {1, 1});
    auto const near = t.release(g0, {1, 1});
    TaskId const stolen = t.run.next(g1);
    return stolen == far[0] ? g2 : (stolen == near[0] ? g0 : GroupId{});
  };
  EXPECT_EQ(victim(devices(3)), g2);  // as near as the other, and next in the ring
  Machine machine = devices(3);
  machine.add_link_pair(NodeId(1), NodeId(2), 1e11);
  EXPECT_EQ(victim(machine), g0);
}

TEST(Lfq, the_most_urgent_task_that_the_thief_may_run_is_stolen) {
  Lfq t;
  t.release(g0, {9}, 0b01);
  auto const a = t.release(g0, {3, 5}, 0b11);
  EXPECT_EQ(t.run.next(g1), a[1]);
  EXPECT_EQ(t.run.next(g1), a[0]);
  EXPECT_EQ(t.run.next(g1), TaskId{});
}

TEST(Lfq, what_the_releaser_may_not_run_is_shared) {
  Lfq t;
  auto const a = t.release(g0, {1}, 0b10);
  EXPECT_EQ(t.run.next(g0), TaskId{});
  EXPECT_THAT(t.run.plan(g0), IsEmpty());
  EXPECT_EQ(t.run.next(g1), a[0]);
}

TEST(Lfq, tasks_that_nobody_released_join_the_first_group) {
  Lfq t;
  t.release(g1, {});
  auto const a = t.submit();
  t.run.events().external_finished(t.add());
  auto const b = t.add(1);
  t.run.scheduler->ready(b);
  EXPECT_EQ(t.run.next(g0), b);
  EXPECT_THAT(t.run.plan(g0), ElementsAre(a));
}

TEST(Lfq, every_task_is_given_once_to_a_group_that_may_run_it) {
  for (auto const* scheduler : {"lfq", "lfq:queue=1", "lfq:queue=100"}) {
    Random random(17);
    Lfq t(devices(3), scheduler);
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
        for (TaskId const left : waiting) ASSERT_FALSE(t.view.task(left).allowed_on(group));
      }
    }
  }
  EXPECT_THROW((void)make_scheduler("lfq:queue=0"), InvalidArgument);
}

}  // namespace
}  // namespace granary::test::lfq_test
