// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/planner/dispatch/live_task.hpp>
#include <granary/detail/core/planner/policy_calls.hpp>
#include <granary/detail/core/policy/plan_board.hpp>
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace granary::detail {

/// The calls of the scheduler, and whether it keeps its contract: see PolicyCalls. What it answers is checked against
/// what the planner knows of the task anyway. After the fault of a policy it gives those tasks itself that workers give
/// back: they may have overwritten values, so that they are not cancelled with the others.
class SchedulerCalls {
  static std::string nothing() { return {}; }
  [[nodiscard]] static auto naming() { return nothing; }
  [[nodiscard]] auto naming(TaskId task) const {
    return [this, task] { return name_of(task); };
  }
  [[nodiscard]] auto naming(DataId data) const {
    return [this, data] { return m_calls.name_of(data); };
  }
  [[nodiscard]] auto naming(DataId data, NodeId node) const {
    return [this, data, node] { return m_calls.name_of(data, node); };
  }

 public:
  SchedulerCalls(PlannerContext& context, Scheduler& scheduler, PlanBoard const& board, LiveTasks& tasks)
      : m_context(context),
        m_scheduler(scheduler),
        m_events(dynamic_cast<SystemEvents*>(&scheduler)),
        m_limits(dynamic_cast<SchedulerLimits*>(&scheduler)),
        m_aborter(dynamic_cast<TaskAborter*>(&scheduler)),
        m_board(board),
        m_tasks(tasks),
        m_calls(context, "scheduler", scheduler) {}
  void look_into(DataTable const& data) { m_calls.look_into(data); }
  [[nodiscard]] bool ended() const { return m_calls.ended(); }
  /// For messages: "task 'gemm' 17".
  [[nodiscard]] std::string name_of(TaskId task) const;

  // These may refuse: nothing has changed yet.
  void attach(SystemView const& view, PlanBoard& board) {
    m_calls.call_to_refuse("attach", [&] { m_scheduler.attach(view, board); });
  }
  void check(TaskSubmission const& submission, AccessList const& accesses) const {
    if (m_limits != nullptr) m_calls.call_to_refuse("check", [&] { m_limits->check(submission, accesses); });
  }
  [[nodiscard]] bool aborts_tasks() const { return m_aborter != nullptr; }
  [[nodiscard]] bool chooses_turns() const {
    return m_calls.call_to_refuse("traits", [&] { return m_scheduler.traits().chooses_turns; });
  }

  /// A ready task that the group may run, off the board, or null.
  [[nodiscard]] LiveTask* next(GroupId group) {
    if (ended()) [[unlikely]]
      return next_that_came_back(group);
    TaskId const id = m_calls.call(
        "next", [&] { return m_scheduler.next(group); }, nothing);
    if (!id.valid()) return nullptr;
    LiveTask* const task = m_tasks.find(id);
    bool const right = task != nullptr && task->assignment.phase == TaskPhase::Ready && task->allowed_on(group) &&
                       !task->cancelled && !m_board.planned(id);
    if (!right) [[unlikely]]
      refuse(id, group);
    return right ? task : nullptr;
  }
  /// It chose a task that could not have its turn.
  void has_no_turn(TaskId task);
  /// Asks the scheduler; true if the task may be handed over to a lane of the group.
  [[nodiscard]] bool hand_over(TaskId task, GroupId group);
  /// A live task, or null. Only with `aborts_tasks`.
  [[nodiscard]] LiveTask* abort_for(GroupId group);
  void may_not_abort(TaskId task) const {
    m_calls.blame("had " + name_of(task) + " stopped, which may not be stopped");
  }
  [[nodiscard]] std::uint32_t most_ahead(GroupId group, std::uint32_t depth) const {
    if (m_limits == nullptr || ended()) return depth;
    return m_calls.call(
        "most_ahead", [&] { return m_limits->most_ahead(group, depth); }, nothing);
  }
  [[nodiscard]] bool keeps_plans() const {
    return m_calls.call(
        "traits", [&] { return m_scheduler.traits().keeps_plans; }, nothing);
  }
  /// It gave none of the tasks that it has, although nothing else is under way and all groups were asked again. False
  /// if it has none.
  bool withholds();
  /// True if the planned task may still be given; else the scheduler is at fault.
  bool may_be_planned(TaskId task) const;

  void submitted(TaskId task) {
    m_calls.call(
        "submitted", [&] { m_scheduler.submitted(task); }, naming(task));
  }
  void ready(TaskId task) {
    if (ended()) return m_came_back.push_back(task);
    m_calls.call(
        "ready", [&] { m_scheduler.ready(task); }, naming(task));
  }
  void issued(TaskId task) {
    m_calls.call(
        "issued", [&] { m_scheduler.issued(task); }, naming(task));
  }
  void finished(TaskId task) {
    m_calls.call(
        "finished", [&] { m_scheduler.finished(task); }, naming(task));
  }
  void withdrawn(TaskId task, Withdrawal why, GroupId group);
  void external_finished(TaskId task) { tell("external_finished", &SystemEvents::external_finished, task); }
  void stalled() { tell("stalled", &SystemEvents::stalled); }
  void released(DataId data) { tell("released", &SystemEvents::released, data); }
  void replica_expected(DataId data, NodeId node) {
    tell("replica_expected", &SystemEvents::replica_expected, data, node);
  }
  void replica_valid(DataId data, NodeId node) { tell("replica_valid", &SystemEvents::replica_valid, data, node); }
  void replica_dropped(DataId data, NodeId node) {
    tell("replica_dropped", &SystemEvents::replica_dropped, data, node);
  }

 private:
  template <class... Ids>
  void tell(char const* name, void (SystemEvents::*event)(Ids...), Ids... ids) const {
    if (m_events == nullptr) return;
    m_calls.call(
        name, [&] { (m_events->*event)(ids...); }, naming(ids...));
  }
  void refuse(TaskId task, GroupId group) const;
  [[nodiscard]] LiveTask* next_that_came_back(GroupId group);

  PlannerContext const& m_context;
  Scheduler& m_scheduler;
  // Its further interfaces; null: it has none.
  SystemEvents* m_events;
  SchedulerLimits* m_limits;
  TaskAborter* m_aborter;
  PlanBoard const& m_board;
  LiveTasks& m_tasks;
  PolicyCalls m_calls;
  std::vector<TaskId> m_came_back;  // tasks that workers gave back after the end of the run: they run again
};

}  // namespace granary::detail
