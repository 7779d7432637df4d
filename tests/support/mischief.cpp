// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/mischief.hpp"

#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace granary::test {
namespace {

/// When the policies do what.
class Plot {
 public:
  Plot(std::uint64_t seed, std::shared_ptr<Misdeeds> misdeeds)
      : m_misdeeds(std::move(misdeeds)), m_random(seed), m_throws(m_random.chance(0.4)) {
    m_calls_left = 1 + m_random.below(m_random.chance(0.5) ? 30 : 1000);
  }

  // At the begin of each function; throws if its turn has come.
  void call() {
    m_misdeeds->asked_after = m_misdeeds->asked_after || m_misdeeds->any();
    if (m_calls_left > 0) --m_calls_left;
    if (!m_throws || m_calls_left > 0) return;
    m_misdeeds->thrown = true;
    if (m_random.chance(0.2)) throw 7;
    throw std::runtime_error("mischief");
  }
  // Whether an answer shall be wrong now, if there is a wrong one.
  [[nodiscard]] bool answers_wrongly() const { return !m_throws && m_calls_left == 0 && !m_misdeeds->any(); }
  template <class Id>
  Id wrong(Id id) {
    m_misdeeds->answered = true;
    return id;
  }
  void keep_back() { m_misdeeds->kept_back = true; }
  [[nodiscard]] detail::Random& random() { return m_random; }

 private:
  std::shared_ptr<Misdeeds> m_misdeeds;
  detail::Random m_random;
  bool m_throws;
  std::uint64_t m_calls_left;
};

class Scheduling : public Scheduler, public SystemEvents, public SchedulerLimits {
 public:
  Scheduling(std::unique_ptr<Scheduler> scheduler, std::shared_ptr<Plot> plot)
      : m_scheduler(std::move(scheduler)),
        m_events(dynamic_cast<SystemEvents*>(m_scheduler.get())),
        m_limits(dynamic_cast<SchedulerLimits*>(m_scheduler.get())),
        m_plot(std::move(plot)) {}

  void attach(SystemView const& view, PlanBoard& board) override {
    m_view = &view;
    m_board = &board;
    m_scheduler->attach(view, board);
  }
  void ready(TaskId task) override {
    m_plot->call();
    m_scheduler->ready(task);
  }
  TaskId next(GroupId group) override {
    m_plot->call();
    if (m_hoards) return {};
    TaskId const right = m_scheduler->next(group);
    return m_plot->answers_wrongly() ? wrong(right, group) : right;
  }
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override {
    m_plot->call();
    if (why != Withdrawal::InputEvicted) m_live.erase(task);
    if (m_lost.contains(task)) return;  // it has given it
    m_scheduler->withdrawn(task, why, group);
  }
  [[nodiscard]] bool hand_over(TaskId task, GroupId group) override {
    m_plot->call();
    return !m_hoards && m_scheduler->hand_over(task, group);
  }
  [[nodiscard]] Traits traits() const override { return m_scheduler->traits(); }
  [[nodiscard]] std::uint32_t most_ahead(GroupId group, std::uint32_t depth) const override {
    m_plot->call();
    return m_limits != nullptr ? m_limits->most_ahead(group, depth) : depth;
  }
  void check(TaskSubmission const& submission, detail::AccessList const& accesses) const override {
    if (m_limits != nullptr) m_limits->check(submission, accesses);
  }
  void submitted(TaskId task) override {
    m_plot->call();
    m_live.insert(task);
    m_scheduler->submitted(task);
  }
  void issued(TaskId task) override {
    m_plot->call();
    m_scheduler->issued(task);
  }
  void finished(TaskId task) override {
    m_plot->call();
    m_live.erase(task);
    m_ended.push_back(task);
    m_scheduler->finished(task);
  }
  void external_finished(TaskId task) override {
    m_plot->call();
    if (m_events != nullptr) m_events->external_finished(task);
  }
  void stalled() override {
    m_plot->call();
    if (m_events != nullptr) m_events->stalled();
  }
  void released(DataId data) override {
    m_plot->call();
    if (m_events != nullptr) m_events->released(data);
  }
  void replica_expected(DataId data, NodeId node) override {
    m_plot->call();
    if (m_events != nullptr) m_events->replica_expected(data, node);
  }
  void replica_valid(DataId data, NodeId node) override {
    m_plot->call();
    if (m_events != nullptr) m_events->replica_valid(data, node);
  }
  void replica_dropped(DataId data, NodeId node) override {
    m_plot->call();
    if (m_events != nullptr) m_events->replica_dropped(data, node);
  }

 protected:
  void call() { m_plot->call(); }
  [[nodiscard]] Scheduler& scheduler() { return *m_scheduler; }

 private:
  // In place of `right`, which may be none; what has no wrong answer now is left for later.
  TaskId wrong(TaskId right, GroupId group) {
    auto& random = m_plot->random();
    switch (random.below(5)) {
      case 0:
        return m_plot->wrong(TaskId(random.chance(0.5) ? std::uint64_t{1} << 40 : 1'000'000));
      case 1:  // the task is lost
        m_plot->keep_back();
        if (right.valid()) m_lost.insert(right);
        m_hoards = random.chance(0.5);
        return {};
      case 2:
        if (!right.valid()) return right;
        m_board->insert(group, right, m_view->task(right).accesses, 0);
        return m_plot->wrong(right);
      case 3:
        return m_ended.empty() || came_back(m_ended.back()) ? right : m_plot->wrong(m_ended.back());
      default:
        break;
    }
    std::vector<TaskId> forbidden;
    for (TaskId const task : m_live) {
      bool const ready = m_view->assignment(task).phase == detail::TaskPhase::Ready;
      if (!ready || !m_view->task(task).allowed_on(group)) forbidden.push_back(task);
    }
    return forbidden.empty() ? right : m_plot->wrong(forbidden[random.below(forbidden.size())]);
  }
  [[nodiscard]] bool came_back(TaskId task) const { return m_live.contains(task); }

  std::unique_ptr<Scheduler> m_scheduler;
  SystemEvents* m_events;  // of the scheduler; null: it has none
  SchedulerLimits* m_limits;
  std::shared_ptr<Plot> m_plot;
  SystemView const* m_view = nullptr;
  PlanBoard* m_board = nullptr;
  std::set<TaskId> m_live;
  std::set<TaskId> m_lost;
  std::vector<TaskId> m_ended;
  bool m_hoards = false;
};

class Aborting final : public Scheduling, public TaskAborter {
 public:
  Aborting(std::unique_ptr<Scheduler> scheduler, std::shared_ptr<Plot> plot)
      : Scheduling(std::move(scheduler), std::move(plot)) {}
  [[nodiscard]] TaskId abort_for(GroupId group) override {
    call();
    return dynamic_cast<TaskAborter&>(scheduler()).abort_for(group);
  }
};

class Evicting final : public EvictionPolicy {
 public:
  Evicting(std::unique_ptr<EvictionPolicy> eviction, std::shared_ptr<Plot> plot)
      : m_eviction(std::move(eviction)), m_plot(std::move(plot)) {}

  void attach(SystemView const& view, PlanBoard const& board) override {
    m_view = &view;
    m_eviction->attach(view, board);
  }
  DataId victim(NodeId node) override {
    m_plot->call();
    DataId const right = m_eviction->victim(node);
    if (!m_plot->answers_wrongly()) return right;
    auto& random = m_plot->random();
    if (random.chance(0.3)) return m_plot->wrong(DataId(random.chance(0.5) ? 1U << 30 : 100'000));
    std::vector<DataId> forbidden;
    for (auto const& [data, where] : m_replicas) {
      if (!m_view->evictable(data, node)) forbidden.push_back(data);
    }
    return forbidden.empty() ? right : m_plot->wrong(forbidden[random.below(forbidden.size())]);
  }
  void replica_added(DataId data, NodeId node) override {
    m_plot->call();
    m_replicas.emplace(data, node);
    m_eviction->replica_added(data, node);
  }
  void replica_used(DataId data, NodeId node) override {
    m_plot->call();
    m_eviction->replica_used(data, node);
  }
  void replica_dropped(DataId data, NodeId node) override {
    m_plot->call();
    m_replicas.erase({data, node});
    m_eviction->replica_dropped(data, node);
  }
  void last_use_ended(DataId data) override {
    m_plot->call();
    m_eviction->last_use_ended(data);
  }
  void planned_uses_changed(DataId data, GroupId group) override {
    m_plot->call();
    m_eviction->planned_uses_changed(data, group);
  }

 private:
  std::unique_ptr<EvictionPolicy> m_eviction;
  std::shared_ptr<Plot> m_plot;
  SystemView const* m_view = nullptr;
  std::set<std::pair<DataId, NodeId>> m_replicas;
};

}  // namespace

PolicySet mischievous(PolicySet policies, std::uint64_t seed, std::shared_ptr<Misdeeds> misdeeds) {
  auto const plot = std::make_shared<Plot>(seed, std::move(misdeeds));
  PolicySet made{nullptr, std::make_unique<Evicting>(std::move(policies.eviction), plot)};
  if (dynamic_cast<TaskAborter*>(policies.scheduler.get()) != nullptr) {
    made.scheduler = std::make_unique<Aborting>(std::move(policies.scheduler), plot);
  } else {
    made.scheduler = std::make_unique<Scheduling>(std::move(policies.scheduler), plot);
  }
  made.scheduler->set_policy_name("mischief");
  made.eviction->set_policy_name("mischief");
  return made;
}

}  // namespace granary::test
