// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/dmda/look_ahead.hpp>

#include <algorithm>

namespace granary::detail {

void LookAhead::attach(SystemView const& view, PlanBoard const& board, ExpectedStart const& starts,
                       std::vector<Duration> const& work) {
  auto const has = [&](WorkerKind kind) {
    return std::ranges::any_of(view.topology().groups(), [&](WorkerGroup const& group) { return group.kind == kind; });
  };
  if (!has(WorkerKind::Cpu) || !has(WorkerKind::Device)) return;
  m_tasks.attach(view);
  m_simulation.emplace_back(view, board, starts, work, m_tasks);
}

GroupId LookAhead::choose(TaskId task, Candidate const& core, Candidate const& device, GroupId plain) {
  if (plain == core.group) return plain;
  bool to_core = false;
  switch (m_rule) {
    case Rule::Let:
      to_core = passed_on_device(task, device.group, core.end);
      break;
    case Rule::Gb:
      to_core = devices_stay_busy(task, core.group);
      break;
    case Rule::Mms:
      to_core = shortens(task, core.group, device.group);
      break;
  }
  return to_core ? core.group : device.group;
}

bool LookAhead::passed_on_device(TaskId task, GroupId device, Duration core_end) {
  auto& simulation = m_simulation.front();
  simulation.start(task, device);
  for (auto end = simulation.next_end(); end && *end < core_end; end = simulation.next_end()) {
    if (simulation.task_ends_next()) return false;
    simulation.step();
  }
  return true;
}

bool LookAhead::devices_stay_busy(TaskId task, GroupId core) {
  auto& simulation = m_simulation.front();
  simulation.start(task, core);
  for (auto end = simulation.next_end(); end; end = simulation.next_end()) {
    if (*end > simulation.now() && !simulation.all_busy(WorkerKind::Device)) return false;
    if (simulation.task_ends_next()) return true;
    simulation.step();
  }
  return true;
}

bool LookAhead::shortens(TaskId task, GroupId core, GroupId device) {
  auto& simulation = m_simulation.front();
  simulation.start(task, device);
  while (simulation.next_end()) simulation.step();
  Duration const makespan = simulation.now();
  simulation.start(task, core);
  while (simulation.next_end() && simulation.now() < makespan) simulation.step();
  return simulation.now() < makespan;
}

}  // namespace granary::detail
