// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/common/expected_inputs.hpp>
#include <granary/detail/policies/dmda/dmda.hpp>
#include <granary/detail/policies/registry.hpp>

#include <algorithm>
#include <limits>
#include <memory>

namespace granary::detail {
namespace {

std::unique_ptr<Scheduler> in_order_of_release(PolicyOptions& options) {
  return std::make_unique<DmdaScheduler>(options, false);
}
SchedulerRegistration const dmda_registration("dmda", in_order_of_release);
SchedulerRegistration const heft_registration("heft", in_order_of_release);

// The transfers that may compete with one to the node: those from and to each device (or, without devices, each node)
// that has workers and whose links share a bus with the node's.
double competing_transfers(Topology const& topology, NodeId node) {
  auto const& machine = topology.machine();
  auto const compete = [&](auto&& of_other) {
    return std::ranges::any_of(machine.links, [&](Link const& mine) {
      return mine.to == node && std::ranges::any_of(machine.links, [&](Link const& link) {
               return of_other(link) && Machine::share_a_bus(mine, link);
             });
    });
  };
  bool const devices =
      std::ranges::any_of(machine.nodes, [](MemoryNode const& n) { return n.kind == NodeKind::Device; });
  int count = 0;
  for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
    NodeId const other(n);
    if (topology.groups_on(other).empty() || (devices && machine[other].kind != NodeKind::Device)) continue;
    if (other == node || compete([&](Link const& link) { return link.to == other; })) ++count;
    if (compete([&](Link const& link) { return link.from == other; })) ++count;
  }
  return std::max(1, count);
}

}  // namespace

DmdaScheduler::DmdaScheduler(PolicyOptions& options, bool by_priority)
    : m_by_priority(by_priority),
      m_alpha(options.number("alpha", 1, 0, 1e6)),
      m_beta(options.number("beta", 1, 0, 1e6)),
      m_contention(options.number("contention", 1, 0, 1)),
      m_at_assignment(options.choice("prefetch", "depth", {"depth", "assign"}) == "assign") {}

void DmdaScheduler::attach(SystemView const& view, PlanBoard& board) {
  m_view = &view;
  m_board = &board;
  m_start.attach(view);
  m_work.resize(view.topology().groups().size());
  for (auto const& group : view.topology().groups()) {
    m_slowdown.push_back(1 + m_contention * (competing_transfers(view.topology(), group.node) - 1));
  }
}

DmdaScheduler::Queued DmdaScheduler::assign(Task const& task, GroupSet among) const {
  Queued best;
  double best_fitness = std::numeric_limits<double>::infinity();
  for (GroupId const group : among) {
    Duration const duration = m_view->kernel_time(task.id, group);
    Duration const end = m_start(group, m_work[group.index()], m_board->plan(group).size()) + duration;
    Duration const transfers = input_transfers(*m_view, *m_board, task, m_view->topology().group(group).node);
    double const shared = static_cast<double>(transfers.count()) * m_slowdown[group.index()];
    double const fitness = m_alpha * static_cast<double>(end.count()) + m_beta * shared;
    if (fitness >= best_fitness) continue;
    best_fitness = fitness;
    best = {group, duration, end + from_seconds(shared * 1e-9)};
  }
  return best;
}

void DmdaScheduler::ready(TaskId id) {
  auto const& task = m_view->task(id);
  Queued const queued = reconsider(task, assign(task, task.allowed_groups));
  m_queued.insert(id, queued);
  m_work[queued.group.index()] += queued.duration;
  m_board->insert(queued.group, id, task.accesses, rank(task));
  if (m_at_assignment) m_board->want_inputs(id);
  joined(task, queued.group);
}

TaskId DmdaScheduler::next(GroupId group) {
  if (m_board->plan(group).empty()) return {};
  TaskId const task = choose(group);
  remove(task);
  return task;
}

void DmdaScheduler::withdrawn(TaskId task, Withdrawal why, GroupId) {
  if (why == Withdrawal::Cancelled) remove(task);
}

void DmdaScheduler::remove(TaskId id) {
  auto const queued = m_queued.take(id);
  leaves(m_view->task(id), queued.group);
  m_board->remove(id);
  m_work[queued.group.index()] -= queued.duration;
}

}  // namespace granary::detail
