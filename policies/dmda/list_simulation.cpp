// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/common/priority_rank.hpp>
#include <granary/detail/policies/dmda/list_simulation.hpp>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace granary::detail {
namespace {

// Estimates are asked again after this many simulations.
constexpr std::uint64_t estimates_last = 256;
// Of the tasks released with the simulated one, the most urgent ones are simulated, so that a fork is not quadratic.
constexpr std::size_t most_released = 256;

struct Later {
  template <class Event>
  bool operator()(Event const& a, Event const& b) const {
    return std::tie(a.at, a.number) > std::tie(b.at, b.number);
  }
};
struct LessUrgent {
  template <class Joined>
  bool operator()(Joined const& a, Joined const& b) const {
    return std::tie(a.rank, a.number) > std::tie(b.rank, b.number);
  }
};

// Urgent tasks first.
std::pair<std::int64_t, TaskId> order(KnownGraph::Node const* task) {
  return {priority_rank(task->priority), task->told};
}

}  // namespace

ListSimulation::ListSimulation(SystemView const& view, PlanBoard const& board, ExpectedStart const& starts,
                               std::vector<Duration> const& work, KnownGraph& tasks)
    : m_view(&view),
      m_board(&board),
      m_starts(&starts),
      m_work(&work),
      m_tasks(&tasks),
      m_groups(view.topology().groups().size()) {}

void ListSimulation::start(TaskId task, GroupId group) {
  ++m_simulation;
  m_now = 0;
  m_number = 0;
  m_events.clear();
  for (std::uint32_t g = 0; g < m_groups.size(); ++g) take_state(GroupId(g));
  m_task = m_tasks->find(task);
  join(begun(*m_task), group.index());
  m_newly.clear();
  for (Node* const node : m_tasks->released()) {
    if (!begun(*node).placed) m_newly.push_back(node);
  }
  if (m_newly.size() > most_released) {
    std::ranges::nth_element(m_newly, m_newly.begin() + most_released, {}, order);
    m_newly.resize(most_released);
  }
  assign_all(m_newly);
  for (std::size_t g = 0; g < m_groups.size(); ++g) fill(g);
}

void ListSimulation::take_state(GroupId id) {
  auto& group = m_groups[id.index()];
  auto const& workers = m_view->topology().group(id).workers;
  group.busy_until.assign(workers.size(), 0);
  group.held.assign(workers.size(), 0);
  group.idle.clear();
  group.committed.clear();
  group.started = 0;
  group.joined.clear();
  group.queue = m_board->plan(id).begin();
  group.work = (*m_work)[id.index()].count();
  group.count = m_board->plan(id).size();
  for (TaskId const task : m_view->committed(id)) {
    Node* const node = m_tasks->find(task);
    if (node != nullptr) begun(*node).placed = true;
    auto const& assignment = m_view->assignment(task);
    Rep const time = assignment.estimate.count();
    if (assignment.phase != TaskPhase::Issued) {
      group.committed.push_back({node, time});
      group.work += time;
      ++group.count;
      continue;
    }
    auto const lane = static_cast<std::uint32_t>(std::ranges::find(workers, assignment.worker) - workers.begin());
    bool const first = group.held[lane] == 0;
    Rep const done = first ? (m_view->now() - m_starts->since(assignment.worker)).count() : 0;
    run(node, group.busy_until[lane] + std::max<Rep>(0, time - done), id.index(), lane);
  }
  for (std::uint32_t lane = 0; lane < workers.size(); ++lane) {
    if (group.held[lane] == 0) group.idle.push_back(lane);
  }
}

std::optional<Duration> ListSimulation::next_end() const {
  return m_events.empty() ? std::nullopt : std::optional(Duration{m_events.front().at});
}

void ListSimulation::step() {
  std::ranges::pop_heap(m_events, Later{});
  Event const event = m_events.back();
  m_events.pop_back();
  m_now = event.at;
  auto& group = m_groups[event.group];
  if (--group.held[event.lane] == 0) group.idle.push_back(event.lane);
  m_newly.clear();
  if (event.task != nullptr) {
    m_tasks->for_each_successor(*event.task, [&](Node& after) {
      if (--begun(after).left == 0 && !after.placed) m_newly.push_back(&after);
    });
  }
  assign_all(m_newly);
  for (std::size_t g = 0; g < m_groups.size(); ++g) fill(g);
}

bool ListSimulation::all_busy(WorkerKind kind) const {
  for (std::size_t g = 0; g < m_groups.size(); ++g) {
    if (m_view->topology().groups()[g].kind == kind && !m_groups[g].idle.empty()) return false;
  }
  return true;
}

void ListSimulation::assign_all(std::vector<Node*>& tasks) {
  std::ranges::sort(tasks, {}, order);
  for (Node* const task : tasks) assign(*task);
}

void ListSimulation::assign(Node& task) {
  std::size_t best = m_groups.size();
  Rep best_end = std::numeric_limits<Rep>::max();
  for (GroupId const group : task.allowed_groups) {
    Rep const end = expected_end(task, group.index());
    if (end >= best_end) continue;
    best_end = end;
    best = group.index();
  }
  if (best < m_groups.size()) join(task, best);
}

void ListSimulation::join(Node& task, std::size_t g) {
  auto& group = m_groups[g];
  task.placed = true;
  group.joined.push_back({priority_rank(task.priority), m_number++, &task});
  std::ranges::push_heap(group.joined, LessUrgent{});
  group.work += time_of(task, g);
  ++group.count;
}

void ListSimulation::fill(std::size_t g) {
  auto& group = m_groups[g];
  while (!group.idle.empty()) {
    auto const next = take(g);
    if (!next) return;
    auto const lane = group.idle.back();
    group.idle.pop_back();
    run(next->task, m_now + next->time, g, lane);
    group.work = std::max<Rep>(0, group.work - next->time);
    --group.count;
  }
}

std::optional<ListSimulation::Given> ListSimulation::take(std::size_t g) {
  auto& group = m_groups[g];
  if (group.started < group.committed.size()) return group.committed[group.started++];
  auto const& plan = m_board->plan(GroupId(static_cast<std::uint32_t>(g)));
  bool const queued = group.queue != plan.end();
  if (queued && (group.joined.empty() || group.queue->first.rank <= group.joined.front().rank)) {
    TaskId const id = (group.queue++)->second;
    Node* const node = m_tasks->find(id);
    if (node != nullptr) return Given{node, time_of(*node, g)};
    return Given{nullptr, m_view->kernel_time(id, GroupId(static_cast<std::uint32_t>(g))).count()};
  }
  if (group.joined.empty()) return std::nullopt;
  std::ranges::pop_heap(group.joined, LessUrgent{});
  Node* const node = group.joined.back().task;
  group.joined.pop_back();
  return Given{node, time_of(*node, g)};
}

void ListSimulation::run(Node* task, Rep until, std::size_t g, std::uint32_t lane) {
  auto& group = m_groups[g];
  group.busy_until[lane] = until;
  ++group.held[lane];
  m_events.push_back({until, m_number++, task, static_cast<std::uint32_t>(g), lane});
  std::ranges::push_heap(m_events, Later{});
}

ListSimulation::Node& ListSimulation::begun(Node& task) {
  if (task.simulation == m_simulation) return task;
  task.simulation = m_simulation;
  task.left = task.predecessors;
  task.placed = false;
  return task;
}

ListSimulation::Rep ListSimulation::time_of(Node& task, std::size_t g) {
  if (task.timed == 0 || m_simulation - task.timed >= estimates_last) {
    task.timed = m_simulation;
    for (GroupId const group : task.allowed_groups) {
      auto const kind = static_cast<std::size_t>(m_view->topology().group(group).kind);
      task.times[kind] = m_view->kernel_time(task.told, group);
    }
  }
  return task.times[static_cast<std::size_t>(m_view->topology().groups()[g].kind)].count();
}

ListSimulation::Rep ListSimulation::expected_end(Node& task, std::size_t g) {
  auto const& group = m_groups[g];
  m_scratch.clear();
  for (Rep const until : group.busy_until) m_scratch.push_back(std::max<Rep>(0, until - m_now));
  return first_free(m_scratch, group.work, group.count) + time_of(task, g);
}

}  // namespace granary::detail
