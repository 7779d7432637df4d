// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/policies/registry.hpp>
#include <granary/policies/schedulers/darts.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <ranges>
#include <vector>

namespace granary {
namespace {

SchedulerRegistration const registration(
    "darts", [](PolicyOptions&) { return std::make_unique<DartsScheduler>(); }, "luf");

// How far from the end of another group's plan a task that may be taken from it is looked for.
constexpr int steal_depth = 16;
// The same for tasks that a slower group may take.
constexpr int slow_depth = 16;
// A group is nearly as fast as another when a task takes it at most this many times as long.
constexpr std::int64_t nearly_as_fast = 2;

}  // namespace

void DartsScheduler::attach(SystemView const& view, PlanBoard& board) {
  m_view = &view;
  m_board = &board;
  m_index.attach(view, board);
  std::uint32_t seen = 0;
  for (std::uint32_t g = 0; g < view.topology().groups().size(); ++g) {
    auto const kind = static_cast<std::uint32_t>(view.topology().groups()[g].kind);
    if (((seen >> kind) & 1U) == 0) m_one_of_each_kind.emplace_back(g);
    seen |= 1U << kind;
  }
}

template <class Free>
GroupId DartsScheduler::least_queued(Free&& free) const {
  GroupId best;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (std::uint32_t g = 0; g < m_view->topology().groups().size(); ++g) {
    GroupId const group(g);
    if (!free(group)) continue;
    std::size_t const queued = m_board->plan(group).size() + m_view->committed(group).size();
    if (queued >= fewest) continue;
    fewest = queued;
    best = group;
  }
  return best;
}

// Section 5.3, at the end: a task that is free from the start goes straight to a plan.
void DartsScheduler::ready(TaskId id) {
  auto const& task = m_view->task(id);
  auto const believed = pace(task);
  auto const fast = believed.fast_groups;
  if (fast != task.allowed_groups) {
    m_for_slow.emplace(believed.slowdown, task.priority, id);
    m_slow_pace.emplace(id, believed);
    m_fast_backlog_ns += believed.fastest_ns;
  }
  GroupId const group = least_queued([&](GroupId g) {
    return ((fast >> g.value()) & 1U) != 0 && std::ranges::all_of(task.accesses, [&](Access const& access) {
             return access.repeated || !reads(access.mode) || m_index.loaded(access.data, g);
           });
  });
  group.valid() ? m_board->append(group, id, task.accesses) : m_index.add(id, fast);
}

TaskId DartsScheduler::next(GroupId group) {
  plan_free_tasks();
  if (m_board->plan(group).empty()) fill(group);
  auto const& plan = m_board->plan(group);
  if (plan.empty()) {
    TaskId const stolen = steal(group);
    return given(stolen.valid() ? stolen : take_slowly(group));
  }
  TaskId const head = plan.begin()->second;
  // Its inputs stay loaded for the group: the task is a committed one from now on.
  m_board->remove(head);
  return given(head);
}

DartsScheduler::Pace DartsScheduler::pace(Task const& task) const {
  Pace pace{.fast_groups = task.allowed_groups};
  if (m_one_of_each_kind.size() < 2) return pace;
  std::array<std::int64_t, worker_kinds> times{};
  std::int64_t slowest_ns = 0;
  pace.fastest_ns = std::numeric_limits<std::int64_t>::max();
  auto const& groups = m_view->topology().groups();
  for (GroupId const group : m_one_of_each_kind) {
    auto const kind = groups[group.index()].kind;
    auto const allowed = [&](std::uint32_t g) { return groups[g].kind == kind && task.allowed_on(GroupId(g)); };
    auto const all = std::views::iota(std::uint32_t{0}, static_cast<std::uint32_t>(groups.size()));
    if (std::ranges::none_of(all, allowed)) continue;
    auto const time_ns = m_view->kernel_time(task.id, group).count();
    times[static_cast<std::size_t>(kind)] = time_ns;
    pace.fastest_ns = std::min(pace.fastest_ns, time_ns);
    slowest_ns = std::max(slowest_ns, time_ns);
  }
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    auto const time_ns = times[static_cast<std::size_t>(groups[g].kind)];
    if (time_ns > nearly_as_fast * pace.fastest_ns) pace.fast_groups &= ~(std::uint64_t{1} << g);
  }
  pace.slowdown = static_cast<double>(slowest_ns) / static_cast<double>(pace.fastest_ns);
  return pace;
}

TaskId DartsScheduler::given(TaskId id) {
  if (id.valid() && !m_for_slow.empty()) leave_slow(m_view->task(id));
  return id;
}

void DartsScheduler::leave_slow(Task const& task) {
  auto const believed = m_slow_pace.find(task.id);
  if (believed == m_slow_pace.end()) return;
  m_for_slow.erase({believed->second.slowdown, task.priority, task.id});
  m_fast_backlog_ns -= believed->second.fastest_ns;
  m_slow_pace.erase(believed);
}

// A task that would be ended here before the faster groups have run what is ready.
TaskId DartsScheduler::take_slowly(GroupId group) {
  auto const& groups = m_view->topology().groups();
  int looked_at = 0;
  for (auto it = m_for_slow.begin(); it != m_for_slow.end() && looked_at < slow_depth; ++it, ++looked_at) {
    TaskId const id = std::get<TaskId>(*it);
    auto const& task = m_view->task(id);
    auto const fast = m_slow_pace.at(id).fast_groups;
    if (!task.allowed_on(group) || ((fast >> group.value()) & 1U) != 0) continue;
    std::int64_t fast_workers = 0;
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
      if (((fast >> g) & 1U) != 0) fast_workers += static_cast<std::int64_t>(groups[g].workers.size());
    }
    if (m_view->kernel_time(id, group).count() * fast_workers > m_fast_backlog_ns) continue;
    forget(task);
    return id;
  }
  return {};
}

void DartsScheduler::plan(TaskId id, GroupId group) {
  m_index.remove(id);
  m_board->append(group, id, m_view->task(id).accesses);
}

void DartsScheduler::plan_free_tasks() {
  for (TaskId const id : m_index.take_free_candidates()) {
    auto const& task = m_view->task(id);
    for (std::uint32_t g = 0; g < m_view->topology().groups().size(); ++g) {
      if (task.allowed_on(GroupId(g))) refresh_inputs(task, GroupId(g));
    }
    GroupId const group = least_queued([&](GroupId g) { return m_index.is_free(id, g); });
    if (group.valid()) plan(id, group);
  }
}

// Algorithm 3, lines 2 to 17.
void DartsScheduler::fill(GroupId group) {
  DataId const best = m_index.best_data(group);
  if (best.valid()) {
    auto const enabled = m_index.enabled_by(best, group);
    if (!enabled.empty()) {
      for (TaskId const id : enabled) plan(id, group);
      m_index.refresh(best, group);
      return;
    }
  }
  TaskId const id = best.valid() ? m_index.best_one_further(best, group) : m_index.best_ready(group);
  if (!id.valid()) return;
  plan(id, group);
  refresh_inputs(m_view->task(id), group);
}

TaskId DartsScheduler::steal(GroupId group) {
  std::vector<GroupId> others;
  for (std::uint32_t g = 0; g < m_view->topology().groups().size(); ++g) {
    if (!m_board->plan(GroupId(g)).empty()) others.emplace_back(g);
  }
  std::ranges::stable_sort(others, std::ranges::greater{}, [&](GroupId g) { return m_board->plan(g).size(); });
  for (GroupId const other : others) {
    auto const& plan = m_board->plan(other);
    int looked_at = 0;
    for (auto place = plan.rbegin(); place != plan.rend() && looked_at < steal_depth; ++place, ++looked_at) {
      TaskId const id = place->second;
      auto const& task = m_view->task(id);
      if (((pace(task).fast_groups >> group.value()) & 1U) == 0) continue;
      m_board->remove(id);
      // On one node its inputs stay loaded: the task is about to be committed there.
      if (m_view->topology().group(other).node != m_view->topology().group(group).node) refresh_inputs(task, other);
      return id;
    }
  }
  return {};
}

void DartsScheduler::cancelled(TaskId id) {
  auto const& task = m_view->task(id);
  if (!m_for_slow.empty()) leave_slow(task);
  forget(task);
}

void DartsScheduler::forget(Task const& task) {
  if (m_index.contains(task.id)) {
    m_index.remove(task.id);
    return;
  }
  m_board->remove(task.id);
  for (std::uint32_t g = 0; g < m_view->topology().groups().size(); ++g) refresh_inputs(task, GroupId(g));
}

// Whether the task is free is asked at the next call of `next`: now the datum whose eviction withdrew it may still
// count as loaded.
void DartsScheduler::withdrawn(TaskId id, GroupId group) {
  auto const& task = m_view->task(id);
  refresh_inputs(task, group);
  m_index.add(id, pace(task).fast_groups);
}

void DartsScheduler::replica_expected(DataId data, NodeId node) { refresh_on(data, node); }

void DartsScheduler::replica_valid(DataId data, NodeId node) {
  refresh_on(data, node);
  m_index.replicas_changed(data);
}

void DartsScheduler::replica_dropped(DataId data, NodeId node) {
  refresh_on(data, node);
  m_index.replicas_changed(data);
}

void DartsScheduler::refresh_on(DataId data, NodeId node) {
  for (GroupId const group : m_view->topology().groups_on(node)) m_index.refresh(data, group);
}

void DartsScheduler::refresh_inputs(Task const& task, GroupId group) {
  for (auto const& access : task.accesses) {
    if (!access.repeated && reads(access.mode)) m_index.refresh(access.data, group);
  }
}

}  // namespace granary
