// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/dispatch/failures.hpp>

#include <algorithm>
#include <utility>

namespace granary::detail {

void Failures::task_failed(LiveTask& task, std::exception_ptr error) {
  ++m_context.statistics.tasks_failed;
  auto const cause = static_cast<std::uint32_t>(m_failures.size());
  m_failures.push_back({.task = task.id,
                        .position = task.position,
                        .what = m_dispatch.name_of(task),
                        .error = std::move(error),
                        .origin = origin_of(task)});
  if (task.assignment.phase == TaskPhase::Issued) return end_without_result(task, cause);
  end_without_run(task, cause);
}

TaskOrigin Failures::origin_of(LiveTask const& task) const {
  TaskOrigin origin{.what = m_dispatch.name_of(task), .source_line = task.source_line};
  if (!task.handover()) origin.task = m_context.codelets[task.codelet.index()].name;
  for (auto const& access : task.accesses) {
    if (!access.repeated) origin.data.push_back(m_movement.data()[access.data].description.name);
  }
  return origin;
}

void Failures::task_ran_in_vain(LiveTask& task) {
  ++m_context.statistics.tasks_cancelled;
  end_without_result(task, cause_of(task));
}

void Failures::end_without_result(LiveTask& task, std::uint32_t cause) {
  ended_badly(task.id, cause);
  m_handovers.ended(task.id);
  std::vector<DataId> outputs;
  for_each_write(task.accesses, [&](Access const& access) {
    DataId const data = access.data;
    outputs.push_back(data);
    if (m_movement.changes().lose(data, m_dispatch.node_of(task, data), cause)) name_loss(data, cause);
  });
  m_dispatch.end(task);
  for (DataId const data : outputs) m_movement.changes().poison(data);
}

void Failures::end_without_run(LiveTask& task, std::uint32_t cause) {
  m_handovers.undo(task);
  if (task.handover()) return m_dispatch.end(task);
  ended_badly(task.id, cause);
  std::vector<DataId> lost;
  for_each_write(task.accesses, [&](Access const& access) {
    if (!m_movement.changes().skip(access.data, cause)) return;
    lost.push_back(access.data);
    name_loss(access.data, cause);
  });
  m_dispatch.end(task);
  for (DataId const data : lost) m_movement.changes().poison(data);
}

// The failure names the outputs that it takes.
void Failures::name_loss(DataId data, std::uint32_t cause) {
  if (cause == Value::no_cause) return;
  m_failures[cause].poisoned.push_back(m_movement.data()[data].description.name);
  m_failures[cause].poisoned_data.push_back(data);
}

void Failures::task_skipped(LiveTask& task) {
  for_each_write(task.accesses, [&](Access const& access) {
    m_movement.changes().revert(access.data, m_dispatch.node_of(task), false);
  });
  cancel(task);
}

void Failures::cancel(LiveTask& task) {
  if (!task.handover()) ++m_context.statistics.tasks_cancelled;
  end_without_run(task, cause_of(task));
}

// The first unreported failure that left an input of the task without its value. If none did, but bytes of the task
// were to be handed over by data that a failure concerns, the first failure of these.
std::uint32_t Failures::cause_of(Task const& task) const {
  auto first = Value::no_cause;
  auto const look_at = [&](DataId data) { first = std::min(first, m_movement.data()[data].value.cause()); };
  for (auto const& access : task.accesses) {
    if (reads(access.mode)) look_at(access.data);
  }
  if (first != Value::no_cause || !m_movement.overlaps().any_blocked()) return first;
  bool blocked = false;
  for (auto const& access : task.accesses) {
    if (!m_movement.overlaps().waits_for_report(access.data)) continue;
    blocked = true;
    m_movement.for_each_with_bytes_of(access.data, look_at);
  }
  return blocked && first == Value::no_cause ? first_unreported() : first;
}

std::uint32_t Failures::first_unreported() const {
  auto const found = std::ranges::find_if(m_failures, [](Failure const& failure) { return failure.error != nullptr; });
  return found != m_failures.end() ? static_cast<std::uint32_t>(found - m_failures.begin()) : Value::no_cause;
}

void Failures::copy_failed(TransferId id, std::exception_ptr error) {
  Transfer const transfer = m_movement.copy_failed(id);
  if (transfer.write_back) {
    auto const& machine = m_context.topology.machine();
    NodeId const from = machine[transfer.link].from;
    bool const lost = is_device_lost(error) && machine[from].kind == NodeKind::Device;
    home_failed(transfer.data, lost ? from : NodeId(), std::move(error));
    m_movement.find_ways_anew(transfer.data);
    m_outgoing_values.fetch_again(transfer.data, transfer.to.node);
  } else {
    fail_waiting_for(transfer.data, transfer.to.node, error);
  }
  m_movement.settle(transfer);
  m_outgoing_values.look_for_arrived(transfer.data);
  m_dispatch.look_for_complete(transfer.data);
}

void Failures::home_failed(DataId data, NodeId lost_on, std::exception_ptr error) {
  auto const& name = m_movement.data()[data].description.name;
  Failure failure{.what = "write-back of '" + name + "'", .error = std::move(error), .write_back_of = data};
  if (m_movement.give_up_home(data, lost_on)) {
    failure.poisoned.push_back(name);
    failure.poisoned_data.push_back(data);
  }
  m_failures.push_back(std::move(failure));
  cancel_unissued();
}

// Nothing will bring the datum to the node: the tasks that wait for it there fail, and those on nodes behind it.
void Failures::fail_waiting_for(DataId data, NodeId node, std::exception_ptr const& error) {
  for (NodeId behind = m_movement.waits_behind(data, node); behind.valid();
       behind = m_movement.waits_behind(data, node))
    fail_waiting_for(data, behind, error);
  m_movement.give_up_fetch(data, node);
  auto& tasks = m_dispatch.tasks();
  for (TaskId const outgoing_value : m_outgoing_values.give_up(data, node)) task_failed(tasks[outgoing_value], error);
  auto const waits = [&](TaskId id) {
    return !tasks[id].cancelled && std::ranges::any_of(tasks[id].accesses, [&](Access const& access) {
      return access.data == data && reads(access.mode) && !m_movement.data()[data].on(node)->valid;
    });
  };
  for (GroupId const group : m_context.topology.groups_on(node)) {
    auto const& fetching = m_dispatch.fetching(group);
    for (auto it = std::ranges::find_if(fetching, waits); it != fetching.end();
         it = std::ranges::find_if(fetching, waits)) {
      task_failed(tasks[*it], error);
    }
  }
}

void Failures::cancel_all(std::exception_ptr error) {
  bool const said = is_device_lost(error) && std::ranges::any_of(m_failures, [](Failure const& failure) {
                      bool const of_the_run = !failure.task.valid() && !failure.write_back_of.valid();
                      return of_the_run && is_device_lost(failure.error);
                    });
  if (!said) m_failures.push_back({.what = "the run", .error = std::move(error)});
  cancel_unissued();
}

void Failures::cancel_unissued() {
  m_handovers.undo_all();
  m_dispatch.tasks().for_each([&](LiveTask& task) {
    auto const phase = task.assignment.phase;
    if (phase == TaskPhase::Issued || task.cancelled) return;
    task.cancelled = true;
    if (phase == TaskPhase::Waiting) return;  // cancelled when the last of its predecessors ends
    if (phase == TaskPhase::Ready && !task.external()) m_scheduler.withdrawn(task.id, Withdrawal::Cancelled, {});
    m_context.agenda.post(Agenda::Cancel{task.id});
  });
}

// If values failed to get home, they keep their memory and are reported already: tasks submitted since are then
// cancelled as the others were.
bool Failures::fail_one() {
  if (m_dispatch.exclusive().valid()) {
    if (of_the_run() != nullptr) {
      cancel_unissued();
      return true;
    }
    LiveTask& task = m_dispatch.tasks()[m_dispatch.exclusive()];
    task_failed(task, out_of_room(m_dispatch.node_of(task), m_dispatch.name_of(task)));
    return true;
  }
  auto const waiting = m_movement.take_waiting_write_back();
  if (!waiting) return false;
  auto const [data, node] = *waiting;
  if (m_movement.data().known(data)) {
    home_failed(data, {}, out_of_room(node, "data '" + m_movement.data()[data].description.name + "'"));
  }
  return true;
}

bool Failures::fail_outgoing_value() {
  TaskId const id = m_outgoing_values.give_up_without_room();
  if (!id.valid()) return false;
  LiveTask& task = m_dispatch.tasks()[id];
  task_failed(task, out_of_room(m_outgoing_values.send_node(), m_dispatch.name_of(task)));
  return true;
}

std::exception_ptr Failures::out_of_room(NodeId node, std::string const& who) const {
  auto const& ledger = m_movement.memories()[node].ledger;
  return std::make_exception_ptr(
      MemoryLimitError(who + " finds no room in memory node '" + m_context.topology.machine()[node].name + "' (" +
                       std::to_string(ledger.free_bytes()) + " of " + std::to_string(ledger.capacity()) +
                       " bytes are free, and no other data there can be written back or dropped)"));
}

std::vector<Failure> Failures::take() {
  m_movement.failures_reported();
  m_ended.clear();
  m_reported = 0;
  std::erase_if(m_failures, [](Failure const& failure) { return failure.error == nullptr; });
  std::ranges::stable_sort(m_failures, {}, [](Failure const& failure) { return failure.position; });
  return std::exchange(m_failures, {});
}

std::vector<Failure> Failures::take(DataId data) {
  auto const& overlaps = m_movement.overlaps();
  std::vector<std::size_t> concerning;
  auto const add = [&](std::size_t which) {
    if (std::ranges::find(concerning, which) == concerning.end()) concerning.push_back(which);
  };
  m_movement.for_each_with_bytes_of(data, [&](DataId id) {
    if (id != data && overlaps.is_defined_by_another(id)) return;
    for (std::size_t i = 0; i < m_failures.size(); ++i) {
      if (m_failures[i].write_back_of == id && m_failures[i].error != nullptr) add(i);
    }
    auto const cause = m_movement.data()[id].value.cause();
    if (cause != Value::no_cause) add(cause);
  });
  if (concerning.empty() && (!m_movement.data()[data].value.readable() || overlaps.blocked(data))) {
    auto const* const run = of_the_run();
    if (run != nullptr) {
      add(static_cast<std::size_t>(run - m_failures.data()));
    } else if (auto const any = first_unreported(); any != Value::no_cause && overlaps.blocked(data)) {
      add(any);
    }
  }
  std::vector<Failure> taken;
  for (auto const which : concerning) taken.push_back(m_failures[which]);
  auto const cause = m_movement.data()[data].value.cause();
  // Blocked bytes wait for the next report of all failures.
  if (cause != Value::no_cause && m_movement.failure_reported(data, cause) && !overlaps.any_blocked()) {
    m_failures[cause].error = nullptr;
    ++m_reported;
  }
  std::ranges::stable_sort(taken, {}, [](Failure const& failure) { return failure.position; });
  return taken;
}

// A failure that belongs to no task, and has cancelled all tasks that no worker had.
Failure const* Failures::of_the_run() const {
  auto const found = std::ranges::find_if(m_failures, [](Failure const& failure) { return !failure.task.valid(); });
  return found != m_failures.end() ? &*found : nullptr;
}

Failure const* Failures::of_task(TaskId task) const {
  if (empty()) return nullptr;
  auto const ended = m_ended.find(task);
  if (ended == m_ended.end() && m_ended.size() < most_ended) return nullptr;
  if (ended != m_ended.end() && ended->second != Value::no_cause) return &m_failures[ended->second];
  if (auto const* const run = of_the_run()) return run;
  auto const left = first_unreported();
  return left != Value::no_cause ? &m_failures[left] : nullptr;
}

}  // namespace granary::detail
