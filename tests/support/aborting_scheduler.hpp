// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/policy/policy_set.hpp>
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace granary::test {

/// Any scheduler, of whose running tasks some are stopped at random, each a few times at most.
class AbortingScheduler final : public Scheduler, public SystemEvents, public TaskAborter {
 public:
  AbortingScheduler(std::unique_ptr<Scheduler> scheduler, std::uint64_t seed, double chance = 0.3)
      : m_scheduler(std::move(scheduler)),
        m_events(dynamic_cast<SystemEvents*>(m_scheduler.get())),
        m_random(seed),
        m_chance(chance) {}

  void attach(SystemView const& view, PlanBoard& board) override {
    m_view = &view;
    m_scheduler->attach(view, board);
  }
  void ready(TaskId task) override { m_scheduler->ready(task); }
  TaskId next(GroupId group) override { return m_scheduler->next(group); }
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override { m_scheduler->withdrawn(task, why, group); }
  [[nodiscard]] bool hand_over(TaskId task, GroupId group) override { return m_scheduler->hand_over(task, group); }
  [[nodiscard]] Traits traits() const override {
    auto traits = m_scheduler->traits();
    traits.chooses_turns = false;
    return traits;
  }
  [[nodiscard]] std::vector<std::pair<std::string, double>> counters() const override {
    return m_scheduler->counters();
  }
  void submitted(TaskId task) override { m_scheduler->submitted(task); }
  void issued(TaskId task) override { m_scheduler->issued(task); }
  void finished(TaskId task) override { m_scheduler->finished(task); }
  void external_finished(TaskId task) override {
    if (m_events != nullptr) m_events->external_finished(task);
  }
  void replica_expected(DataId data, NodeId node) override {
    if (m_events != nullptr) m_events->replica_expected(data, node);
  }
  void replica_valid(DataId data, NodeId node) override {
    if (m_events != nullptr) m_events->replica_valid(data, node);
  }
  void replica_dropped(DataId data, NodeId node) override {
    if (m_events != nullptr) m_events->replica_dropped(data, node);
  }

  [[nodiscard]] TaskId abort_for(GroupId) override {
    if (!m_random.chance(m_chance)) return {};
    std::vector<TaskId> running;
    for (std::uint32_t g = 0; g < m_view->topology().groups().size(); ++g) {
      for (TaskId const task : m_view->committed(GroupId(g))) {
        if (m_view->may_abort(task) && m_stops[task] < 3) running.push_back(task);
      }
    }
    if (running.empty()) return {};
    TaskId const task = running[m_random.below(running.size())];
    ++m_stops[task];
    return task;
  }

 private:
  std::unique_ptr<Scheduler> m_scheduler;
  SystemEvents* m_events;  // of the scheduler; null: it has none
  SystemView const* m_view = nullptr;
  detail::Random m_random;
  double m_chance;
  std::map<TaskId, int> m_stops;
};

/// The policies with their scheduler in an AbortingScheduler.
inline PolicySet aborting(PolicySet policies, std::uint64_t seed, double chance = 0.3) {
  policies.scheduler = std::make_unique<AbortingScheduler>(std::move(policies.scheduler), seed, chance);
  return policies;
}

}  // namespace granary::test
