// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Failures: what is cancelled or poisoned with them, and what is kept.
#include <granary/core/base/error.hpp>
#include <granary/core/planner/device_lost.hpp>
#include <granary/core/planner/planner.hpp>

#include <algorithm>
#include <utility>

namespace granary {

namespace {

template <class Function>
void for_each_output(Task const& task, Function&& function) {
  for (auto const& access : task.accesses) {
    if (!access.repeated && writes(access.mode)) function(access.data);
  }
}

}  // namespace

bool is_device_lost(std::exception_ptr const& error) {
  try {
    std::rethrow_exception(error);
  } catch (DeviceLost const&) {
    return true;
  } catch (...) {
    return false;
  }
}

void Planner::task_failed(TaskId id, std::exception_ptr error) {
  Task& task = m_graph[id];
  if (task.cancelled) {
    discard(task);
  } else {
    fail(task, std::move(error));
  }
  advance();
}

// It followed a failed task and did not start: its outputs keep their values.
void Planner::task_skipped(TaskId id) {
  Task& task = m_graph[id];
  NodeId const node = m_topology.group(task.group).node;
  for_each_output(task, [&](DataId data) { --record(data).on(node)->writers; });
  cancel(task);
  advance();
}

// It ran behind one that failed, on values that were none: what it wrote is lost with them.
void Planner::discard(Task& task) {
  ++m_statistics.tasks_cancelled;
  auto const outputs = lose_outputs(task, cause_of(task));
  end_task(task);
  for (DataId const data : outputs) poison(data);
}

// The first unreported failure that left an input of the task without its value.
std::uint32_t Planner::cause_of(Task const& task) const {
  auto first = DataRecord::no_cause;
  for (auto const& access : task.accesses) {
    if (reads(access.mode)) first = std::min(first, record(access.data).cause);
  }
  return first;
}

// A task that was handed to a worker leaves its outputs without a value; the failure names them.
std::vector<DataId> Planner::lose_outputs(Task const& task, std::uint32_t cause) {
  std::vector<DataId> outputs;
  NodeId const node = m_topology.group(task.group).node;
  for_each_output(task, [&](DataId id) {
    auto& data = record(id);
    outputs.push_back(id);
    bool const named = data.poisoned && data.cause == cause;
    data.poisoned = true;
    data.cause = cause;
    --data.on(node)->writers;
    if (named || cause == DataRecord::no_cause) return;
    m_failures[cause].poisoned.push_back(data.description.name);
    m_failures[cause].poisoned_data.push_back(id);
  });
  return outputs;
}

void Planner::fail(Task& task, std::exception_ptr error) {
  ++m_statistics.tasks_failed;
  auto const cause = static_cast<std::uint32_t>(m_failures.size());
  m_failures.push_back({.task = task.id, .what = name_of(task), .error = std::move(error)});
  std::vector<DataId> outputs;
  if (task.phase == TaskPhase::Issued) {
    outputs = lose_outputs(task, cause);
  } else {  // they keep their values
    for_each_output(task, [&](DataId data) { make_stale(data, cause); });
  }
  end_task(task);
  for (DataId const data : outputs) poison(data);
}

void Planner::make_stale(DataId data, std::uint32_t cause) {
  record(data).stale = true;
  record(data).cause = std::min(record(data).cause, cause);
}

void Planner::poison(DataId data) {
  auto& broken = record(data);
  if (std::exchange(broken.going_home, false)) --m_going_home;
  for (std::size_t i = broken.replicas.size(); i-- > 0;) invalidate(data, broken.replicas[i]);
  if (broken.released()) m_agenda.post(Agenda::Forget{data});
}

// The task will not run. Its outputs keep their values; tasks that depend on its results are cancelled, too.
void Planner::cancel(Task& task) {
  ++m_statistics.tasks_cancelled;
  auto const cause = cause_of(task);
  for_each_output(task, [&](DataId data) { make_stale(data, cause); });
  end_task(task);
}

void Planner::copy_failed(TransferId id, std::exception_ptr error) {
  Transfer const transfer = end_transfer(id);
  DataId const data = transfer.data;
  NodeId const from = m_topology.machine()[transfer.link].from;
  NodeId const to = transfer.to.node;
  if (transfer.write_back) {
    if (is_device_lost(error) && m_topology.machine()[from].kind == NodeKind::Device) record(data).lost_on = from;
    fail_write_back(data, std::move(error));
    find_ways_anew(data);  // what was to pass through there
  } else {
    fail_waiting_for(data, to, error);
  }
  finish_eviction(data, from, transfer.from_slot);
  drop_if_useless(data, from);
  drop_if_useless(data, to);
  if (record(data).going_home) send_home(data);  // the fetch would have brought it part of the way
  ask_for_transfers(transfer.link);
  scan_fetching(data);
  if (record(data).released()) m_agenda.post(Agenda::Forget{data});
  advance();
}

void Planner::fail_write_back(DataId data, std::exception_ptr error) {
  auto& kept = record(data);
  kept.write_failed = true;
  Failure failure{
      .what = "write-back of '" + kept.description.name + "'", .error = std::move(error), .write_back_of = data};
  auto const* const gone = kept.find(kept.lost_on, Slot::Pool);
  if (gone != nullptr && !kept.valid_besides(*gone)) {
    failure.poisoned.push_back(kept.description.name);
    failure.poisoned_data.push_back(data);
  }
  if (std::exchange(kept.going_home, false)) --m_going_home;
  for (auto& replica : kept.replicas) {
    if (!std::exchange(replica.evicting, false)) continue;
    auto& node = m_nodes[replica.node.index()];
    node.evicting -= node.ledger.rounded(kept.description.bytes);
  }
  m_failures.push_back(std::move(failure));
  cancel_unissued();
  if (kept.released()) m_agenda.post(Agenda::Forget{data});
}

// Nothing will bring the datum to the node: the tasks that wait for it there fail, and those on nodes behind it.
void Planner::fail_waiting_for(DataId data, NodeId node, std::exception_ptr const& error) {
  auto const& hops = record(data).hops;
  for (auto hop = std::ranges::find(hops, node, &Hop::via); hop != hops.end();
       hop = std::ranges::find(hops, node, &Hop::via)) {
    fail_waiting_for(data, hop->target, error);
  }
  end_hops(data, node);
  for (GroupId const group : m_topology.groups_on(node)) {
    auto const& fetching = m_groups[group.index()].fetching;
    auto const waits = [&](TaskId id) {
      Task const& task = m_graph[id];
      return !task.cancelled && std::ranges::any_of(task.accesses, [&](Access const& access) {
        return access.data == data && reads(access.mode) && !record(data).on(node)->valid;
      });
    };
    for (auto it = std::ranges::find_if(fetching, waits); it != fetching.end();
         it = std::ranges::find_if(fetching, waits)) {
      fail(m_graph[*it], error);
    }
  }
}

// Each operation on a lost device fails and cancels the run again: report it once.
void Planner::cancel_all(std::exception_ptr error) {
  bool const said = is_device_lost(error) && std::ranges::any_of(m_failures, [](Failure const& failure) {
                      bool const of_the_run = !failure.task.valid() && !failure.write_back_of.valid();
                      return of_the_run && is_device_lost(failure.error);
                    });
  if (!said) m_failures.push_back({.what = "the run", .error = std::move(error)});
  cancel_unissued();
  advance();
}

void Planner::cancel_unissued() {
  m_graph.for_each([&](Task& task) {
    if (task.phase == TaskPhase::Issued || task.cancelled) return;
    task.cancelled = true;
    if (task.phase == TaskPhase::Waiting) return;  // cancelled when the last of its predecessors ends
    if (task.phase == TaskPhase::Ready) m_policies.scheduler->cancelled(task.id);
    m_agenda.post(Agenda::Cancel{task.id});
  });
}

// The device that held the value, or one on its way home, is lost: no later run brings it there. Without another
// replica the datum has no value any more.
void Planner::give_up_lost(DataId data) {
  auto& given_up = record(data);
  auto const node = std::exchange(given_up.lost_on, {});
  if (!node.valid() || given_up.released()) return;
  auto* const gone = given_up.find(node, Slot::Pool);
  if (gone == nullptr || !gone->valid || gone->pins > 0 || given_up.transfers > 0) return;
  if (m_graph.pending_tasks(data) > 0) return;  // their copies will report the same
  given_up.poisoned = given_up.poisoned || !given_up.valid_besides(*gone);
  invalidate(data, *gone);
}

std::vector<Failure> Planner::take_failures() {
  for (std::size_t d = 0; d < m_data.size(); ++d) give_up_lost(DataId(static_cast<std::uint32_t>(d)));
  for (std::size_t d = 0; d < m_data.size(); ++d) {
    DataId const data(static_cast<std::uint32_t>(d));
    auto& left = m_data[d];
    // From now on what lacks a value is refused to those that read it, until a task is submitted that only writes it.
    bool const lacks_value = (left.poisoned || left.stale) && !left.has_value();
    if (lacks_value && m_graph.pending_writers(data) == 0) left.defined = false;
    left.stale = false;
    left.cause = DataRecord::no_cause;
    // Released data that had to be reported before they could be forgotten.
    bool const kept = std::exchange(left.write_failed, false) || left.poisoned;
    if (kept && left.released() && m_graph.pending_tasks(data) == 0) forget(data);
  }
  std::ranges::stable_sort(m_failures, {}, [](Failure const& failure) { return failure.task; });
  return std::exchange(m_failures, {});
}

}  // namespace granary
