// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/dispatch/followers.hpp>

#include <algorithm>

namespace granary::detail {

Followers::Followers(PlannerContext const& context, SchedulerCalls& scheduler, Dispatch& dispatch,
                     Movement const& movement)
    : m_context(context),
      m_scheduler(scheduler),
      m_dispatch(dispatch),
      m_movement(movement),
      m_has_devices(std::ranges::any_of(context.topology.groups(),
                                        [](WorkerGroup const& group) { return group.kind == WorkerKind::Device; })) {}

bool Followers::issue(GroupId id) {
  auto const& group = m_context.topology.group(id);
  if (group.kind != WorkerKind::Device || m_context.options.device_issue < 2 || m_context.options.depth == 0)
    return false;
  if (m_dispatch.exclusive().valid() || m_dispatch.has_complete(id)) return false;
  bool issued = false;
  for (WorkerId const worker : group.workers) {
    if (!m_dispatch.workers().takes_more(worker, group.kind, Duration{0})) continue;
    TaskId const follower = find(worker, id);
    if (!follower.valid()) continue;
    m_dispatch.issue_behind(m_dispatch.tasks()[follower], id, worker);
    issued = true;
  }
  return issued;
}

// The most urgent task that waits only for the worker's last one and that the scheduler accepts; among equals the first
// submitted. O(successors of that one).
TaskId Followers::find(WorkerId worker, GroupId group) {
  auto const& tasks = m_dispatch.tasks();
  TaskId const before = m_dispatch.workers().last(worker);
  auto const* const last = before.valid() ? tasks.find(before) : nullptr;
  NodeId const node = m_context.topology.group(group).node;
  if (last == nullptr || last->cancelled || !m_dispatch.may_pass(node)) return {};
  m_found.clear();
  tasks.for_each_successor(*last, [&](TaskId id) {
    auto const& task = tasks[id];
    if (task.assignment.phase == TaskPhase::Waiting && !task.cancelled && task.allowed_on(group)) m_found.push_back(id);
  });
  std::size_t kept = 0;
  for (std::size_t i = 0, end = 0; i < m_found.size(); i = end) {
    auto const& task = tasks[m_found[i]];
    for (end = i; end < m_found.size() && m_found[end] == task.id; ++end) continue;
    bool const waits_for_it_alone = end - i == task.predecessors;
    if (!waits_for_it_alone) continue;
    Duration const time = m_dispatch.kernel_time(task, group);
    if (!m_dispatch.workers().takes_more(worker, WorkerKind::Device, time)) continue;
    if (may_follow(task, *last, node)) m_found[kept++] = task.id;
  }
  m_found.resize(kept);
  std::ranges::stable_sort(m_found, std::ranges::greater{}, [&](TaskId id) { return tasks[id].priority; });
  for (TaskId const id : m_found) {
    if (m_scheduler.hand_over(id, group)) return id;
  }
  return {};
}

// True if all its data are on the node or being written there, and it reads what the task before writes: then it may be
// skipped if that one fails. The values that it overwrites stay there until then. A task that commutes has no turn yet,
// and the places and sizes of varying data are known when they have been written.
bool Followers::may_follow(LiveTask const& task, LiveTask const& before, NodeId node) const {
  if (task.accesses.commutes() || task.varies) return false;
  bool reads_result = false;
  for (auto const& access : task.accesses) {
    auto const& datum = m_movement.data()[access.data];
    auto const* const replica = datum.on(node);
    if (replica == nullptr || !datum.value.readable() || (writes(access.mode) && datum.active > 0)) return false;
    bool const there = replica->valid || replica->writers > 0;
    if (!there && (reads(access.mode) || datum.has_value())) return false;
    reads_result = reads_result || (reads(access.mode) && std::ranges::any_of(before.accesses, [&](Access const& of) {
                                      return of.data == access.data && writes(of.mode);
                                    }));
  }
  return reads_result && !m_movement.stands_in_reserve(task.accesses, node);
}

GroupId Followers::group_to_follow(AccessList const& accesses) const {
  if (!m_has_devices) return {};
  auto const& topology = m_context.topology;
  for (auto const& access : accesses) {
    if (!reads(access.mode)) continue;
    auto const& replicas = m_movement.data()[access.data].replicas;
    auto const written = std::ranges::find_if(replicas, [](Replica const& replica) { return replica.writers > 0; });
    if (written == replicas.end()) continue;
    auto const writes_last = [&](WorkerId worker) {
      TaskId const id = m_dispatch.workers().last(worker);
      auto const* const last = id.valid() ? m_dispatch.tasks().find(id) : nullptr;
      return last != nullptr && last->last_successor == Task::none &&
             std::ranges::any_of(last->accesses,
                                 [&](Access const& of) { return of.data == access.data && writes(of.mode); });
    };
    for (GroupId const id : topology.groups_on(written->node)) {
      auto const& group = topology.group(id);
      if (group.kind == WorkerKind::Device && std::ranges::any_of(group.workers, writes_last)) return id;
    }
  }
  return {};
}

}  // namespace granary::detail
