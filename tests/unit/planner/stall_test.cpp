// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unit/planner/hand.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>

namespace granary::test {
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
        codelet(planner.add_codelet({.name = "work", .kernels = {no_kernel, no_kernel}})) {}
  PolicySet policies(int refusals) {
    auto made = make_policies("eager", "lru");
    auto hesitant = std::make_unique<Hesitant>(refusals);
    scheduler = hesitant.get();
    made.scheduler = std::move(hesitant);
    return made;
  }
  std::size_t runs() {
    planner.submit({.codelet = codelet, .accesses = {}});
    return static_cast<std::size_t>(std::ranges::count_if(
        planner.commands(), [](Command const& command) { return std::holds_alternative<RunCommand>(command); }));
  }
};

TEST(Stall, AReadyTaskThatNoGroupTookIsOfferedToAllOnceMore) { EXPECT_EQ(Hesitation(1).runs(), 1U); }

TEST(Stall, WhatNoGroupTakesIsNotOfferedForEver) {
  Hesitation hesitation(1000);
  EXPECT_EQ(hesitation.runs(), 0U);
  EXPECT_EQ(hesitation.scheduler->refusals_left(), 998);
  EXPECT_EQ(hesitation.planner.live_tasks(), 1U);
  EXPECT_EQ(hesitation.runs(), 0U);  // each task that becomes ready is a new chance
  EXPECT_EQ(hesitation.scheduler->refusals_left(), 996);
}

}  // namespace
}  // namespace granary::test
