// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/core/policy/task_table.hpp>
#include <granary/detail/policies/policy_options.hpp>

#include <compare>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace granary::detail {

/// LWS, locality work stealing (DARTS, section 4.3): every group has a queue sorted by priority, then by arrival. A
/// task joins the queue of the group that released it; if it may not run there, of the least loaded group that may run
/// it. Tasks that are ready at submission are distributed round-robin over the workers. A group that is about to idle
/// and has an empty queue steals a set of tasks from the nearest group with a queue.
///
/// About to idle: each of its workers has at most one task, so that stolen data are fetched while that one runs. A
/// victim without any committed task keeps one task per worker, which it is about to take itself.
///
/// Options:
///   order  `priority` (the default), as StarPU's lws and as section 7.2 says of LU; `submission`: each queue is in the
///          order of submission, whatever the priorities, as section 7.1.3 says of one GPU. That sentence is also about
///          EAGER, which uses the order of release by section 4.1: with one worker the two are the same for a
///          factorization if the tasks that one task releases come in the order of submission, as in StarPU. Here they
///          come in the opposite order, so the queue is sorted by submission. Section 4.3 leaves the order open, except
///          that thieves take from the end: so they do, and `from` has no effect.
///   steal  the share of the victim's tasks that is stolen, at least one task; by default 1/20, so that a long queue
///          loses several. A large share also takes tasks whose data the victim holds, and many more bytes are moved.
///   from   `urgent` (the default): the last arrived among the most urgent tasks, as in StarPU; `end`: the least urgent
///          tasks, at the end of the whole queue, as in the paper. With equal priorities both are the same. With
///          Cholesky's bottom levels, thieves that run the least urgent tasks delay the critical path.
///
/// Queues are published on the board. Every step costs O(log tasks + distinct sets of allowed groups) per moved task.
class GRANARY_EXPORT LwsScheduler final : public Scheduler {
 public:
  explicit LwsScheduler(PolicyOptions& options);

  void attach(SystemView const& view, PlanBoard& board) override;
  void submitted(TaskId) override { m_releaser = {}; }
  void external_finished(TaskId) override { m_releaser = {}; }
  void finished(TaskId task) override { m_releaser = m_view->assignment(task).group; }
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override;
  /// The task would join the group's queue.
  [[nodiscard]] bool hand_over(TaskId, GroupId) override { return true; }
  [[nodiscard]] bool keeps_plans() const override { return true; }
  [[nodiscard]] bool heeds_priorities() const override { return m_by_priority; }

 private:
  struct Key {
    std::int64_t rank;
    std::uint64_t arrival;
    TaskId task;
    auto operator<=>(Key const&) const = default;
  };
  // The tasks allowed on the same groups, so that a thief sees no others.
  struct Part {
    GroupSet allowed_groups;
    std::set<Key> tasks;
  };
  struct Queue {
    std::vector<Part> parts;
    std::size_t size = 0;
  };
  struct Entry {
    GroupId group;
    Key key;
  };

  [[nodiscard]] GroupId home_of(Task const& task);
  [[nodiscard]] GroupId least_loaded(Task const& task) const;
  [[nodiscard]] bool idles_soon(GroupId group) const;
  void put(Task const& task, GroupId group, std::int64_t rank);
  /// Removes the task from its queue.
  Key take(TaskId task);
  [[nodiscard]] std::set<Key>& part_of(GroupId group, GroupSet allowed_groups);
  void steal(GroupId thief);
  [[nodiscard]] TaskId last_for(GroupId thief, GroupId victim) const;

  bool m_by_priority;
  double m_share;
  bool m_from_urgent;
  SystemView const* m_view = nullptr;
  PlanBoard* m_board = nullptr;
  GroupId m_releaser;                              // of the tasks that become ready now
  std::size_t m_round = 0;                         // the next worker for tasks that are ready at submission
  std::vector<Queue> m_queues;                     // by group
  std::vector<std::vector<GroupId>> m_neighbours;  // by group: the others, nearest first
  TaskTable<Entry> m_entries;
  std::uint64_t m_arrivals = 0;
};

}  // namespace granary::detail
