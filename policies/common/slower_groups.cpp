// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/common/slower_groups.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace granary::detail {
namespace {

// The number of tasks considered when a slower group looks for one.
constexpr int most_looked_at = 16;
// A group is nearly as fast as another if its time is at most this multiple.
constexpr std::int64_t nearly_as_fast = 2;

}  // namespace

void SlowerGroups::attach(SystemView const& view) {
  m_view = &view;
  std::uint32_t seen = 0;
  for (std::uint32_t g = 0; g < view.topology().groups().size(); ++g) {
    auto const kind = static_cast<std::uint32_t>(view.topology().groups()[g].kind);
    if (((seen >> kind) & 1U) == 0) m_one_of_each_kind.emplace_back(g);
    seen |= 1U << kind;
  }
}

SlowerGroups::Pace SlowerGroups::pace(Task const& task) const {
  Pace pace{.fast_groups = task.allowed_groups};
  if (!kinds_differ()) return pace;
  std::array<std::int64_t, worker_kinds> times{};
  std::int64_t slowest_ns = 0;
  pace.fastest_ns = std::numeric_limits<std::int64_t>::max();
  auto const& groups = m_view->topology().groups();
  for (GroupId const group : m_one_of_each_kind) {
    auto const kind = groups[group.index()].kind;
    if (std::ranges::none_of(task.allowed_groups, [&](GroupId g) { return groups[g.index()].kind == kind; })) continue;
    auto const time_ns = m_view->kernel_time(task.id, group).count();
    times[static_cast<std::size_t>(kind)] = time_ns;
    pace.fastest_ns = std::min(pace.fastest_ns, time_ns);
    slowest_ns = std::max(slowest_ns, time_ns);
  }
  for (GroupId const group : task.allowed_groups) {
    auto const time_ns = times[static_cast<std::size_t>(groups[group.index()].kind)];
    if (time_ns > nearly_as_fast * pace.fastest_ns) pace.fast_groups.erase(group);
  }
  pace.slowdown = static_cast<double>(slowest_ns) / static_cast<double>(pace.fastest_ns);
  return pace;
}

bool SlowerGroups::fast_on_all(std::span<TaskId const> tasks, GroupId group) const {
  if (!kinds_differ()) return true;
  std::int64_t time_ns = 0;
  std::int64_t fastest_ns = 0;
  for (TaskId const id : tasks) {
    auto const& task = m_view->task(id);
    if (!task.allowed_on(group)) continue;
    time_ns += m_view->kernel_time(id, group).count();
    fastest_ns += pace(task).fastest_ns;
  }
  return time_ns <= nearly_as_fast * fastest_ns;
}

GroupSet SlowerGroups::ready(Task const& task) {
  auto const believed = pace(task);
  if (believed.fast_groups != task.allowed_groups) {
    m_ready.emplace(believed.slowdown, task.priority, task.id);
    m_pace.emplace(task.id, believed);
    m_fast_backlog_ns += believed.fastest_ns;
  }
  return believed.fast_groups;
}

void SlowerGroups::leave(Task const& task) {
  if (m_ready.empty()) return;
  auto const believed = m_pace.find(task.id);
  if (believed == m_pace.end()) return;
  m_ready.erase({believed->second.slowdown, task.priority, task.id});
  m_fast_backlog_ns -= believed->second.fastest_ns;
  m_pace.erase(believed);
}

TaskId SlowerGroups::best_for(GroupId group) const {
  auto const& groups = m_view->topology().groups();
  int looked_at = 0;
  for (auto it = m_ready.begin(); it != m_ready.end() && looked_at < most_looked_at; ++it, ++looked_at) {
    TaskId const id = std::get<TaskId>(*it);
    auto const fast = m_pace.at(id).fast_groups;
    if (!m_view->task(id).allowed_on(group) || fast.contains(group)) continue;
    std::int64_t fast_workers = 0;
    for (GroupId const g : fast) fast_workers += static_cast<std::int64_t>(groups[g.index()].workers.size());
    if (fast_workers == 0 || m_view->kernel_time(id, group).count() <= m_fast_backlog_ns / fast_workers) return id;
  }
  return {};
}

}  // namespace granary::detail
