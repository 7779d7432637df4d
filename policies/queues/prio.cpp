// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/common/expected_inputs.hpp>
#include <granary/detail/policies/common/priority_rank.hpp>
#include <granary/detail/policies/queues/prio.hpp>
#include <granary/detail/policies/registry.hpp>

#include <algorithm>
#include <limits>
#include <memory>

namespace granary::detail {
namespace {

SchedulerRegistration const prio_registration("prio", [](PolicyOptions& options) {
  return std::make_unique<PrioScheduler>(options);
});

constexpr int look_ahead = 16;

bool workers_differ(Machine const& machine) {
  return std::ranges::any_of(machine.workers, [&](Worker const& worker) {
    return worker.kind != machine.workers.front().kind || worker.peak_flops != machine.workers.front().peak_flops;
  });
}

}  // namespace

void PrioScheduler::attach(SystemView const& view, PlanBoard& board) {
  m_view = &view;
  m_board = &board;
  m_loads.resize(view.topology().groups().size());
  m_balances = m_balance == "always" || m_balance == "parsec" ||
               (m_balance == "auto" && workers_differ(view.topology().machine()));
}

void PrioScheduler::ready(TaskId task) {
  auto const& ready_task = m_view->task(task);
  m_queues.push(ready_task.allowed_groups, {ready_task.priority, task});
}

Duration PrioScheduler::computation(Task const& task, GroupId group) const {
  auto const& machine = m_view->topology().machine();
  double const peak = machine[m_view->topology().group(group).workers.front()].peak_flops;
  return peak > 0 && task.flops > 0 ? from_seconds(task.flops / peak) : m_view->kernel_time(task.id, group);
}

// The unit is arbitrary: weights are compared with weights only.
Duration PrioScheduler::weight(GroupId group) const {
  auto const& topology = m_view->topology();
  auto const& workers = topology.group(group).workers;
  double const peak = topology.machine()[workers.front()].peak_flops * static_cast<double>(workers.size());
  return from_seconds(1e9 / std::max(peak, 1e6));
}

PrioScheduler::Assigned PrioScheduler::owner(Task const& task) const {
  auto const& topology = m_view->topology();
  Assigned owner;
  Bytes most = 0;
  for (std::uint32_t g = 0; g < m_loads.size(); ++g) {
    GroupId const group(g);
    auto const& where = topology.group(group);
    if (!task.allowed_on(group) || where.kind != WorkerKind::Device) continue;
    Bytes held = 0;
    for (auto const& access : task.accesses) {
      bool const counts = !access.repeated && writes(access.mode);
      if (counts && arrives_anyway(*m_view, *m_board, access.data, where.node)) held += m_view->bytes(access.data);
    }
    if (held <= most) continue;
    most = held;
    owner = {group, weight(group)};
  }
  return owner;
}

PrioScheduler::Assigned PrioScheduler::least_loaded(Task const& task) const {
  Assigned best;
  Duration::rep least = std::numeric_limits<Duration::rep>::max();
  for (std::uint32_t g = 0; g < m_loads.size(); ++g) {
    GroupId const group(g);
    if (!task.allowed_on(group)) continue;
    Duration const cost = weight(group);
    if (m_loads[g].cost.count() + cost.count() >= least) continue;
    least = m_loads[g].cost.count() + cost.count();
    best = {group, cost};
  }
  return best;
}

PrioScheduler::Assigned PrioScheduler::best_group(Task const& task) const {
  if (m_balance == "parsec") {
    auto const held = owner(task);
    return held.group.valid() ? held : least_loaded(task);
  }
  Assigned best;
  Duration::rep first_end = std::numeric_limits<Duration::rep>::max();
  for (std::uint32_t g = 0; g < m_loads.size(); ++g) {
    GroupId const group(g);
    if (!task.allowed_on(group)) continue;
    auto const& where = m_view->topology().group(group);
    Duration const cost = computation(task, group) + input_transfers(*m_view, *m_board, task, where.node);
    auto const workers = where.workers.size();
    auto const load = m_loads[g].tasks < workers ? 0 : m_loads[g].cost.count() / static_cast<Duration::rep>(workers);
    if (load + cost.count() >= first_end) continue;
    first_end = load + cost.count();
    best = {group, cost};
  }
  return best;
}

TaskId PrioScheduler::next(GroupId group) {
  if (!m_balances) return m_queues.take(group);
  auto const& plan = m_board->plan(group);
  bool const idle = m_view->committed(group).empty();
  for (int looked = 0; idle || looked < look_ahead; ++looked) {
    auto const* const head = m_queues.first(group);
    if (head == nullptr) break;
    if (!plan.empty()) {
      TaskId const planned = plan.begin()->second;
      if (!(*head < Heap::Entry{m_view->task(planned).priority, planned})) break;
    }
    TaskId const id = m_queues.take(group);
    auto const& task = m_view->task(id);
    auto const best = best_group(task);
    load(id, best);
    if (best.group == group) return id;
    m_board->insert(best.group, id, task.accesses, priority_rank(task.priority));
  }
  if (plan.empty()) return {};
  TaskId const planned = plan.begin()->second;
  m_board->remove(planned);
  return planned;
}

void PrioScheduler::load(TaskId task, Assigned assigned) {
  m_assigned.insert(task, assigned);
  m_loads[assigned.group.index()].cost += assigned.cost;
  ++m_loads[assigned.group.index()].tasks;
}

void PrioScheduler::unload(TaskId task) {
  if (!m_assigned.contains(task)) return;
  auto const [group, cost] = m_assigned.take(task);
  m_loads[group.index()].cost -= cost;
  --m_loads[group.index()].tasks;
}

void PrioScheduler::withdrawn(TaskId task, Withdrawal why, GroupId) {
  if (why != Withdrawal::Cancelled) return;
  if (!m_assigned.contains(task)) {
    m_queues.cancel(task);
    return;
  }
  m_board->remove(task);
  unload(task);
}

}  // namespace granary::detail
