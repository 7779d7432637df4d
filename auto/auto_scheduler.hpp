// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/auto/trial_run.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/eviction_policy.hpp>
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>
#include <granary/detail/core/policy/task_table.hpp>
#include <granary/detail/policies/common/bursts.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace granary {

/// Makes the scheduler "auto" known to the registry; further calls do nothing. Its eviction policy is its own, of the
/// same name.
///
/// ```cpp
/// #include <granary/policy.hpp>
/// granary::register_auto();
/// auto const policies = granary::make_policies("auto", granary::default_eviction("auto"));
/// assert(policies.eviction != nullptr);
/// ```
GRANARY_EXPORT void register_auto();

namespace detail {

/// A set of data on nodes. O(1).
class GRANARY_EXPORT Replicas {
 public:
  void add(DataId data, NodeId node) { m_keys.insert(key(data, node)); }
  void remove(DataId data, NodeId node) { m_keys.erase(key(data, node)); }
  /// By datum, then node. O(replicas · log).
  [[nodiscard]] std::vector<std::pair<DataId, NodeId>> sorted() const;

 private:
  static std::uint64_t key(DataId data, NodeId node) { return std::uint64_t{data.value()} << 32U | node.value(); }
  std::unordered_set<std::uint64_t> m_keys;
};

/// The eviction policy of the present scheduler of an AutoScheduler.
class GRANARY_EXPORT AutoEviction final : public EvictionPolicy {
 public:
  AutoEviction() = default;
  ~AutoEviction() override { *m_self = nullptr; }
  AutoEviction(AutoEviction const&) = delete;
  AutoEviction& operator=(AutoEviction const&) = delete;

  /// Its address; null once it is gone, as when a user replaces it in a PolicySet.
  [[nodiscard]] std::shared_ptr<AutoEviction*> self() const { return m_self; }
  /// The policy that evicts from now on. It is told of the present replicas.
  void use(std::unique_ptr<EvictionPolicy> policy);

  void attach(SystemView const& view, PlanBoard const& board) override;
  DataId victim(NodeId node) override { return m_policy->victim(node); }
  void replica_added(DataId data, NodeId node) override;
  void replica_used(DataId data, NodeId node) override { m_policy->replica_used(data, node); }
  void replica_dropped(DataId data, NodeId node) override;
  void last_use_ended(DataId data) override { m_policy->last_use_ended(data); }
  void planned_uses_changed(DataId data, GroupId group) override { m_policy->planned_uses_changed(data, group); }

 private:
  SystemView const* m_view = nullptr;
  PlanBoard const* m_board = nullptr;
  std::unique_ptr<EvictionPolicy> m_policy;
  Replicas m_replicas;
  std::shared_ptr<AutoEviction*> m_self = std::make_shared<AutoEviction*>(this);
};

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
class GRANARY_EXPORT AutoScheduler final : public Scheduler,
                                           public SystemEvents,
                                           public SchedulerLimits,
                                           public MetaScheduler {
 public:
  struct Options {
    /// As for make_scheduler, the likely ones first. Empty: those that say so in the registry
    /// (SchedulerEntry::AutoUse).
    std::vector<std::string> candidates = {};
    std::string schedule = {};     ///< one more candidate: a static schedule; empty: none
    std::string first = {};        ///< before the codelets were measured; empty: as the registry says
    std::uint64_t tasks = 10'000;  ///< that may be simulated in any case
    std::uint64_t seed = 0;        ///< of the policies
  };
  explicit AutoScheduler(Options options);

  void attach(SystemView const& view, PlanBoard& board) override;
  [[nodiscard]] std::unique_ptr<EvictionPolicy> own_eviction(std::string_view name) override;
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
  [[nodiscard]] std::string remark() const override { return m_remark; }
  /// `choices`, the number of `simulated tasks`, and the counters of the present scheduler.
  [[nodiscard]] std::vector<std::pair<std::string, double>> counters() const override;

 private:
  struct Known {
    std::uint64_t new_in = 0;  // as m_looks, when it was submitted
    bool ready = false;
    std::uint64_t given_by = 0;  // the number of the scheduler that gave it away; 0: none
  };
  struct Candidate {
    std::string name;
    double seconds = 0;               // believed
    double bytes = 0;                 // moved, believed, until so many tasks had ended
    std::vector<Duration> ends = {};  // of its tasks
    std::string limit = {};
  };

  [[nodiscard]] std::string eviction_of(std::string const& candidate) const;
  [[nodiscard]] bool has_one_memory() const;
  [[nodiscard]] bool more_come() const;
  [[nodiscard]] bool due() const;
  void choose();
  [[nodiscard]] bool measured(std::vector<TaskId> const& tasks) const;
  [[nodiscard]] std::uint64_t affordable(double work_seconds) const;
  [[nodiscard]] std::vector<std::string> likely(bool fits) const;
  [[nodiscard]] std::vector<Candidate> try_candidates(std::vector<TaskId> const& tasks, std::uint64_t most_tasks);
  [[nodiscard]] bool stays(Candidate const& present, Candidate const& best) const;
  void use(std::string const& name);
  TaskId give(TaskId task);
  void leave(Known const& known);
  [[nodiscard]] std::vector<TaskId> known_tasks() const;
  [[nodiscard]] TaskId take_with_turn(GroupId group);
  void compare_with_belief();

  Options m_options;
  std::string m_eviction;                         // the user's; empty: the candidates' own
  std::shared_ptr<AutoEviction*> m_own_eviction;  // the planner's; null: the user's is used
  SystemView const* m_view = nullptr;
  PlanBoard* m_board = nullptr;
  std::unique_ptr<Scheduler> m_present;
  SystemEvents m_no_events;
  SystemEvents* m_events = &m_no_events;  // of the present one, or nobody's
  SchedulerLimits m_no_limits;
  SchedulerLimits* m_limits = &m_no_limits;
  std::string m_name;                                     // of the present one
  std::uint64_t m_number = 0;                             // of the present one: how many there were
  mutable std::uint32_t m_depth = 0;                      // PlannerOptions::depth, once known
  mutable bool m_refuses = false;                         // the present one cannot have the task that is submitted now
  TaskTable<Known> m_known;                               // tasks that have not ended
  std::size_t m_known_tasks = 0;                          // how many
  std::vector<TaskId> m_tasks;                            // these, and some that have ended
  std::size_t m_waiting = 0;                              // of those that have not, how many no group has
  std::map<GroupId, std::vector<TaskId>> m_without_turn;  // of these, those that the present scheduler gave away
  Replicas m_replicas;
  bool m_begun = false;  // a group asked for one of the first tasks
  Bursts m_bursts;
  Instant m_burst_began{};
  Instant m_last_submission{};
  std::size_t m_new = 0;             // waiting tasks that were submitted since the last choice
  std::size_t m_finished = 0;        // tasks
  std::size_t m_look_again = 0;      // too little was measured: look again when so many have finished
  bool m_departed = false;           // from what was believed
  bool m_chose_among_whole = false;  // the last choice compared whole runs, and no task has come since
  std::vector<Duration> m_ends;      // believed, since the last choice
  Instant m_chosen_at{};
  Instant m_compared_from{};
  double m_done = 0;             // work since the last choice, as TrialRuns::work_seconds
  std::size_t m_ended = 0;       // tasks since then
  std::size_t m_compare_at = 0;  // so many
  std::uint64_t m_looks = 0;     // how often it looked for a faster one; a choice if it could afford simulations
  std::uint64_t m_choices = 0;
  std::uint64_t m_simulated = 0;  // tasks
  std::string m_remark;
};

}  // namespace detail
}  // namespace granary
