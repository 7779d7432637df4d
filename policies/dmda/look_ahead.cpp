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

GroupId LookAhead::choose(TaskId task, Place const& core, Place const& device, GroupId plain) {
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
  auto& heftp = m_simulation.front();
  heftp.start(task, device);
  for (auto end = heftp.next_end(); end && *end < core_end; end = heftp.next_end()) {
    if (heftp.task_ends_next()) return false;
    heftp.step();
  }
  return true;
}

bool LookAhead::devices_stay_busy(TaskId task, GroupId core) {
  auto& heftp = m_simulation.front();
  heftp.start(task, core);
  for (auto end = heftp.next_end(); end; end = heftp.next_end()) {
    if (*end > heftp.now() && !heftp.all_busy(WorkerKind::Device)) return false;
    if (heftp.task_ends_next()) return true;
    heftp.step();
  }
  return true;
}

bool LookAhead::shortens(TaskId task, GroupId core, GroupId device) {
  auto& heftp = m_simulation.front();
  heftp.start(task, device);
  while (heftp.next_end()) heftp.step();
  Duration const makespan = heftp.now();
  heftp.start(task, core);
  while (heftp.next_end() && heftp.now() < makespan) heftp.step();
  return heftp.now() < makespan;
}

}  // namespace granary::detail
