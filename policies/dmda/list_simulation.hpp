// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/plan_board.hpp>
#include <granary/detail/core/policy/system_view.hpp>
#include <granary/detail/policies/dmda/expected_start.hpp>
#include <granary/detail/policies/dmda/known_graph.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace granary::detail {

/// Simulates `heftp` from now on, for the tasks that it knows: workers run what they hold, then the committed tasks of
/// their group, then its queue by priority; a task whose predecessors have ended joins the group with the earliest
/// expected end, those that become ready at once by priority. Estimated times are taken as exact, and transfers as
/// overlapped by kernels.
///
/// Of the tasks that were released with the first one, 256 are simulated.
///
/// Starting costs O(workers + committed tasks + tasks released last), and a step O(log tasks + successors + for each
/// released task groups · workers log workers). Queues are not copied.
class GRANARY_EXPORT ListSimulation {
 public:
  /// All must outlive it. `work`: by group, the work of its queued tasks, as for ExpectedStart.
  ListSimulation(SystemView const& view, PlanBoard const& board, ExpectedStart const& starts,
                 std::vector<Duration> const& work, KnownGraph& tasks);

  /// Begins anew with the present state, where the task, which is ready but in no queue, joins the group's.
  void start(TaskId task, GroupId group);
  /// The time from now of the next end of a task; empty if none is running.
  [[nodiscard]] std::optional<Duration> next_end() const;
  /// True if the task with which it started ends next.
  [[nodiscard]] bool task_ends_next() const { return m_events.front().task == m_task; }
  /// Performs the next end. There must be one.
  void step();
  /// From the real now.
  [[nodiscard]] Duration now() const { return Duration{m_now}; }
  /// True if all workers of the kind are running a task.
  [[nodiscard]] bool all_busy(WorkerKind kind) const;

 private:
  using Rep = Duration::rep;
  using Node = KnownGraph::Node;
  struct Event {
    Rep at;
    std::uint64_t number;
    Node* task;  // null: unknown
    std::uint32_t group;
    std::uint32_t lane;
  };
  struct Joined {
    std::int64_t rank;
    std::uint64_t number;
    Node* task;
  };
  struct Given {
    Node* task;
    Rep time;
  };
  struct Group {
    std::vector<Rep> busy_until;      // by lane
    std::vector<std::uint32_t> held;  // by lane: tasks that it runs or that follow
    std::vector<std::uint32_t> idle;  // lanes
    std::vector<Given> committed;     // to be run before the queue
    std::size_t started = 0;          // of these
    PlanBoard::Plan::const_iterator queue{};
    std::vector<Joined> joined;  // heap: tasks that were queued since
    Rep work = 0;                // waiting
    std::size_t count = 0;       // waiting
  };

  void take_state(GroupId id);
  void join(Node& task, std::size_t group);
  void assign(Node& task);
  void assign_all(std::vector<Node*>& tasks);
  void fill(std::size_t group);
  [[nodiscard]] std::optional<Given> take(std::size_t group);
  void run(Node* task, Rep until, std::size_t group, std::uint32_t lane);
  Node& begun(Node& task);
  [[nodiscard]] Rep time_of(Node& task, std::size_t group);
  [[nodiscard]] Rep expected_end(Node& task, std::size_t group);

  SystemView const* m_view;
  PlanBoard const* m_board;
  ExpectedStart const* m_starts;
  std::vector<Duration> const* m_work;
  KnownGraph* m_tasks;
  std::vector<Group> m_groups;
  std::vector<Event> m_events;  // heap
  std::vector<Node*> m_newly;   // scratch
  std::vector<Rep> m_scratch;
  Node* m_task = nullptr;
  Rep m_now = 0;
  std::uint64_t m_number = 0;      // of events and joined tasks
  std::uint64_t m_simulation = 0;  // number of this one
};

}  // namespace granary::detail
