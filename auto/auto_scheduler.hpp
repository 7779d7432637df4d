// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/auto/auto_choice.hpp>
#include <granary/detail/auto/auto_eviction.hpp>
#include <granary/detail/auto/auto_tasks.hpp>
#include <granary/detail/auto/candidates.hpp>
#include <granary/detail/auto/replicas.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace granary::detail {

/// Chooses a scheduler, and its eviction policy: it simulates the tasks that wait under each candidate, with the
/// present estimates and the links of the machine (see TrialRuns), and goes on with the fastest one; of whole runs that
/// are about as fast, with the one that moves the fewest bytes. Until it knows
/// enough it uses `darts`: while the codelets of more than a tenth of the tasks were not measured on any kind of
/// worker. If the codelets of the first tasks were measured, it begins with `planned` where all workers share one
/// memory, and with `dmdas` elsewhere. The registry says so of these three (SchedulerEntry::AutoUse).
///
/// It chooses when a burst of submissions has ended and at least as many tasks are new as wait from before; and again
/// when the time between the ends of 64 tasks and of 128, 256, … differs from the simulated one by more than a fifth.
/// The present scheduler stays unless another one is faster by more than 2 %, and by more than the time in which what
/// memories hold would come anew, or is as fast and moves less than three quarters of its bytes. A scheduler that is
/// replaced leaves its committed tasks to run; the next one is told of all others, and of all replicas, as if they had
/// just come.
///
/// Costs are counted, not clocked, so that the same estimates give the same choice: all its simulations together have
/// at most `tasks` tasks, or so many as take 2 % of the believed time of the run at 10 µs each. If that is less than
/// all tasks under all candidates, three or more of the likely ones are simulated until as many tasks of each have
/// ended, and judged by the work done until then and by the longest chain that is left. Such a choice does not change
/// one that was made among whole runs of the same tasks. Likely are dmdas, planned and laheteroprio if all data fit in
/// the memory of each device (of the host if there are none), and else planned, darts and superblock.
///
/// The engine has the simulations made by a thread of its own while the run goes on (compute_in): they work on a copy,
/// and the run changes at the end of a task after them. Elsewhere they are made at once.
class GRANARY_EXPORT AutoScheduler final : public Scheduler,
                                           public SystemEvents,
                                           public SchedulerLimits,
                                           public MetaScheduler {
 public:
  using Options = AutoOptions;
  static constexpr char const* name = "auto";
  explicit AutoScheduler(Options const& options);

  void attach(SystemView const& view, PlanBoard& board) override;
  [[nodiscard]] std::unique_ptr<EvictionPolicy> own_eviction(std::string_view eviction) override;
  void compute_in(Background& background) override { m_choice.compute_in(background); }
  void check(TaskSubmission const& submission, AccessList const& accesses) const override;
  void submitted(TaskId task) override;
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  [[nodiscard]] bool hand_over(TaskId task, GroupId group) override;
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override;
  void issued(TaskId task) override;
  void finished(TaskId task) override;
  void external_finished(TaskId task) override { m_events->external_finished(task); }
  void stalled() override { m_events->stalled(); }
  void released(DataId data) override { m_events->released(data); }
  void replica_expected(DataId data, NodeId node) override;
  void replica_valid(DataId data, NodeId node) override;
  void replica_dropped(DataId data, NodeId node) override;
  /// It chooses turns so that each candidate may: of others, a task without its turn is kept until it has it.
  [[nodiscard]] Traits traits() const override {
    return {.keeps_plans = m_present != nullptr && m_present->traits().keeps_plans, .chooses_turns = true};
  }
  [[nodiscard]] std::uint32_t most_ahead(GroupId group, std::uint32_t depth) const override;
  [[nodiscard]] std::string remark() const override { return m_choice.remark(); }
  /// `choices`, the number of `simulated tasks`, and the counters of the present scheduler.
  [[nodiscard]] std::vector<std::pair<std::string, double>> counters() const override;

 private:
  void use(std::string const& scheduler);

  Candidates m_candidates;
  AutoChoice m_choice;
  AutoTasks m_tasks;
  Replicas m_replicas;
  std::shared_ptr<AutoEviction*> m_own_eviction;  // the planner's; null: the user's is used
  SystemView const* m_view = nullptr;
  PlanBoard* m_board = nullptr;
  std::unique_ptr<Scheduler> m_present;
  SystemEvents m_no_events;
  SystemEvents* m_events = &m_no_events;  // of the present one, or nobody's
  SchedulerLimits m_no_limits;
  SchedulerLimits* m_limits = &m_no_limits;
  std::string m_name;                 // of the present one
  mutable std::uint32_t m_depth = 0;  // PlannerOptions::depth, once known
  mutable bool m_refuses = false;     // the present one cannot have the task that is submitted now
  bool m_begun = false;               // a group asked for one of the first tasks
};

}  // namespace granary::detail
