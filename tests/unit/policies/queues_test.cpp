// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/policies/registry.hpp>

#include <support/fake_system_view.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace granary::test::queues_test {

using namespace detail;

namespace {

constexpr GroupId g0{0};
constexpr GroupId g1{1};

// Common tests of eager and prio: a slow queue is the reference, `first` decides which task should run first.
template <class Before>
void compare_with_slow_queue(char const* name, Before before) {
  Random random(11);
  FakeSystemView view(devices(3));
  FakeRun run(view, make_scheduler(name));
  std::vector<TaskId> waiting;  // in the order of arrival
  for (int step = 0; step < 20000; ++step) {
    auto const what = random.below(10);
    if (what < 5) {
      TaskId const task = view.add_task({}, random.between(-2, 2), Duration{1}, 1 + random.below(7));
      run.scheduler->ready(task);
      waiting.push_back(task);
    } else if (what < 6 && !waiting.empty()) {
      auto const victim = waiting.begin() + static_cast<std::ptrdiff_t>(random.below(waiting.size()));
      run.scheduler->withdrawn(*victim, Withdrawal::Cancelled, {});
      waiting.erase(victim);
    } else {
      GroupId const group(static_cast<std::uint32_t>(random.below(3)));
      auto best = waiting.end();
      for (auto task = waiting.begin(); task != waiting.end(); ++task) {
        if (!view.task(*task).allowed_on(group)) continue;
        if (best == waiting.end() || before(view.task(*task), view.task(*best))) best = task;
      }
      ASSERT_EQ(run.next(group), best == waiting.end() ? TaskId{} : *best) << "step " << step;
      if (best != waiting.end()) waiting.erase(best);
    }
  }
}

TEST(Eager, agrees_with_a_slow_queue) {
  compare_with_slow_queue("eager", [](Task const&, Task const&) { return false; });
}

TEST(Prio, agrees_with_a_slow_queue) {
  compare_with_slow_queue("prio", [](Task const& a, Task const& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.id < b.id;
  });
}

TEST(Eager, runs_in_the_order_of_readiness) {
  FakeSystemView view(devices(1));
  FakeRun run(view, make_scheduler("eager"));
  TaskId const a = view.add_task({}, 1);
  TaskId const b = view.add_task({}, 9);
  run.scheduler->ready(b);
  run.scheduler->ready(a);
  EXPECT_EQ(run.next(g0), b);
  EXPECT_EQ(run.next(g0), a);
  EXPECT_EQ(run.next(g0), TaskId{});
}

TEST(Prio, ties_go_to_the_earlier_submission) {
  FakeSystemView view(devices(1));
  FakeRun run(view, make_scheduler("prio"));
  TaskId const a = view.add_task({}, 1);
  TaskId const b = view.add_task({}, 9);
  TaskId const c = view.add_task({}, 9);
  for (TaskId const task : {c, a, b}) run.scheduler->ready(task);
  EXPECT_EQ(run.next(g0), b);
  EXPECT_EQ(run.next(g0), c);
  EXPECT_EQ(run.next(g0), a);
}

TEST(Eager, tasks_of_one_group_do_not_stand_before_those_of_another) {
  FakeSystemView view(devices(2));
  for (auto const* const name : {"eager", "prio"}) {
    FakeRun run(view, make_scheduler(name));
    TaskId const only0 = view.add_task({}, 5, Duration{1}, 1);
    TaskId const only1 = view.add_task({}, 1, Duration{1}, 2);
    run.scheduler->ready(only0);
    run.scheduler->ready(only1);
    EXPECT_EQ(run.next(g1), only1);
    EXPECT_EQ(run.next(g1), TaskId{});
    EXPECT_EQ(run.next(g0), only0);
  }
}

}  // namespace
}  // namespace granary::test::queues_test
