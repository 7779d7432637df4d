// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/dispatch/scheduler_calls.hpp>

#include <algorithm>

namespace granary::detail {
namespace {

bool withheld(LiveTask const& task) {
  return task.assignment.phase == TaskPhase::Ready && !task.external() && !task.cancelled;
}

}  // namespace

std::string SchedulerCalls::name_of(TaskId id) const {
  auto const* const task = m_tasks.find(id);
  if (task == nullptr || task->handover()) return "the task with the id " + std::to_string(id.value());
  return "task '" + m_context.codelets[task->codelet.index()].name + "' " + std::to_string(task->position);
}

void SchedulerCalls::refuse(TaskId id, GroupId group) const {
  auto const* const task = m_tasks.find(id);
  auto const gave = [&](std::string const& what) { m_calls.blame("gave " + name_of(id) + what); };
  if (task == nullptr) return gave(id.value() < m_tasks.submitted() ? ", which has ended" : ", which does not exist");
  if (task->external()) return gave(", which no worker runs");
  if (task->assignment.phase > TaskPhase::Ready) return gave(" a second time");
  if (task->cancelled) return gave(", which is cancelled");
  if (task->assignment.phase == TaskPhase::Waiting) return gave(", which is not ready");
  auto const& workers = m_context.topology.group(group);
  if (!task->allowed_on(group)) {
    return gave(std::string(" to the ") + (workers.kind == WorkerKind::Cpu ? "CPU" : "device") +
                " workers of memory node '" + m_context.topology.machine()[workers.node].name +
                "', which cannot run it");
  }
  gave(" and left it on a plan");
}

LiveTask* SchedulerCalls::next_that_came_back(GroupId group) {
  auto const found = std::ranges::find_if(m_came_back, [&](TaskId id) { return m_tasks[id].allowed_on(group); });
  if (found == m_came_back.end()) return nullptr;
  auto& task = m_tasks[*found];
  m_came_back.erase(found);
  return &task;
}

void SchedulerCalls::has_no_turn(TaskId task) {
  if (ended()) return m_came_back.push_back(task);  // until the turn of another one ends
  m_calls.blame("gave " + name_of(task) + " while another task had its turn");
}

bool SchedulerCalls::hand_over(TaskId task, GroupId group) {
  bool const handed = m_calls.call(
      "hand_over", [&] { return m_scheduler.hand_over(task, group); }, naming(task));
  if (!handed || !m_board.planned(task)) return handed;
  m_calls.blame("handed " + name_of(task) + " over and left it on a plan");
  return false;
}

LiveTask* SchedulerCalls::abort_for(GroupId group) {
  TaskId const id = m_calls.call(
      "abort_for", [&] { return m_aborter->abort_for(group); }, nothing);
  if (!id.valid()) return nullptr;
  LiveTask* const task = m_tasks.find(id);
  if (task == nullptr) may_not_abort(id);
  return task;
}

bool SchedulerCalls::withholds() {
  if (ended()) return false;
  std::size_t tasks = 0;
  TaskId first;
  m_tasks.for_each([&](LiveTask const& task) {
    if (withheld(task) && tasks++ == 0) first = task.id;
  });
  if (tasks == 0) return false;
  auto const others = tasks == 1 ? ", which is ready" : " and " + std::to_string(tasks - 1) + " more, which are ready";
  m_calls.blame("keeps back " + name_of(first) + others +
                ", although nothing else is under way and it was asked for them again");
  return true;
}

bool SchedulerCalls::may_be_planned(TaskId id) const {
  auto const* const task = m_tasks.find(id);
  if (task != nullptr && task->assignment.phase <= TaskPhase::Ready) return true;
  m_calls.blame("has a plan with " + name_of(id) + (task != nullptr ? ", which it has given" : ", which is not there"));
  return false;
}

void SchedulerCalls::withdrawn(TaskId task, Withdrawal why, GroupId group) {
  if (ended()) std::erase(m_came_back, task);
  m_calls.call(
      "withdrawn", [&] { m_scheduler.withdrawn(task, why, group); }, naming(task));
  if (why == Withdrawal::InputEvicted || ended() || !m_board.planned(task)) return;
  m_calls.blame("left " + name_of(task) + " on a plan, which was withdrawn");
}

}  // namespace granary::detail
