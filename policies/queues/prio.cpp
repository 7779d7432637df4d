// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/core/policy/task_table.hpp>
#include <granary/detail/policies/common/expected_inputs.hpp>
#include <granary/detail/policies/common/priority_rank.hpp>
#include <granary/detail/policies/policy_options.hpp>
#include <granary/detail/policies/queues/queues_by_groups.hpp>
#include <granary/detail/policies/registry.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <queue>
#include <string>
#include <vector>

namespace granary::detail {
namespace {

/// PaRSEC's absolute priority, AP (DARTS, section 4.4): all groups share one queue; the ready task of the highest
/// priority runs next, among equals the first submitted.
///
/// If workers differ, load is balanced by theoretical performance: when a group asks, the head of the queue is assigned
/// to the group with the smallest load + cost. A task's cost is its operations at the peak of the group's workers (the
/// estimated kernel time if either is unknown), plus the time to bring its inputs, except those that another task
/// assigned to the group brings. A group's load is the cost of its assigned, unfinished tasks divided by its workers.
/// So a group skips heads that are better elsewhere; these wait in the other group's plan, and more urgent tasks may
/// still pass them. A slow group that would end last gets nothing. A busy group skips at most `look_ahead` heads. An
/// idle group skips until it finds a head or has assigned all: then there is no task left that it should run, and every
/// task waits for a group that works or has yet to ask.
///
/// The option `balance`: `auto` (if workers differ, the default), `always`, `never`, or `parsec`: the head goes to the
/// group that PaRSEC would choose (Hierarchical paper, section IV.D; gpu_zgemm of DPLASMA at the time of the paper), by
/// numbers of tasks, without times or transfers. A group's weight is the inverse of the theoretical peak of all its
/// workers, and its load the number of its assigned, unfinished tasks times its weight. The task goes to the device
/// that has most of the data that it writes, else to the group with the smallest load + weight. Locality counts written
/// data only: with data that are only read, the first device to have a panel would get all tasks that read it.
class PrioScheduler final : public Scheduler {
 public:
  explicit PrioScheduler(PolicyOptions& options)
      : m_balance(options.choice("balance", "auto", {"auto", "always", "never", "parsec"})) {}

  void attach(SystemView const& view, PlanBoard& board) override;
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override;
  void finished(TaskId task) override { unload(task); }
  [[nodiscard]] Traits traits() const override { return {.keeps_plans = true}; }

 private:
  class Heap {
   public:
    struct Entry {
      std::int64_t priority;
      TaskId task;
      bool operator<(Entry const& other) const {
        return priority != other.priority ? priority > other.priority : task < other.task;
      }
    };
    [[nodiscard]] bool empty() const { return m_entries.empty(); }
    [[nodiscard]] Entry const& front() const { return m_entries.top(); }
    void push(Entry entry) { m_entries.push(entry); }
    void pop() { m_entries.pop(); }

   private:
    struct Later {
      bool operator()(Entry const& a, Entry const& b) const { return b < a; }
    };
    std::priority_queue<Entry, std::vector<Entry>, Later> m_entries;
  };
  struct Load {
    Duration cost{0};
    std::size_t tasks = 0;
  };
  struct Assigned {
    GroupId group;
    Duration cost{0};
  };

  [[nodiscard]] Assigned best_group(Task const& task) const;
  [[nodiscard]] Assigned owner(Task const& task) const;
  [[nodiscard]] Assigned least_loaded(Task const& task) const;
  [[nodiscard]] Duration weight(GroupId group) const;
  [[nodiscard]] Duration computation(Task const& task, GroupId group) const;
  void load(TaskId task, Assigned assigned);
  void unload(TaskId task);

  std::string m_balance;
  bool m_balances = false;
  SystemView const* m_view = nullptr;
  PlanBoard* m_board = nullptr;
  QueuesByGroups<Heap> m_queues;
  std::vector<Load> m_loads;  // by group
  TaskTable<Assigned> m_assigned;
};

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