// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/core/policy/task_table.hpp>
#include <granary/detail/policies/common/priority_rank.hpp>
#include <granary/detail/policies/dmda/expected_start.hpp>
#include <granary/detail/policies/policy_options.hpp>

#include <cstdint>
#include <vector>

namespace granary::detail {

/// DMDA (DARTS, Algorithm 1): a ready task is assigned at once to the group with the smallest alpha · end + beta ·
/// transfers. end is the expected start plus the kernel time; transfers is the sum of equation 4.2 over the inputs that
/// are not on the node and that no earlier assigned task will bring there. With the defaults alpha = beta = 1 this is
/// C(T, PU) of equation 4.2 plus the group's expected start. Ties go to the first group.
///
/// Predicted transfers share their buses with all others that may cross them, from and to each device, as StarPU
/// predicts them (there independently of the buses). With the times of single transfers, tasks of a Cholesky
/// factorization on four devices behind one bus change groups for the slightest imbalance, and 50 % more bytes are
/// moved. The option `contention`, from 0 to 1, scales that slowdown.
///
/// Option prefetch: `depth` (the default) leaves it to the planner, which fetches the data of the next tasks of each
/// group; `assign` also asks it to bring a task's inputs as soon as the task is assigned (Algorithm 1, lines 6 to 8),
/// as StarPU does: PlanBoard::want_inputs. Of a long queue the memory then fills with inputs of tasks that run much
/// later.
///
/// A group's queue is its plan on the board: in the order of release, or by priority, equal priorities in the order of
/// release. An assignment costs O(groups · (accesses + committed tasks) + log).
///
/// The dynamic HEFT variants (Static, section V) are the same implementation under other names: a ready task joins the
/// queue of the group with the earliest expected completion, which is the time at which a worker there has finished all
/// running and waiting tasks, plus the task's run time there. `heft` is `dmda`; `heftp`, with queues by priority
/// (submit bottom levels over each task's shortest time), is `dmdas:ready=none`. The paper does not say how transfers
/// count. With alpha = beta = 1 their time is added to the completion although transfers may overlap with earlier
/// tasks, since they occupy links: on mirage (Cholesky, 32 tiles) this moves a third fewer bytes than max(start,
/// transfers) and is as fast. Expected starts follow from the tasks that really run, so errors of the estimates do not
/// accumulate. There is no insertion into gaps as in the static HEFT: a queue of ready tasks has none.
class GRANARY_EXPORT DmdaScheduler : public Scheduler {
 public:
  /// Options: alpha (1), beta (1), contention (1), prefetch (depth).
  DmdaScheduler(PolicyOptions& options, bool by_priority);

  void attach(SystemView const& view, PlanBoard& board) override;
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override;
  /// A task that would be assigned to the group.
  [[nodiscard]] bool hand_over(TaskId task, GroupId group) override {
    auto const& known = view().task(task);
    return assign(known, known.allowed_groups).group == group;
  }
  [[nodiscard]] Traits traits() const override { return {.keeps_plans = true, .heeds_priorities = m_by_priority}; }
  void issued(TaskId task) override { m_start.issued(task); }
  void finished(TaskId task) override { m_start.finished(task); }

 protected:
  struct Queued {
    GroupId group;
    Duration duration{0};
    Duration end{0};  ///< expected, with transfers; from now
  };

  [[nodiscard]] SystemView const& view() const { return *m_view; }
  [[nodiscard]] PlanBoard const& board() const { return *m_board; }
  [[nodiscard]] ExpectedStart const& starts() const { return m_start; }
  /// By group: durations of the queued tasks.
  [[nodiscard]] std::vector<Duration> const& work() const { return m_work; }
  /// The best of these groups; `group` is invalid if there are none.
  [[nodiscard]] Queued assign(Task const& task, GroupSet among) const;
  /// A group's queue is sorted by rank, equal ranks by arrival.
  [[nodiscard]] std::int64_t rank(Task const& task) const { return m_by_priority ? priority_rank(task.priority) : 0; }

 private:
  /// The place of a ready task for which `assigned` is the best one.
  [[nodiscard]] virtual Queued reconsider(Task const&, Queued const& assigned) { return assigned; }
  /// The next task to take from the group's queue, which is not empty.
  [[nodiscard]] virtual TaskId choose(GroupId group) { return m_board->plan(group).begin()->second; }
  /// The task has joined the group's queue, or is about to leave it.
  virtual void joined(Task const&, GroupId) {}
  virtual void leaves(Task const&, GroupId) {}

  void remove(TaskId task);

  bool m_by_priority;
  double m_alpha;
  double m_beta;
  double m_contention;
  bool m_at_assignment;            // inputs are wanted then
  std::vector<double> m_slowdown;  // by group: slowdown of transfers to its node
  SystemView const* m_view = nullptr;
  PlanBoard* m_board = nullptr;
  ExpectedStart m_start;
  std::vector<Duration> m_work;  // by group: durations of the queued tasks
  TaskTable<Queued> m_queued;
};

}  // namespace granary::detail
