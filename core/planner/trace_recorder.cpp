// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/planner/trace_recorder.hpp>

#include <algorithm>
#include <utility>

namespace granary {

TraceRecorder::TraceRecorder(Planner& planner, std::uint64_t most_events)
    : m_planner(planner), m_most_events(most_events), m_used(planner.topology().machine().nodes.size()) {
  m_trace.machine = planner.topology().machine();
  planner.observe_evictions(this);
}

TraceRecorder::~TraceRecorder() { m_planner.observe_evictions(nullptr); }

bool TraceRecorder::has_room() {
  if (m_events < m_most_events) {
    ++m_events;
    return true;
  }
  ++m_trace.dropped;
  return false;
}

void TraceRecorder::data_added(DataId data) {
  if (data.index() >= m_numbers.size()) m_numbers.resize(data.index() + 1, TraceTask::no_data);
  m_numbers[data.index()] = TraceTask::no_data;
  if (!has_room()) return;
  auto const& description = m_planner.description(data);
  m_numbers[data.index()] = static_cast<std::uint32_t>(m_trace.data.size());
  m_trace.data.push_back({description.name, description.bytes, description.position});
}

void TraceRecorder::submitted(TaskId task, TaskIndex const& index) {
  TraceTask record;
  record.task = task;
  record.index = index;
  m_tasks.create(task, record);
}

void TraceRecorder::performed_run(RunCommand const& run, Instant now) {
  auto const& task = m_planner.task(run.task);
  auto& record = m_tasks[run.task];
  record.codelet = task.codelet;
  record.worker = run.worker;
  record.flops = task.flops;
  record.issued = now;
  for (auto const& access : task.accesses) {
    if (!writes(access.mode)) continue;
    record.data = number_of(access.data);
    break;
  }
}

void TraceRecorder::performed(Command const& command, Instant now) {
  if (auto const* const run = std::get_if<RunCommand>(&command)) {
    performed_run(*run, now);
  } else if (auto const* const retired = std::get_if<RetireCommand>(&command)) {
    m_tasks.erase(retired->task);
  } else if (auto const* const copy = std::get_if<CopyCommand>(&command)) {
    auto const why = copy->write_back ? TraceTransfer::Why::WriteBack : TraceTransfer::Why::Fetch;
    m_transfers[copy->transfer] = {number_of(copy->data), copy->link, copy->bytes, now, now, why, false};
  } else if (std::holds_alternative<AllocateCommand>(command) || std::holds_alternative<FreeCommand>(command)) {
    m_memory_changed = true;
  }
}

void TraceRecorder::settled(Instant now) {
  m_trace.end = std::max(m_trace.end, now);
  if (!std::exchange(m_memory_changed, false)) return;
  auto const& nodes = m_planner.statistics().nodes;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].used == m_used[n]) continue;
    m_used[n] = nodes[n].used;
    if (has_room()) m_trace.memory.push_back({now, NodeId(static_cast<std::uint32_t>(n)), m_used[n]});
  }
}

void TraceRecorder::task_ended(TaskId task, Instant begin, Instant end, bool failed, Duration blocked) {
  m_trace.end = std::max(m_trace.end, end);
  if (!has_room()) return;
  auto& record = m_trace.tasks.emplace_back(m_tasks[task]);
  record.begin = begin;
  record.end = end;
  record.failed = failed;
  record.blocked = blocked;
}

void TraceRecorder::copy_ended(TransferId transfer, Instant end, bool failed) {
  m_trace.end = std::max(m_trace.end, end);
  auto const found = m_transfers.extract(transfer);
  if (!has_room()) return;
  auto& record = m_trace.transfers.emplace_back(found.mapped());
  record.end = end;
  record.failed = failed;
}

void TraceRecorder::evicted(DataId data, NodeId node, EvictionReason reason, bool written_back) {
  if (!has_room()) return;
  m_trace.evictions.push_back(
      {number_of(data), node, m_planner.view().bytes(data), m_planner.view().now(), reason, written_back});
}

}  // namespace granary
