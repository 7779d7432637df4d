// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/base/error.hpp>
#include <granary/core/planner/planner.hpp>

#include <algorithm>
#include <utility>

namespace granary {

namespace {

// The device group with a lane whose last task writes what a task with these accesses reads, and for which no other
// task waits yet: the new one may be issued behind it. Later tasks wait for the group's next event, so that the lane is
// checked once per task that it got. `where(data)` is the node on which a task writes the datum now.
template <class Workers, class Where>
GroupId group_to_follow(Topology const& topology, Workers const& workers, TaskGraph const& graph,
                        AccessList const& accesses, Where const& where) {
  for (auto const& access : accesses) {
    NodeId const node = reads(access.mode) ? where(access.data) : NodeId();
    if (!node.valid()) continue;
    auto const writes_last = [&](WorkerId worker) {
      TaskId const id = workers[worker.index()].last;
      auto const* const last = id.valid() ? graph.find(id) : nullptr;
      return last != nullptr && last->first_successor == Task::none &&
             std::ranges::any_of(last->accesses,
                                 [&](Access const& of) { return of.data == access.data && writes(of.mode); });
    };
    for (GroupId const id : topology.groups_on(node)) {
      auto const& group = topology.group(id);
      if (group.kind == WorkerKind::Device && std::ranges::any_of(group.workers, writes_last)) return id;
    }
  }
  return {};
}

}  // namespace

Planner::Planner(Topology topology, PolicySet policies, Estimator& estimator, PlannerOptions options)
    : m_topology(std::move(topology)),
      m_policies(std::move(policies)),
      m_estimator(estimator),
      m_options(options),
      m_board(m_topology.groups().size()),
      m_groups(m_topology.groups().size()),
      m_workers(m_topology.machine().workers.size()),
      m_links(m_topology.machine().links.size()),
      m_agenda(m_topology.machine().nodes.size(), m_topology.groups().size()) {
  if (m_groups.empty()) throw InvalidArgument("the machine has no workers");
  if (!m_policies.scheduler || !m_policies.eviction)
    throw InvalidArgument("a scheduler and an eviction policy are needed");
  if (m_options.depth == 0 || m_options.issue_depth == 0 || m_options.device_issue == 0) {
    throw InvalidArgument("the depth of committed tasks and the depth of issued tasks must be at least 1");
  }
  for (auto const& node : m_topology.machine().nodes) {
    m_nodes.push_back(NodeState{Ledger(node.capacity, node.alignment), 0, {}, {}, {}, {}, {}, 0, 0, 0});
  }
  m_storage = find_storage();
  m_statistics.links.resize(m_links.size());
  m_statistics.nodes.resize(m_nodes.size());
  m_board.observe(this);
  m_keeps_plans = m_policies.scheduler->keeps_plans();
  m_policies.scheduler->attach(*this, m_board);
  m_policies.eviction->attach(*this, m_board);
}

Planner::~Planner() = default;

TaskId Planner::submit(TaskSubmission const& submission) {
  AccessList accesses(submission.accesses);
  check_submission(submission, accesses);
  GroupSet const groups = allowed_groups(submission, accesses);
  GroupId const behind = group_to_follow(m_topology, m_workers, m_graph, accesses, [&](DataId data) {
    auto const& replicas = record(data).replicas;
    auto const written = std::ranges::find_if(replicas, [](Replica const& replica) { return replica.writers > 0; });
    return written != replicas.end() ? written->node : NodeId();
  });
  for (auto const& access : accesses) {
    auto& data = record(access.data);
    data.accessed = true;
    if (writes(access.mode)) data.defined = data.written = true;
  }
  Task& task = m_graph.add(std::move(accesses));
  task.codelet = submission.codelet;
  task.priority = submission.priority;
  task.flops = submission.flops;
  task.allowed_groups = groups;
  TaskId const id = task.id;
  m_statistics.most_live_tasks = std::max<std::uint64_t>(m_statistics.most_live_tasks, m_graph.size());
  m_policies.scheduler->submitted(id);
  if (task.predecessors == 0) {
    make_ready(task);
  } else if (behind.valid() && task.allowed_on(behind)) {
    m_agenda.post(Agenda::Commit{behind});
  }
  advance();
  return id;
}

void Planner::check_submission(TaskSubmission const& submission, AccessList const& accesses) const {
  if (submission.codelet.index() >= m_codelets.size()) {
    throw InvalidArgument("a task names codelet " + std::to_string(submission.codelet.value()) +
                          ", which is not registered");
  }
  auto const& name = m_codelets[submission.codelet.index()].name;
  for (auto const& access : accesses) {
    if (!known(access.data) || record(access.data).released()) {
      throw InvalidArgument("task '" + name + "' accesses data " + std::to_string(access.data.value()) +
                            ", which is not registered");
    }
    auto const& data = record(access.data);
    if (!reads(access.mode) || access.repeated || data.defined) continue;
    if (data.poisoned) {
      throw InvalidArgument("task '" + name + "' reads data '" + data.description.name +
                            "', which an earlier failure left without a value");
    }
    throw InvalidArgument("task '" + name + "' reads data '" + data.description.name +
                          "', which has no origin and was not written by an earlier task");
  }
}

Bytes Planner::footprint(AccessList const& accesses, NodeId node) const {
  Bytes total = 0;
  for (auto const& access : accesses) {
    auto const& data = record(access.data);
    if (!access.repeated && data.slot_on(node) == Slot::Pool) {
      total += m_nodes[node.index()].ledger.rounded(data.description.bytes);
    }
  }
  return total;
}

GroupSet Planner::allowed_groups(TaskSubmission const& submission, AccessList const& accesses) const {
  auto const& codelet = m_codelets[submission.codelet.index()];
  GroupSet groups;
  bool runnable = false;
  std::string refusal;
  for (std::size_t g = 0; g < m_groups.size(); ++g) {
    auto const& group = m_topology.groups()[g];
    if (!codelet.runs_on(group.kind)) continue;
    runnable = true;
    Bytes const needed = footprint(accesses, group.node);
    Bytes const limit = m_nodes[group.node.index()].ledger.capacity();
    Bytes const reserve = limit - room_for_tasks(group.node);
    if (needed <= limit - reserve) {
      groups.insert(GroupId(static_cast<std::uint32_t>(g)));
    } else if (refusal.empty()) {
      std::size_t const count = static_cast<std::size_t>(
          std::ranges::count_if(accesses, [](Access const& access) { return !access.repeated; }));
      Bytes const kept = m_nodes[group.node.index()].reserve;
      refusal = "task '" + codelet.name + "' needs at least " + std::to_string(needed + kept) + " bytes (" +
                format_bytes(needed + kept) + ") in memory node '" + m_topology.machine()[group.node].name +
                "' for its " + std::to_string(count) + " data" + (kept > 0 ? " and data that pass through" : "") +
                ", but the limit there is " + std::to_string(limit) + " bytes";
    }
  }
  if (!runnable) throw InvalidArgument("no worker of this machine can run codelet '" + codelet.name + "'");
  if (groups.empty()) throw MemoryLimitError(refusal);
  // Data in transfer to a worker must fit on the intermediate nodes.
  for (auto const& access : accesses) {
    for (std::size_t n = 0; n < m_nodes.size(); ++n) {
      NodeId const node(static_cast<std::uint32_t>(n));
      Bytes const size = m_nodes[n].ledger.rounded(record(access.data).description.bytes);
      if (m_topology.between_others(node) && record(access.data).slot_on(node) == Slot::Pool &&
          size > room_for_tasks(node)) {
        throw MemoryLimitError("data '" + record(access.data).description.name + "' of task '" + codelet.name +
                               "' pass through memory node '" + m_topology.machine()[node].name +
                               "', which needs at least " + std::to_string(size + m_nodes[n].reserve) +
                               " bytes for that, but the limit there is " +
                               std::to_string(m_nodes[n].ledger.capacity()) + " bytes");
      }
    }
  }
  return groups;
}

// Its predecessors have ended.
void Planner::make_ready(Task& task) {
  bool const broken = task.cancelled || std::ranges::any_of(task.accesses, [&](Access const& access) {
                        return reads(access.mode) && (record(access.data).poisoned || record(access.data).stale);
                      });
  task.cancelled = broken;
  if (task.phase == TaskPhase::Issued) return;  // it followed the last of them
  task.phase = TaskPhase::Ready;
  if (broken) {
    m_policies.scheduler->abandoned(task.id);
    m_agenda.post(Agenda::Cancel{task.id});
    return;
  }
  m_offered_to_all = false;
  m_policies.scheduler->ready(task.id);
  for (GroupId const group : task.allowed_groups) m_agenda.post(Agenda::Commit{group});
}

void Planner::advance() {
  do {
    while (m_agenda.take([this](auto item) { perform(item); })) continue;
  } while (write_back_early() || resolve_stall());
}

void Planner::perform(Agenda::Cancel item) {
  if (m_graph.find(item.task) != nullptr) cancel(m_graph[item.task]);
}

void Planner::perform(Agenda::Fetch item) {
  auto const* const wanted = record(item.data).on(item.node);
  if (wanted != nullptr && wanted->pins > 0) fetch(item.data, item.node);
}

void Planner::perform(Agenda::PassThrough item) {
  bool const wanted = std::ranges::any_of(record(item.data).hops, [&](Hop const& hop) { return hop.via == item.node; });
  if (wanted) pass_through(item.data, item.node);
}

void Planner::perform(Agenda::WriteBack item) {
  auto const* const leaving = record(item.data).find(item.node, Slot::Pool);
  if (leaving != nullptr && leaving->evicting && leaving->valid) write_back(item.data, item.node);
}

void Planner::perform(Agenda::Forget item) {
  if (known(item.data) && record(item.data).released()) try_forget(item.data);
}

void Planner::commit_tasks(GroupId group) {
  auto& state = m_groups[group.index()];
  do {
    while (state.ahead < m_options.depth) {
      TaskId const id = m_policies.scheduler->next(group);
      if (!id.valid()) break;
      Task& task = m_graph[id];
      commit(task, group);
      auto& node = node_of(task);
      if (!place_task(task, node.waiting.empty() && node.transits.empty())) node.waiting.push_back(id);
    }
  } while (issue_tasks(group) || issue_followers(group));
}

void Planner::commit(Task& task, GroupId group) {
  auto& state = m_groups[group.index()];
  m_offered_to_all = false;
  task.phase = TaskPhase::Committed;
  task.group = group;
  task.estimate = kernel_time(task.id, group);
  state.committed.push_back(task.id);
  ++m_statistics.tasks_committed;
  ++state.ahead;
  auto& node = node_of(task);
  for (auto const& access : task.accesses) {
    if (access.repeated) continue;
    if (access.data.index() >= node.committed_uses.size()) node.committed_uses.resize(m_data.size());
    ++node.committed_uses[access.data.index()];
  }
}

bool Planner::issue_tasks(GroupId group) {
  auto& state = m_groups[group.index()];
  bool issued = false;
  while (!state.startable.empty()) {
    Task& task = m_graph[state.startable.front()];
    if (!can_start(task)) {  // a transfer of one of its outputs has started meanwhile
      state.startable.pop_front();
      state.fetching.push_back(task.id);
      continue;
    }
    WorkerId const worker = free_worker(m_topology.group(group), task.estimate);
    if (!worker.valid()) break;
    state.startable.pop_front();
    issue(task, worker);
    issued = true;
  }
  return issued;
}

WorkerId Planner::free_worker(WorkerGroup const& group, Duration estimate) const {
  WorkerId best;
  Duration best_time = Duration::max();
  for (WorkerId const worker : group.workers) {
    auto const& state = m_workers[worker.index()];
    if (state.held == 0) return worker;
    if (state.held_time >= best_time || !takes_more(worker, group.kind, estimate)) continue;
    best = worker;
    best_time = state.held_time;
  }
  return best;
}

// Behind those that the worker holds.
bool Planner::takes_more(WorkerId worker, WorkerKind kind, Duration estimate) const {
  auto const& state = m_workers[worker.index()];
  return state.held < m_options.issue_depth && (state.held_time + estimate <= m_options.issue_ahead ||
                                                (kind == WorkerKind::Device && state.held < m_options.device_issue));
}

void Planner::issue(Task& task, WorkerId worker) {
  NodeId const node = m_topology.group(task.group).node;
  for (auto const& access : task.accesses) {
    if (access.repeated || !writes(access.mode)) continue;
    auto& data = record(access.data);
    cancel_queued_transfers(access.data);
    // The other replicas hold a value that nobody will read any more.
    Replica* const written = data.on(node);
    ++written->writers;
    for (std::size_t i = data.replicas.size(); i-- > 0;) {
      auto& other = data.replicas[i];
      if (other.node != node || other.slot != data.slot_on(node)) invalidate(access.data, other);
    }
  }
  if (m_alone == task.id) end_being_alone();
  task.phase = TaskPhase::Issued;
  task.worker = worker;
  auto& state = m_workers[worker.index()];
  ++state.held;
  state.held_time += task.estimate;
  state.last = task.id;
  --m_groups[task.group.index()].ahead;
  ++m_issued;
  m_commands.emplace_back(RunCommand{task.id, worker, task.predecessors > 0});
  m_policies.scheduler->issued(task.id);
}

void Planner::task_done(TaskId id, Duration measured) {
  Task& task = m_graph[id];
  if (task.cancelled) {
    discard(task);
    return advance();
  }
  m_estimator.observe_kernel(task.codelet, task.flops, m_topology.group(task.group).kind, measured);
  NodeId const node = m_topology.group(task.group).node;
  for (auto const& access : task.accesses) {
    if (access.repeated || !writes(access.mode)) continue;
    auto& data = record(access.data);
    Replica* const written = data.on(node);
    --written->writers;
    data.poisoned = data.stale = false;
    data.cause = DataRecord::no_cause;
    set_valid(access.data, *written);
  }
  ++m_statistics.tasks_run;
  end_task(task);
  advance();
}

void Planner::end_task(Task& task) {
  TaskId const id = task.id;
  GroupId const group = task.group;
  if (m_alone == id) end_being_alone();
  if (task.phase == TaskPhase::Issued) {
    auto& worker = m_workers[task.worker.index()];
    worker.held_time = --worker.held == 0 ? Duration{0} : worker.held_time - task.estimate;
    --m_issued;
  }
  if (group.valid()) {
    m_policies.scheduler->finished(id);
    uncommit(task);
    m_agenda.post(Agenda::Commit{group});
  }
  m_touched.clear();
  for (auto const& access : task.accesses) {
    if (!access.repeated) m_touched.emplace_back(access.data, access.mode);
  }
  m_graph.finish(id, [&](Task& released) { make_ready(released); });
  m_commands.emplace_back(RetireCommand{id});
  for (auto const& [data, mode] : m_touched) {
    auto& touched = record(data);
    if (m_graph.pending_tasks(data) == 0) m_policies.eviction->last_use_ended(data);
    if (writes(mode) && group.valid() && m_options.write_back_early && touched.away_from_home() &&
        m_graph.pending_writers(data) == 0) {
      m_nodes[m_topology.group(group).node.index()].final_values.push_back(data);
    }
    if (touched.released()) m_agenda.post(Agenda::Forget{data});
  }
}

// Undoes `commit` and what followed from it: the task has ended, or will not run.
void Planner::uncommit(Task& task) {
  NodeId const id = m_topology.group(task.group).node;
  auto& node = m_nodes[id.index()];
  auto& group = m_groups[task.group.index()];
  if (task.phase != TaskPhase::Issued) --group.ahead;
  group.committed.erase(std::ranges::find(group.committed, task.id));
  for (auto const& access : task.accesses) {
    if (!access.repeated) --node.committed_uses[access.data.index()];
  }
  if (task.phase == TaskPhase::Committed) {
    std::erase(node.waiting, task.id);
  } else {
    let_go_of_places(task);
  }
  room_may_have_changed(id);
}

// Something on the node changed: whoever waits for room there may find it now.
void Planner::room_may_have_changed(NodeId id) {
  auto const& node = m_nodes[id.index()];
  if (!node.waiting.empty() || !node.transits.empty() || !node.write_backs.empty()) m_agenda.post(Agenda::GiveRoom{id});
  for (NodeId const other : m_wait_for_reserves) m_agenda.post(Agenda::GiveRoom{other});
  m_wait_for_reserves.clear();
}

}  // namespace granary
