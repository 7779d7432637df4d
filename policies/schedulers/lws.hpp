// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/policy/scheduler.hpp>
#include <granary/core/policy/task_slots.hpp>
#include <granary/policies/policy_options.hpp>

#include <compare>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// LWS, locality work stealing (DARTS, section 4.3): every group has a queue sorted by priority, then by arrival. A
/// task joins the queue of the group that released it; where it may not run, of the least loaded group where it may;
/// tasks that nobody released go round the workers. A group that is about to idle and has an empty queue steals a set
/// of tasks from another one's queue, the nearest first.
///
/// About to idle: each of its workers has at most one task, so that what is stolen is fetched while that one runs. A
/// group that has nothing at all is left one task per worker: it is about to take them itself.
///
/// Options:
///   steal  the share of the victim's tasks that is taken, at least one task; a twentieth by default: a set where the
///          queue is long. A large share takes tasks along whose data the victim holds, and data move much more.
///   from   `urgent` (the default): among the most urgent tasks those that came last, as the peer does; `end`: those at
///          the end of the whole queue, the least urgent, as the paper says. With equal priorities both are the same;
///          with Cholesky's bottom levels, thieves that work on what is needed last keep the critical path waiting.
///
/// Queues are published on the board. Every step costs O(log tasks + distinct sets of allowed groups) per task moved.
class LwsScheduler final : public Scheduler {
 public:
  explicit LwsScheduler(PolicyOptions& options);

  void attach(SystemView const& view, PlanBoard& board) override;
  void submitted(TaskId) override { m_releaser = {}; }
  void finished(TaskId task) override { m_releaser = m_view->task(task).group; }
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  void cancelled(TaskId task) override;
  /// Its queue would be the group's.
  [[nodiscard]] bool follows(TaskId, GroupId) override { return true; }
  [[nodiscard]] bool keeps_plans() const override { return true; }

 private:
  struct Key {
    std::int64_t rank;
    std::uint64_t arrival;
    TaskId task;
    friend auto operator<=>(Key const&, Key const&) = default;
  };
  // The tasks that may run on the same groups, so that a thief sees no others.
  struct Part {
    std::uint64_t allowed_groups;
    std::set<Key> tasks;
  };
  struct Queue {
    std::vector<Part> parts;
    std::size_t size = 0;
  };
  struct Place {
    GroupId group;
    Key key;
  };

  [[nodiscard]] GroupId home_of(Task const& task);
  [[nodiscard]] GroupId least_loaded(Task const& task) const;
  [[nodiscard]] bool idles_soon(GroupId group) const;
  void put(Task const& task, GroupId group, std::int64_t rank);
  /// Takes the task out of its queue.
  Key take(TaskId task);
  [[nodiscard]] std::set<Key>& part_of(GroupId group, std::uint64_t allowed_groups);
  void steal(GroupId thief);
  [[nodiscard]] TaskId last_for(GroupId thief, GroupId victim) const;

  double m_share;
  bool m_from_urgent;
  SystemView const* m_view = nullptr;
  PlanBoard* m_board = nullptr;
  GroupId m_releaser;                              // of the tasks that become ready now
  std::size_t m_round = 0;                         // the worker that comes next for tasks that nobody released
  std::vector<Queue> m_queues;                     // by group
  std::vector<std::vector<GroupId>> m_neighbours;  // by group: the others, the nearest first
  TaskSlots m_slots;                               // into m_places
  std::vector<Place> m_places;
  std::vector<std::uint32_t> m_free_slots;
  std::uint64_t m_arrivals = 0;
};

}  // namespace granary

#pragma GCC visibility pop
