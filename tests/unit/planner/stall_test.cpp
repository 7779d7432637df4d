// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unit/planner/hand.hpp"

#include <granary/detail/core/base/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

namespace granary::test {

using namespace detail;

namespace {

// Gives nothing the first times that it is asked.
class Hesitant final : public Scheduler {
 public:
  explicit Hesitant(int refusals) : m_refusals(refusals) {}
  void attach(SystemView const&, PlanBoard&) override {}
  void ready(TaskId task) override { m_ready.push_back(task); }
  [[nodiscard]] TaskId next(GroupId) override {
    if (m_ready.empty() || m_refusals-- > 0) return {};
    TaskId const task = m_ready.front();
    m_ready.pop_front();
    return task;
  }
  void withdrawn(TaskId task, Withdrawal, GroupId) override { std::erase(m_ready, task); }
  [[nodiscard]] int refusals_left() const { return m_refusals; }

 private:
  int m_refusals;
  std::deque<TaskId> m_ready;
};

struct Hesitation {
  AveragingEstimator estimator;
  Hesitant* scheduler;
  Planner planner;
  CodeletId codelet;

  explicit Hesitation(int refusals)
      : planner(Topology(disk_and_host(1000)), policies(refusals), estimator),
        codelet(planner.handle(AddCodelet{{.name = "work", .kernels = {no_kernel, no_kernel}}})) {}
  PolicySet policies(int refusals) {
    auto made = make_policies("eager", "lru");
    auto hesitant = std::make_unique<Hesitant>(refusals);
    scheduler = hesitant.get();
    made.scheduler = std::move(hesitant);
    return made;
  }
  std::size_t runs() {
    planner.handle(TaskSubmission{.codelet = codelet, .accesses = {}});
    return static_cast<std::size_t>(std::ranges::count_if(
        planner.commands(), [](Command const& command) { return std::holds_alternative<RunCommand>(command); }));
  }
};

TEST(Stall, AReadyTaskThatNoGroupTookIsOfferedToAllOnceMore) { EXPECT_EQ(Hesitation(1).runs(), 1U); }

TEST(Stall, WhatNoGroupTakesIsOfferedOnceMoreAndThenTheRunFails) {
  Hesitation hesitation(1000);
  EXPECT_EQ(hesitation.runs(), 0U);
  EXPECT_EQ(hesitation.scheduler->refusals_left(), 998);
  EXPECT_EQ(hesitation.planner.live_tasks(), 0U);
  EXPECT_NE(hesitation.planner.policy_fault(), nullptr);
  EXPECT_THROW(hesitation.runs(), Error);
}

// Gives each task to the group whose number is its priority.
class ByPriority final : public Scheduler {
 public:
  void attach(SystemView const& view, PlanBoard&) override { m_view = &view; }
  void ready(TaskId task) override { m_ready.push_back(task); }
  [[nodiscard]] TaskId next(GroupId group) override {
    auto const found = std::ranges::find_if(
        m_ready, [&](TaskId task) { return m_view->task(task).priority == static_cast<std::int64_t>(group.index()); });
    if (found == m_ready.end()) return {};
    TaskId const task = *found;
    m_ready.erase(found);
    return task;
  }
  void withdrawn(TaskId task, Withdrawal, GroupId) override { std::erase(m_ready, task); }

 private:
  SystemView const* m_view = nullptr;
  std::deque<TaskId> m_ready;
};
SchedulerRegistration const by_priority("test-by-priority",
                                        [](PolicyOptions&) { return std::make_unique<ByPriority>(); });

// Two hosts, `a` and `b`, between two disks, and a third host, `c`, from which `a` gets data faster than from the
// second disk: what goes from there to `a` passes through `b`, what goes from the first disk to `b` through `a`.
struct Crossing {
  static Machine machine() {
    Machine machine;
    NodeId const left = machine.add_node({.name = "left", .kind = NodeKind::Disk});
    NodeId const a = machine.add_node({.name = "a", .capacity = 300, .alignment = 1});
    NodeId const b = machine.add_node({.name = "b", .capacity = 200, .alignment = 1});
    NodeId const right = machine.add_node({.name = "right", .kind = NodeKind::Disk});
    NodeId const c = machine.add_node({.name = "c", .capacity = 200, .alignment = 1});
    machine.add_link_pair(left, a, 1e9);
    machine.add_link_pair(a, b, 1e9);
    machine.add_link_pair(b, right, 1e9);
    machine.add_link_pair(c, a, 0.8e9);
    machine.add_link_pair(right, c, 1e9);
    for (NodeId const node : {a, b, c}) machine.add_worker({.name = "worker", .node = node});
    return machine;
  }
  static constexpr std::int64_t on_a = 0, on_b = 1, on_c = 2;
};

void block_each_other(Hand& hand) {
  auto const stored = [&](std::string const& name, NodeId disk) {
    return hand.add({.name = name, .bytes = 100, .origin = disk, .home = disk, .origin_is_home = true});
  };
  NodeId const left(0);
  NodeId const right(3);
  DataId const from_left = stored("from the left", left);
  DataId const from_right = stored("from the right", right);
  DataId const other = stored("other", right);
  DataId const result = hand.temporary("result", 100);
  hand.submit({read(from_right)}, Crossing::on_c);
  hand.finish_all();
  hand.finish(hand.submit({write(result)}, Crossing::on_c));
  // Its second datum waits behind the first one on the link from c.
  TaskId const oldest = hand.submit({read(result), read(from_right)}, Crossing::on_a);
  ASSERT_EQ(hand.copies.size(), 1U);
  auto const from_c = hand.copies.front();
  hand.copies.clear();
  // It holds b, and its datum waits for room on a.
  TaskId const younger = hand.submit({read(from_left)}, Crossing::on_b);
  EXPECT_TRUE(hand.copies.empty());
  // Now c drops the datum, which the oldest task can get from the right only, through b.
  hand.submit({read(other)}, Crossing::on_c);
  EXPECT_TRUE(hand.freed(from_right, NodeId(4)));
  hand.copies.push_back(from_c);
  hand.finish_all();
  EXPECT_EQ(hand.order_of_runs().size(), 5U);
  EXPECT_LT(std::ranges::find(hand.log, Act(RunCommand{oldest, WorkerId(0)})),
            std::ranges::find(hand.log, Act(RunCommand{younger, WorkerId(1)})));
  EXPECT_TRUE(hand.planner.handle(TakeFailures{}).empty());
}

TEST(Stall, TheOldestTaskGetsTheMemoryThroughWhichItsDataMustPass) {
  Hand hand(Crossing::machine(), {}, "test-by-priority", "lru");
  block_each_other(hand);
  EXPECT_TRUE(hand.planner.idle());
}

TEST(Stall, IsNotHiddenByATaskThatWaitsForWhatIsOutside) {
  Hand hand(Crossing::machine(), {}, "test-by-priority", "lru");
  hand.codelet = hand.planner.handle(AddCodelet{{.name = "outgoing value", .external = true}});
  TaskId const outgoing_value = hand.submit({});
  hand.codelet = CodeletId(0);
  block_each_other(hand);
  EXPECT_EQ(hand.planner.live_tasks(), 1U);
  hand.finish(outgoing_value);
  EXPECT_TRUE(hand.planner.idle());
}

TEST(Stall, ATaskThatWaitsForRoomIsPassedSoManyTimesAndNoMore) {
  Hand hand(disk_and_host(1000, 8, 2));
  DataId const large = hand.temporary("large", 600);
  DataId const larger = hand.temporary("larger", 700);
  DataId const small = hand.temporary("small", 100);
  hand.finish(hand.submit({write(small)}));
  TaskId const holder = hand.submit({write(large)});
  auto const count_passes = [&] {
    for (std::size_t passed = 0;; ++passed) {
      TaskId const passing = hand.submit({read(small)});
      if (passed == 1000 || !hand.runs_now(passing)) return passed;
      hand.finish(passing);
    }
  };
  hand.submit({write(larger)});
  EXPECT_EQ(count_passes(), 256U);
  hand.cancel_all();
  static_cast<void>(hand.planner.handle(TakeFailures{}));
  TaskId const waiting = hand.submit({write(larger)});
  EXPECT_EQ(count_passes(), 256U) << "none of these passed the task that waits now";
  hand.finish(holder);
  hand.finish_copies();
  EXPECT_TRUE(hand.runs_now(waiting));
  hand.finish_all();
  EXPECT_TRUE(hand.planner.idle());
}

}  // namespace
}  // namespace granary::test
