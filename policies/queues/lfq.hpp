// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/policies/policy_options.hpp>
#include <granary/detail/policies/queues/queues_by_groups.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace granary::detail {

/// LFQ, local flat queues, the default scheduler of PaRSEC (DARTS, section 4.4; PaRSEC, parsec/mca/sched/lfq): every
/// group has a local queue with a limit, and all share one queue without.
///
/// - The tasks that a task released join the local queue of the group that ran it, most urgent first, while there is
///   room; the others go to the back of the shared queue. Those that the group may not run go there, too. A task in a
///   local queue is not put out for a more urgent one.
/// - Tasks that no worker released join the first group's queue in the same way: PaRSEC puts them into the queue of the
///   thread that starts or submits.
/// - A group takes the most urgent task of its own queue, else of the nearest queue that has one for it, else the first
///   of the shared queue, which does not look at priorities.
///
/// Differences from PaRSEC: there each thread has such a queue, and what is chosen for a device waits once more in the
/// device's list; here each group has one queue, with the room of its workers' queues. A group asks for as many tasks
/// as it may have ahead of its workers, so it steals that much earlier than an idle thread. Equally urgent tasks are
/// taken in the order in which they came, not by their slots. A thread of PaRSEC keeps the most urgent task that it
/// released out of its queue to run it next (`runtime_keep_highest_priority_task`), which is not the scheduler's part
/// and not done here. Tasks that a worker gave back are new ones.
///
/// Option:
///   queue  (4) the room of each worker's queue is this many times the machine's number of workers, as in PaRSEC.
///
/// Local queues are published on the board. A task costs O(log queue + distinct sets of allowed groups), a theft also
/// one step for each task before it in the victim's queue, and O(groups).
class GRANARY_EXPORT LfqScheduler final : public Scheduler {
 public:
  explicit LfqScheduler(PolicyOptions& options)
      : m_room(static_cast<std::size_t>(options.integer("queue", 4, 1, 1'000'000))) {}

  void attach(SystemView const& view, PlanBoard& board) override;
  void submitted(TaskId) override { begin_release({}); }
  void external_finished(TaskId) override { begin_release({}); }
  void finished(TaskId task) override { begin_release(m_view->assignment(task).group); }
  void ready(TaskId task) override { m_released.push_back(task); }
  [[nodiscard]] TaskId next(GroupId group) override;
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override;
  [[nodiscard]] bool keeps_plans() const override { return true; }

 private:
  void begin_release(GroupId releaser);
  /// Puts the tasks of the present release into queues.
  void distribute();
  [[nodiscard]] TaskId first_for(GroupId group, GroupId queue) const;

  std::size_t m_room;
  SystemView const* m_view = nullptr;
  PlanBoard* m_board = nullptr;
  GroupId m_releaser;
  std::vector<TaskId> m_released;                  // by the last task that ended, or submitted, in order
  std::vector<std::vector<GroupId>> m_neighbours;  // by group: the others, nearest first
  QueuesByGroups<FifoQueue> m_shared;
  std::uint64_t m_arrivals = 0;
};

}  // namespace granary::detail
