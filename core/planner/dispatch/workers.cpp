// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/dispatch/workers.hpp>

#include <algorithm>
#include <utility>
#include <variant>

namespace granary::detail {

WorkerId Workers::find(WorkerGroup const& group, Duration estimate) const {
  WorkerId best;
  WorkerId absent;
  Duration best_time = Duration::max();
  for (WorkerId const worker : group.workers) {
    auto const& state = m_workers[worker.index()];
    if (state.absent) {
      if (!absent.valid() && (state.held == 0 || takes_more(worker, group.kind, estimate))) absent = worker;
      continue;
    }
    if (state.held == 0) return worker;
    if (state.held_time >= best_time || !takes_more(worker, group.kind, estimate)) continue;
    best = worker;
    best_time = state.held_time;
  }
  return best.valid() ? best : absent;
}

bool Workers::takes_more(WorkerId worker, WorkerKind kind, Duration estimate) const {
  auto const& state = m_workers[worker.index()];
  auto const& options = m_context.options;
  return state.held < options.issue_depth && (state.held_time + estimate <= options.issue_ahead ||
                                              (kind == WorkerKind::Device && state.held < options.device_issue));
}

std::uint32_t Workers::idle(WorkerGroup const& group) const {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(group.workers, [&](WorkerId worker) { return m_workers[worker.index()].held == 0; }));
}

void Workers::hand(LiveTask& task, Keep keep, std::vector<Command>& commands) {
  auto const& assignment = task.assignment;
  auto& state = m_workers[assignment.worker.index()];
  ++state.held;
  state.held_time += assignment.estimate;
  state.last = task.id;
  auto& command = std::get<RunCommand>(commands.emplace_back(std::in_place_type<RunCommand>));
  command.task = task.id;
  command.worker = assignment.worker;
  command.follows = task.predecessors > 0;
  m_places.show(task, m_context.topology.group(assignment.group).node, keep, command);
}

void Workers::ended(LiveTask& task) {
  auto& state = m_workers[task.assignment.worker.index()];
  state.held_time = --state.held == 0 ? Duration{0} : state.held_time - task.assignment.estimate;
  if (state.aborted == task.id) state.aborted = {};
  state.absent = false;
  m_places.let_go(task);
}

void Workers::returned(LiveTask& task) {
  auto& state = m_workers[task.assignment.worker.index()];
  bool const unasked = state.aborted != task.id;
  ended(task);
  state.absent = unasked;
  if (state.last == task.id) state.last = {};
}

}  // namespace granary::detail
