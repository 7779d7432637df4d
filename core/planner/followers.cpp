// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks that a device lane gets behind the task that they wait for: the lane continues while the end of that task is
// reported and the next decision is made.
#include <granary/core/planner/planner.hpp>

#include <algorithm>

namespace granary {

// Gives followers to lanes that could hold more, if there are no ready tasks.
bool Planner::issue_followers(GroupId id) {
  auto const& group = m_topology.group(id);
  auto& state = m_groups[id.index()];
  if (group.kind != WorkerKind::Device || m_options.device_issue < 2) return false;
  if (m_alone.valid() || !state.startable.empty()) return false;
  bool issued = false;
  for (WorkerId const worker : group.workers) {
    if (!takes_more(worker, group.kind, Duration{0})) continue;
    TaskId const follower = find_follower(worker, id);
    if (!follower.valid()) continue;
    Task& task = m_graph[follower];
    commit(task, id);
    auto& node = node_of(task);
    if (!node.waiting.empty()) ++node.passed;
    hold_places(task);
    std::erase(state.startable, follower);
    issue(task, worker);
    ++m_statistics.tasks_following;
    issued = true;
  }
  return issued;
}

// The most urgent task that waits only for the worker's last one and that the scheduler accepts; among equals the first
// submitted. O(successors of that one).
TaskId Planner::find_follower(WorkerId worker, GroupId group) {
  TaskId const before = m_workers[worker.index()].last;
  Task const* const last = before.valid() ? m_graph.find(before) : nullptr;
  NodeId const node = m_topology.group(group).node;
  auto const& state = m_nodes[node.index()];
  if (last == nullptr || last->cancelled || (!state.waiting.empty() && state.passed >= most_passes)) return {};
  m_followers.clear();
  m_graph.for_each_successor(*last, [&](TaskId id) {
    Task const& task = m_graph[id];
    if (task.phase == TaskPhase::Waiting && !task.cancelled && task.allowed_on(group)) m_followers.push_back(id);
  });
  std::ranges::sort(m_followers);
  std::size_t kept = 0;
  for (std::size_t i = 0, end = 0; i < m_followers.size(); i = end) {
    TaskId const id = m_followers[i];
    for (end = i; end < m_followers.size() && m_followers[end] == id; ++end) continue;
    bool const waits_for_it_alone = end - i == m_graph[id].predecessors;
    if (!waits_for_it_alone || !takes_more(worker, WorkerKind::Device, kernel_time(id, group))) continue;
    if (may_follow(m_graph[id], *last, node)) m_followers[kept++] = id;
  }
  m_followers.resize(kept);
  std::ranges::stable_sort(m_followers, std::ranges::greater{}, [&](TaskId id) { return m_graph[id].priority; });
  for (TaskId const id : m_followers) {
    if (m_policies.scheduler->follows(id, group)) return id;
  }
  return {};
}

// Whether all its data are on the node or being written there, and it reads what the task before writes: then it may be
// skipped if that one fails. The values that it overwrites stay there until then.
bool Planner::may_follow(Task const& task, Task const& before, NodeId node) {
  bool reads_result = false;
  for (auto const& access : task.accesses) {
    auto const& data = record(access.data);
    auto const* const replica = data.on(node);
    if (replica == nullptr || data.poisoned || data.stale || (writes(access.mode) && data.active > 0)) return false;
    bool const there = replica->valid || replica->writers > 0;
    if (!there && (reads(access.mode) || data.has_value())) return false;
    reads_result = reads_result || (reads(access.mode) && std::ranges::any_of(before.accesses, [&](Access const& of) {
                                      return of.data == access.data && writes(of.mode);
                                    }));
  }
  return reads_result && !stands_in_reserve(task, node, end_of_places(task, node), false);
}

}  // namespace granary
