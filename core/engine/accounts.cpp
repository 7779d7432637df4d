// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/accounts.hpp>

#include <algorithm>

namespace granary::detail {

namespace {

constexpr std::uint32_t measured_callers = 16;

// Workers without a task although tasks are committed on their node.
std::uint32_t idle_workers(Planner const& planner, Lanes const& lanes) {
  auto const& groups = planner.topology().groups();
  std::uint32_t idle = 0;
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    std::size_t held = 0;
    std::uint32_t without = 0;
    for (auto const worker : groups[g].workers) {
      auto const outstanding = lanes.all()[worker.index()]->outstanding;
      held += outstanding;
      if (outstanding == 0) ++without;
    }
    if (planner.view().committed(GroupId(g)).size() > held) idle += without;
  }
  return idle;
}

}  // namespace

Accounts::Accounts(Machine const& machine) {
  for (auto const& worker : machine.workers) {
    if (worker.kind != WorkerKind::Device) continue;
    if (!m_unfit_device.valid() || machine[worker.node].capacity > machine[m_unfit_device].capacity) {
      m_unfit_device = worker.node;
    }
  }
}

Accounts::Hold Accounts::caller_enters() {
  if (m_callers++ % measured_callers != 0) return {};
  return {Clock::now(), measured_callers};
}

void Accounts::leave(Hold const& hold, Planner const& planner, Lanes const& lanes, std::size_t active_copies) {
  if (hold.stands_for == 0 && active_copies == 0 && m_idle_for_data == 0) return;
  auto const now = Clock::now();
  m_decided += (now - hold.since) * hold.stands_for;
  if (m_idle_for_data > 0) m_waited += (now - m_accounted) * m_idle_for_data;
  m_idle_for_data = active_copies > 0 ? idle_workers(planner, lanes) : 0;
  m_accounted = now;
}

void Accounts::submitted(TaskSubmission const& submission, Planner const& planner) {
  m_prioritised = m_prioritised || submission.priority != 0;
  if (m_unfit_device.valid()) note_device_need(submission, planner);
}

// No task with a device kernel has fitted a device so far.
void Accounts::note_device_need(TaskSubmission const& submission, Planner const& planner) {
  if (!planner.view().codelet(submission.codelet).runs_on(WorkerKind::Device)) return;
  auto const& device = planner.topology().machine()[m_unfit_device];
  Bytes need = 0;
  for (auto const& access : AccessList(submission.accesses)) {
    if (!access.repeated) need += round_up(planner.view().description(access.data).bytes, device.alignment);
  }
  m_device_need = std::max(m_device_need, need);
  if (need > device.capacity) return;
  m_unfit_device = {};
  m_device_need = 0;
}

void Accounts::fill(EngineStatistics& statistics, Planner const& planner) const {
  statistics.planner = planner.statistics();
  statistics.idle = planner.idle();
  try {
    statistics.remark = planner.scheduler().remark();
    statistics.priorities_ignored = m_prioritised && !planner.scheduler().traits().heeds_priorities;
  } catch (...) {
    statistics.remark = "the scheduler has thrown when it was asked for its remark";
  }
  statistics.device_need = m_device_need;
  statistics.waiting_for_data = m_waited;
  statistics.deciding = m_decided;
}

}  // namespace granary::detail
