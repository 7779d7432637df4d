// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>
#include <granary/detail/policies/common/priority_rank.hpp>
#include <granary/detail/policies/policy_options.hpp>
#include <granary/detail/policies/queues/neighbours.hpp>
#include <granary/detail/policies/queues/queues_by_groups.hpp>
#include <granary/detail/policies/registry.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace granary::detail {
namespace {

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
class LfqScheduler final : public Scheduler, public SystemEvents {
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
  [[nodiscard]] Traits traits() const override { return {.keeps_plans = true}; }

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

SchedulerRegistration const lfq_registration("lfq", [](PolicyOptions& options) {
  return std::make_unique<LfqScheduler>(options);
});

}  // namespace

void LfqScheduler::attach(SystemView const& view, PlanBoard& board) {
  m_view = &view;
  m_board = &board;
  m_room *= view.topology().machine().workers.size();
  m_neighbours = neighbours_of_groups(view.topology());
}

void LfqScheduler::begin_release(GroupId releaser) {
  distribute();
  m_releaser = releaser;
}

void LfqScheduler::distribute() {
  if (m_released.empty()) return;
  GroupId const group = m_releaser.valid() ? m_releaser : GroupId(0);
  auto const room = m_room * m_view->topology().group(group).workers.size();
  std::ranges::stable_sort(m_released, std::greater<>{}, [&](TaskId task) { return m_view->task(task).priority; });
  for (TaskId const id : m_released) {
    auto const& task = m_view->task(id);
    if (task.allowed_on(group) && m_board->plan(group).size() < room) {
      m_board->insert(group, id, task.accesses, priority_rank(task.priority));
    } else {
      m_shared.push(task.allowed_groups, {m_arrivals++, id});
    }
  }
  m_released.clear();
}

TaskId LfqScheduler::first_for(GroupId group, GroupId queue) const {
  for (auto const& [position, task] : m_board->plan(queue)) {
    if (m_view->task(task).allowed_on(group)) return task;
  }
  return {};
}

TaskId LfqScheduler::next(GroupId group) {
  distribute();
  TaskId task = first_for(group, group);
  for (GroupId const victim : m_neighbours[group.index()]) {
    if (task.valid()) break;
    task = first_for(group, victim);
  }
  if (!task.valid()) return m_shared.take(group);
  m_board->remove(task);
  return task;
}

void LfqScheduler::withdrawn(TaskId task, Withdrawal why, GroupId) {
  if (why != Withdrawal::Cancelled || std::erase(m_released, task) > 0) return;
  if (m_board->planned(task)) {
    m_board->remove(task);
  } else {
    m_shared.cancel(task);
  }
}

}  // namespace granary::detail