// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/dispatch/dispatch.hpp>

#include <algorithm>
#include <utility>

namespace granary::detail {

Dispatch::Dispatch(PlannerContext& context, SchedulerCalls& scheduler, Estimator const& estimator, LiveTasks& tasks,
                   Movement& movement, ResultBounds& bounds, Booking& booking)
    : m_context(context),
      m_scheduler(scheduler),
      m_estimator(estimator),
      m_tasks(tasks),
      m_movement(movement),
      m_bounds(bounds),
      m_booking(booking),
      m_workers(context, movement),
      m_commuting(tasks),
      m_groups(context.topology.groups().size()),
      m_nodes(context.topology.machine().nodes.size()),
      m_aborts(scheduler.aborts_tasks()),
      m_chooses_turns(scheduler.chooses_turns()) {}

void Dispatch::make_ready(LiveTask& task) {
  task.cancelled = task.cancelled || lacks_input(task);
  if (task.assignment.phase == TaskPhase::Issued) return;  // it was issued behind the last of them
  bool const takes_turn = task.accesses.commutes() && !takes_turn_later(task);
  if (!task.cancelled && takes_turn && !m_commuting.take(task)) return;
  task.assignment.phase = TaskPhase::Ready;
  if (task.cancelled) {
    if (!task.external()) m_scheduler.withdrawn(task.id, Withdrawal::NeverReady, {});
    m_context.agenda.post(Agenda::Cancel{task.id});
    return;
  }
  if (task.external()) {
    m_external.push_back(task.id);
    m_context.agenda.post(Agenda::BeginExternal{});
    return;
  }
  m_offered_to_all = false;
  m_scheduler.ready(task.id);
  for (GroupId const group : task.allowed_groups) m_context.agenda.post(Agenda::Commit{group});
}

// A handover needs the values that it hands over, not the values of their neighbours.
bool Dispatch::lacks_input(LiveTask const& task) const {
  return std::ranges::any_of(task.accesses, [&](Access const& access) {
    bool const input = reads(access.mode) && (!task.handover() || writes(access.mode));
    return input && !m_movement.data()[access.data].value.readable();
  });
}

void Dispatch::begin_external() {
  std::erase_if(m_external, [&](TaskId id) {
    LiveTask& task = m_tasks[id];
    if (task.handover() || !m_movement.may_write(task.accesses)) return false;
    if (!m_bounds.expect(task)) return true;
    task.assignment.phase = TaskPhase::Issued;
    for_each_write(task.accesses, [&](Access const& access) {
      m_movement.changes().begin(access.data, node_of(task, access.data), false);
    });
    ++m_begun;
    m_context.commands.emplace_back(BeginCommand{id, m_bounds.bytes_read(task)});
    return true;
  });
}

void Dispatch::commit_tasks(GroupId group) {
  NodeId const node = m_context.topology.group(group).node;
  auto const depth = m_context.options.depth;
  while (ahead(group) <
         (depth > 0 ? m_scheduler.most_ahead(group, depth) : m_workers.idle(m_context.topology.group(group)))) {
    auto* const next = m_scheduler.next(group);
    if (next == nullptr) return;
    LiveTask& task = *next;
    bool const takes_turn = m_chooses_turns && task.accesses.commutes();
    if (takes_turn && !m_commuting.take(task)) return m_scheduler.has_no_turn(task.id);
    commit(task, group);
    auto& state = m_nodes[node.index()];
    bool const first = state.waiting.empty();
    if (takes_turn && lacks_input(task)) {
      // Another one with which it commutes failed since it was ready.
      task.cancelled = true;
      m_context.agenda.post(Agenda::Cancel{task.id});
    } else if (may_pass(node) && place(task, first && m_movement.memories()[node].transits.empty())) {
      if (!first) ++state.passed;
      continue;
    }
    state.waiting.push_back(task.id);
    waiting_changed(node);
  }
}

void Dispatch::commit(LiveTask& task, GroupId group) {
  m_offered_to_all = false;
  task.assignment = {.estimate = kernel_time(task, group), .group = group, .phase = TaskPhase::Committed};
  m_groups[group.index()].committed.push_back(task.id);
  ++m_groups[group.index()].ahead;
  ++m_context.statistics.tasks_committed;
  if (m_aborts) post_all_groups();
  auto& uses = m_nodes[node_of(task).index()].committed_uses;
  for (auto const& access : task.accesses) {
    if (access.repeated) continue;
    if (access.data.index() >= uses.size()) uses.resize(m_movement.data().size());
    ++uses[access.data.index()];
  }
}

bool Dispatch::place(LiveTask& task, bool may_evict) {
  if (m_gives_way || (m_exclusive.valid() && task.id != m_exclusive)) return false;
  if (!m_bounds.expect(task)) return false;
  if (!m_movement.hold(task.accesses, node_of(task), may_evict, task.priority)) return false;
  task.assignment.phase = TaskPhase::Fetching;
  auto& group = m_groups[task.assignment.group.index()];
  if (complete(task)) {
    group.complete.push_back(task.id);
  } else {
    group.fetching.push_back(task.id);
  }
  return true;
}

bool Dispatch::complete(LiveTask const& task) const {
  return m_movement.complete(task.accesses, node_of(task), task.predecessors > 0);
}

void Dispatch::give_room(NodeId id) {
  auto& node = m_nodes[id.index()];
  auto const placed = [&](std::size_t i, bool may_evict) {
    LiveTask& task = m_tasks[node.waiting[i]];
    if (!place(task, may_evict)) return false;
    node.waiting.erase(node.waiting.begin() + static_cast<std::ptrdiff_t>(i));
    waiting_changed(id);
    m_context.agenda.post(Agenda::Commit{task.assignment.group});
    return true;
  };
  while (!node.waiting.empty() && placed(0, m_movement.memories()[id].transits.empty())) node.passed = 0;
  for (std::size_t i = 1; i < node.waiting.size() && node.passed < most_passes;) placed(i, false) ? ++node.passed : ++i;
}

void Dispatch::look_for_complete(DataId data) {
  if (!m_external.empty()) m_context.agenda.post(Agenda::BeginExternal{});
  for (auto& group : m_groups) {
    std::erase_if(group.fetching, [&](TaskId id) {
      LiveTask const& task = m_tasks[id];
      bool const concerned =
          std::ranges::any_of(task.accesses, [&](Access const& access) { return access.data == data; });
      if (!concerned || !complete(task)) return false;
      group.complete.push_back(id);
      m_context.agenda.post(Agenda::Commit{task.assignment.group});
      return true;
    });
  }
}

bool Dispatch::issue_complete(GroupId id) {
  auto& group = m_groups[id.index()];
  bool issued = false;
  while (!group.complete.empty()) {
    LiveTask& task = m_tasks[group.complete.front()];
    if (!m_movement.may_write(task.accesses)) {  // a transfer of one of its outputs has started meanwhile
      group.complete.pop_front();
      group.fetching.push_back(task.id);
      continue;
    }
    if (task.id == group.refused) break;
    WorkerId const worker = m_workers.find(m_context.topology.group(id), task.assignment.estimate);
    if (!worker.valid()) {
      group.refused = task.id;
      break;
    }
    group.complete.pop_front();
    issue(task, worker);
    issued = true;
  }
  return issued;
}

void Dispatch::issue_behind(LiveTask& task, GroupId group, WorkerId worker) {
  commit(task, group);
  auto& node = m_nodes[node_of(task).index()];
  if (!node.waiting.empty()) ++node.passed;
  place(task, false);
  std::erase(m_groups[group.index()].complete, task.id);
  issue(task, worker);
  ++m_context.statistics.tasks_following;
}

void Dispatch::issue(LiveTask& task, WorkerId worker) {
  bool const restartable = m_context.codelets[task.codelet.index()].restartable;
  bool const abortable = m_aborts && m_context.topology.group(task.assignment.group).kind == WorkerKind::Cpu;
  auto const keep = !restartable ? Keep::Nothing : abortable ? Keep::Aside : Keep::Elsewhere;
  m_movement.begin_work(task.accesses, node_of(task), keep);
  end_exclusivity_of(task.id);
  task.assignment.phase = TaskPhase::Issued;
  task.assignment.worker = worker;
  --m_groups[task.assignment.group.index()].ahead;
  m_workers.hand(task, keep, m_context.commands);
  m_scheduler.issued(task.id);
  if (restartable && abortable) post_all_groups();
}

void Dispatch::end(LiveTask& task) {
  TaskId const id = task.id;
  auto const assignment = task.assignment;
  NodeId const wrote_on = assignment.group.valid() && m_context.options.write_back_early ? node_of(task) : NodeId();
  end_exclusivity_of(id);
  if (assignment.worker.valid()) leave_worker(task, false);
  if (task.external()) {
    assignment.phase == TaskPhase::Issued ? --m_begun : std::erase(m_external, id);
    m_scheduler.external_finished(id);
  }
  if (assignment.group.valid()) {
    m_scheduler.finished(id);
    uncommit(task);
    m_context.agenda.post(Agenda::Commit{assignment.group});
  }
  m_movement.end_uses(task.accesses);
  m_booking.ended(task);
  if (!task.handover()) m_context.commands.emplace_back(RetireCommand{id});
  AccessList const accesses = m_tasks.finish(id, [&](LiveTask& released) { make_ready(released); });
  if (accesses.commutes()) end_turn(id, accesses);
  if (m_tasks.size() == 0) m_workers.all_back();
  m_movement.uses_ended(accesses, wrote_on);
}

void Dispatch::end_turn(TaskId task, AccessList const& accesses) {
  for (TaskId const next : m_commuting.free(task, accesses)) make_ready(m_tasks[next]);
  if (m_chooses_turns) post_all_groups();
}

void Dispatch::take_back(LiveTask& task, bool changed) {
  auto const assignment = task.assignment;
  if (assignment.phase < TaskPhase::Committed) return;
  end_exclusivity_of(task.id);
  if (assignment.phase == TaskPhase::Issued) revert_writes(task, changed);
  if (assignment.worker.valid()) leave_worker(task, true);
  if (task.external()) --m_begun;
  bool const committed = assignment.group.valid();
  if (committed) {
    m_scheduler.finished(task.id);
    uncommit(task);
  }
  task.assignment = {};
  if (committed && m_chooses_turns && task.accesses.commutes()) end_turn(task.id, task.accesses);
  if (committed) {
    m_scheduler.submitted(task.id);
    m_context.agenda.post(Agenda::Commit{assignment.group});
  }
  if (task.predecessors == 0) make_ready(task);
}

// The group for which it was stopped may want another task now.
void Dispatch::leave_worker(LiveTask& task, bool returned) {
  if (m_workers.aborted(task.assignment.worker) == task.id) {
    if (returned) ++m_context.statistics.tasks_aborted;
    post_all_groups();
  }
  returned ? m_workers.returned(task) : m_workers.ended(task);
  m_movement.end_work();
}

void Dispatch::abort_tasks(GroupId group) {
  while (ahead(group) == 0) {
    auto const* const task = m_scheduler.abort_for(group);
    if (task == nullptr) return;
    if (!may_abort(*task)) return m_scheduler.may_not_abort(task->id);
    WorkerId const worker = task->assignment.worker;
    m_workers.abort(worker, task->id);
    m_context.commands.emplace_back(AbortCommand{task->id, worker});
  }
}

bool Dispatch::may_abort(LiveTask const& task) const {
  auto const& [estimate, group, worker, phase] = task.assignment;
  return m_aborts && worker.valid() && m_context.topology.group(group).kind == WorkerKind::Cpu && !task.cancelled &&
         !m_workers.aborted(worker).valid() && may_restart(task);
}

void Dispatch::revert_writes(LiveTask const& task, bool changed) {
  for_each_write(task.accesses, [&](Access const& access) {
    m_movement.changes().revert(access.data, node_of(task, access.data), changed);
  });
}

bool Dispatch::may_restart(LiveTask const& task) const {
  return m_context.codelets[task.codelet.index()].restartable && task.assignment.phase == TaskPhase::Issued &&
         task.predecessors == 0 && std::ranges::all_of(task.accesses, [&](Access const& access) {
           return access.repeated || !writes(access.mode) || m_movement.changes().may_revert(access);
         });
}

// Undoes `commit` and what followed from it; `let_go` undoes `place`.
void Dispatch::uncommit(LiveTask& task) {
  NodeId const id = node_of(task);
  auto& node = m_nodes[id.index()];
  auto& group = m_groups[task.assignment.group.index()];
  if (task.assignment.phase != TaskPhase::Issued) --group.ahead;
  group.committed.erase(std::ranges::find(group.committed, task.id));
  for (auto const& access : task.accesses) {
    if (!access.repeated) --node.committed_uses[access.data.index()];
  }
  if (task.assignment.phase == TaskPhase::Committed) {
    if (node.waiting.front() == task.id) node.passed = 0;
    std::erase(node.waiting, task.id);
    waiting_changed(id);
  } else {
    let_go(task);
  }
  m_movement.room_may_have_changed(id);
}

void Dispatch::let_go(LiveTask& task) {
  auto& group = m_groups[task.assignment.group.index()];
  group.refused = {};
  if (task.assignment.phase == TaskPhase::Fetching && std::erase(group.fetching, task.id) == 0)
    std::erase(group.complete, task.id);
  m_movement.let_go(task.accesses, node_of(task));
}

// Tasks on several nodes may hold the memory through which each other's data must pass. All but one release theirs
// until that one has started: alone it fits, as its submission checked.
bool Dispatch::make_oldest_exclusive() {
  if (m_exclusive.valid()) return false;
  for (auto const& group : m_groups) {
    for (TaskId const id : group.committed) {
      if (m_tasks[id].assignment.phase != TaskPhase::Issued) m_exclusive = std::min(m_exclusive, id);
    }
  }
  if (!m_exclusive.valid()) return false;
  release_places(m_exclusive);
  auto& waiting = m_nodes[node_of(m_tasks[m_exclusive]).index()].waiting;
  auto const place = std::ranges::find(waiting, m_exclusive);
  if (place != waiting.end()) std::rotate(waiting.begin(), place, place + 1);
  post_room_on_all_nodes();
  return true;
}

void Dispatch::release_places(TaskId but) {
  for (auto& group : m_groups) {
    for (std::size_t i = group.fetching.size(); i-- > 0;) {
      if (group.fetching[i] == but) continue;
      LiveTask& other = m_tasks[group.fetching[i]];
      let_go(other);
      other.assignment.phase = TaskPhase::Committed;
      m_nodes[node_of(other).index()].waiting.push_front(other.id);
      waiting_changed(node_of(other));
    }
  }
}

bool Dispatch::give_way(bool to_outgoing_values) {
  if (std::exchange(m_gives_way, to_outgoing_values) == to_outgoing_values) return false;
  m_movement.evict_whatever(to_outgoing_values);
  if (to_outgoing_values) release_places({});
  post_room_on_all_nodes();
  return true;
}

void Dispatch::end_exclusivity_of(TaskId task) {
  if (m_exclusive != task) return;
  m_exclusive = {};
  post_room_on_all_nodes();
}

void Dispatch::post_room_on_all_nodes() {
  for (std::uint32_t n = 0; n < m_nodes.size(); ++n) m_context.agenda.post(Agenda::GiveRoom{NodeId(n)});
}

bool Dispatch::offer_to_all_groups() {
  if (m_tasks.size() == 0 || std::exchange(m_offered_to_all, true)) return false;
  m_scheduler.stalled();
  post_all_groups();
  return true;
}

void Dispatch::post_all_groups() {
  for (std::uint32_t g = 0; g < m_groups.size(); ++g) m_context.agenda.post(Agenda::Commit{GroupId(g)});
}

std::string Dispatch::name_of(LiveTask const& task) const {
  if (!task.handover()) return m_scheduler.name_of(task.id);
  return "the handover of '" + m_movement.data()[task.accesses[0].data].description.name + "' to what shares its bytes";
}

bool Dispatch::may_pass(NodeId id) const {
  return m_nodes[id.index()].waiting.empty() || m_nodes[id.index()].passed < most_passes;
}

std::uint32_t Dispatch::committed_uses(DataId data, NodeId node) const {
  auto const& uses = m_nodes[node.index()].committed_uses;
  return data.index() < uses.size() ? uses[data.index()] : 0;
}

}  // namespace granary::detail
