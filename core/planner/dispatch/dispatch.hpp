// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/estimator.hpp>
#include <granary/detail/core/planner/dispatch/booking.hpp>
#include <granary/detail/core/planner/dispatch/commuting.hpp>
#include <granary/detail/core/planner/dispatch/result_bounds.hpp>
#include <granary/detail/core/planner/dispatch/scheduler_calls.hpp>
#include <granary/detail/core/planner/dispatch/workers.hpp>
#include <granary/detail/core/planner/movement/movement.hpp>

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace granary::detail {

/// The way of a task: its turn, ready, committed to a group, with places on the group's node, with its inputs there,
/// handed to a worker, ended. The scheduler chooses; Movement gives places and brings values.
class Dispatch {
 public:
  Dispatch(PlannerContext& context, SchedulerCalls& scheduler, Estimator const& estimator, LiveTasks& tasks,
           Movement& movement, ResultBounds& bounds, Booking& booking);

  /// Its predecessors have ended: when it has its turn on the data on which it commutes, the scheduler gets it. It is
  /// cancelled if it lacks an input for ever.
  void make_ready(LiveTask& task);
  /// Commits tasks that the scheduler chooses for the group, as many as it may have ahead of its workers.
  void commit_tasks(GroupId group);
  /// Hands complete tasks to the group's workers; false if no worker got one.
  bool issue_complete(GroupId group);
  /// Ready tasks that no worker runs begin, if no transfer uses what they write. Handovers do not begin.
  void begin_external();
  /// These tasks, and handovers that are ready.
  [[nodiscard]] std::span<TaskId const> external() const { return m_external; }
  [[nodiscard]] bool waits_for_outside() const { return m_begun > 0; }
  /// Tasks that wait for room on the node may find it.
  void give_room(NodeId node);
  /// The datum arrived somewhere, or a transfer of it ended: tasks that waited only for that may start.
  void look_for_complete(DataId data);
  /// A task whose places are all there is handed to the worker behind one that has not ended.
  void issue_behind(LiveTask& task, GroupId group, WorkerId worker);
  /// The task is ready again, or waits again behind another one. `changed`: it may have changed what it writes.
  void take_back(LiveTask& task, bool changed);
  [[nodiscard]] bool may_restart(LiveTask const& task) const;
  /// Stops the tasks that the scheduler names for the group, which has none ahead of its workers.
  void abort_tasks(GroupId group);
  [[nodiscard]] bool aborts() const { return m_aborts; }
  /// True if the task's worker may be told to stop it: a CPU worker that was not told to stop another one.
  [[nodiscard]] bool may_abort(LiveTask const& task) const;
  /// The task ran, failed or will not run: it leaves, and what waited for it alone is ready.
  void end(LiveTask& task);
  /// Makes the oldest committed task that was not handed to a worker the exclusive one: until it is handed to a worker
  /// or ends, no other task takes places. False if there is none, or one is exclusive already.
  bool make_oldest_exclusive();
  /// `true`: tasks release places and take none until `false`, for values that others asked for. False: so before.
  bool give_way(bool to_outgoing_values);
  /// The exclusive task, or an invalid id.
  [[nodiscard]] TaskId exclusive() const { return m_exclusive; }
  /// Asks all groups for ready tasks again, once for each time that all stand still; false if that was done.
  bool offer_to_all_groups();
  /// For messages: "task 'gemm' 17".
  [[nodiscard]] std::string name_of(LiveTask const& task) const;
  /// The node of a committed task.
  [[nodiscard]] NodeId node_of(LiveTask const& task) const {
    return m_context.topology.group(task.assignment.group).node;
  }
  /// The node where the task works with the datum.
  [[nodiscard]] NodeId node_of(LiveTask const& task, DataId data) const {
    return task.external() ? m_movement.data()[data].home : node_of(task);
  }
  [[nodiscard]] LiveTasks& tasks() { return m_tasks; }
  [[nodiscard]] LiveTasks const& tasks() const { return m_tasks; }
  [[nodiscard]] Workers const& workers() const { return m_workers; }
  void worker_is_back(WorkerId worker) { m_workers.back(worker); }
  [[nodiscard]] Commuting const& commuting() const { return m_commuting; }
  /// True if the task is ready without its turns: they are taken when it is committed.
  [[nodiscard]] bool takes_turn_later(LiveTask const& task) const { return m_chooses_turns && !task.external(); }
  [[nodiscard]] Duration kernel_time(Task const& task, GroupId group) const {
    return m_estimator.kernel_time(task.codelet, task.flops, m_context.topology.group(group).kind);
  }
  [[nodiscard]] bool measured(LiveTask const& task, GroupId group) const {
    return m_estimator.measured(task.codelet, m_context.topology.group(group).kind);
  }
  /// The group's unfinished committed tasks, in the order of commitment.
  [[nodiscard]] std::span<TaskId const> committed(GroupId group) const { return m_groups[group.index()].committed; }
  /// The number of those that were not handed to a worker.
  [[nodiscard]] std::uint32_t ahead(GroupId group) const { return m_groups[group.index()].ahead; }
  /// The tasks that wait for inputs.
  [[nodiscard]] std::vector<TaskId> const& fetching(GroupId group) const { return m_groups[group.index()].fetching; }
  [[nodiscard]] bool has_complete(GroupId group) const { return !m_groups[group.index()].complete.empty(); }
  /// True if a task that needs no more room may pass the tasks that wait for room on the node.
  [[nodiscard]] bool may_pass(NodeId node) const;
  [[nodiscard]] std::size_t waiting(NodeId node) const { return m_nodes[node.index()].waiting.size(); }
  [[nodiscard]] std::uint32_t committed_uses(DataId data, NodeId node) const;

 private:
  // Tasks without need of memory that may pass the first one that waits for room: workers are busy, and none starves.
  static constexpr std::uint32_t most_passes = 256;
  struct Node {
    std::deque<TaskId> waiting = {};                 // committed tasks without room, in order
    std::vector<std::uint32_t> committed_uses = {};  // by datum
    std::uint32_t passed = 0;                        // tasks that passed the first waiting one
  };
  struct Group {
    std::vector<TaskId> committed;  // unfinished, in order
    std::vector<TaskId> fetching;   // have places, inputs missing
    std::deque<TaskId> complete;    // have all inputs
    std::uint32_t ahead = 0;        // committed, but not handed to a worker
    TaskId refused;                 // complete, but no worker takes it until another task of the group leaves
  };

  [[nodiscard]] bool lacks_input(LiveTask const& task) const;
  [[nodiscard]] bool complete(LiveTask const& task) const;
  void commit(LiveTask& task, GroupId group);
  void uncommit(LiveTask& task);
  bool place(LiveTask& task, bool may_evict);
  void let_go(LiveTask& task);
  void end_turn(TaskId task, AccessList const& accesses);
  void issue(LiveTask& task, WorkerId worker);
  void revert_writes(LiveTask const& task, bool changed);
  void leave_worker(LiveTask& task, bool returned);
  void release_places(TaskId but);
  void end_exclusivity_of(TaskId task);
  void post_room_on_all_nodes();
  void post_all_groups();
  void waiting_changed(NodeId node) { m_movement.set_waiting(node, m_nodes[node.index()].waiting.size()); }

  PlannerContext& m_context;
  SchedulerCalls& m_scheduler;
  Estimator const& m_estimator;
  LiveTasks& m_tasks;
  Movement& m_movement;
  ResultBounds& m_bounds;
  Booking& m_booking;
  Workers m_workers;
  Commuting m_commuting;
  std::vector<Group> m_groups;
  std::vector<Node> m_nodes;
  std::vector<TaskId> m_external;  // ready
  std::size_t m_begun = 0;         // external tasks
  TaskId m_exclusive;
  bool m_gives_way = false;        // to values that other processes asked for
  bool m_aborts, m_chooses_turns;  // the scheduler does
  bool m_offered_to_all = false;   // the ready tasks, since a task became ready or was committed
};

}  // namespace granary::detail
