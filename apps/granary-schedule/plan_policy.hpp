// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/policy/scheduler.hpp>
#include <granary/workloads/search/list_schedule.hpp>

#include <cstdint>
#include <vector>

namespace granary::app {

/// Schedules by a plan: each group of workers takes the ready task of its classes with the highest priority. Groups
/// whose data must be fetched take tasks before a worker is idle, so that transfers overlap with work.
class PlanPolicy final : public Scheduler {
 public:
  /// Which task a class starts next: of those that are ready, or, as Strict, of all, for which its workers then wait.
  enum class Order : std::uint8_t { AsReady, Strict };

  /// `home` is the memory in which data are used in place. The problem and the plan must outlive the policy.
  PlanPolicy(ListProblem const& problem, ListPlan const& plan, NodeId home, Order order = Order::AsReady)
      : m_problem(problem), m_plan(plan), m_home(home), m_order(order) {}

  void attach(SystemView const& view, PlanBoard& board) override;
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override;

 private:
  struct Entry {
    double priority;
    std::uint64_t position;
    TaskId task;
    // The one that runs first is the greatest.
    bool operator<(Entry const& other) const {
      return priority != other.priority ? priority < other.priority : position > other.position;
    }
  };

  // Whether the class may start a task now.
  [[nodiscard]] bool has_next(std::uint32_t worker_class) const;

  ListProblem const& m_problem;
  ListPlan const& m_plan;
  NodeId m_home;
  Order m_order;
  SystemView const* m_view = nullptr;
  std::vector<std::vector<std::uint32_t>> m_classes;  // by group
  std::vector<std::vector<Entry>> m_ready;            // by class: heaps
  std::vector<std::vector<std::uint64_t>> m_left;     // Strict, by class: positions, the next one last
};

}  // namespace granary::app
