// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/planner.hpp>
#include <granary/detail/core/planner/trace_recorder.hpp>

#include <algorithm>
#include <utility>

namespace granary::detail {

TraceRecorder::TraceRecorder(Machine const& machine, std::uint64_t most_events)
    : m_most_events(most_events), m_last_memory(machine.nodes.size()) {
  m_trace.machine = machine;
}

bool TraceRecorder::has_room() {
  if (m_events < m_most_events) {
    ++m_events;
    return true;
  }
  ++m_trace.dropped;
  return false;
}

void TraceRecorder::handled(Event const& event, NewIds ids) {
  m_trace.end = std::max(m_trace.end, planner().view().now());
  if (auto const* const codelet = std::get_if<AddCodelet>(&event)) {
    m_trace.codelets.push_back(codelet->codelet.name);
  } else if (auto const* const data = std::get_if<AddData>(&event)) {
    added(ids.data, data->description);
  } else if (auto const* const submission = std::get_if<TaskSubmission>(&event)) {
    submitted(ids.task, submission->index);
  } else if (auto const* const sized = std::get_if<Sized>(&event)) {
    made(sized->data, sized->bytes);
  } else if (auto const* const done = std::get_if<TaskDone>(&event)) {
    task_ended(done->task, done->times, How::Ran);
  } else if (auto const* const broken = std::get_if<TaskFailed>(&event)) {
    task_ended(broken->task, broken->times, How::Failed);
  } else if (auto const* const back = std::get_if<TaskReturned>(&event)) {
    if (back->times.end > back->times.begin) task_ended(back->task, back->times, How::Stopped);
  } else if (auto const* const copied = std::get_if<CopyDone>(&event)) {
    copy_ended(copied->transfer, copied->ended, false);
  } else if (auto const* const lost = std::get_if<CopyFailed>(&event)) {
    copy_ended(lost->transfer, lost->ended, true);
  }
}

void TraceRecorder::performed(Command const& command) {
  auto const now = planner().view().now();
  if (auto const* const run = std::get_if<RunCommand>(&command)) {
    given(*run);
  } else if (auto const* const retired = std::get_if<RetireCommand>(&command)) {
    m_tasks.erase(retired->task);
  } else if (auto const* const copy = std::get_if<CopyCommand>(&command)) {
    auto const why = copy->write_back ? TraceTransfer::Why::WriteBack : TraceTransfer::Why::Fetch;
    m_transfers[copy->transfer] = {number_of(copy->data), copy->link, copy->bytes, now, now, why, false};
  }
}

void TraceRecorder::noticed(Notice const& notice) {
  if (auto const* const eviction = std::get_if<Evicted>(&notice)) return evicted(*eviction);
  if (auto const* const now_booked = std::get_if<Booked>(&notice)) return booked(*now_booked);
  std::visit([this](auto const& changed) { memory_changed(changed.node); }, notice);
}

void TraceRecorder::added(DataId data, DataDescription const& description) {
  if (data.index() >= m_numbers.size()) m_numbers.resize(data.index() + 1, TraceTask::no_data);
  m_numbers[data.index()] = TraceTask::no_data;
  if (!has_room()) return;
  m_numbers[data.index()] = static_cast<std::uint32_t>(m_trace.data.size());
  bool const unknown = description.bound > 0 && !description.origin.valid();
  m_trace.data.push_back({description.name, unknown ? 0 : description.bytes, description.position});
}

void TraceRecorder::made(DataId data, Bytes bytes) {
  auto const number = number_of(data);
  if (number == TraceTask::no_data) return;
  auto& largest = m_trace.data[number].bytes;
  largest = std::max(largest, bytes);
}

void TraceRecorder::submitted(TaskId task, TaskIndex const& index) {
  TraceTask record;
  record.task = task;
  record.index = index;
  m_tasks.create(task, record);
}

void TraceRecorder::given(RunCommand const& run) {
  auto const& task = *run.description;
  auto& record = m_tasks[run.task];
  record.codelet = task.codelet;
  record.worker = run.worker;
  record.flops = task.flops;
  record.issued = planner().view().now();
  for (auto const& access : task.accesses) {
    if (!writes(access.mode)) continue;
    record.data = number_of(access.data);
    break;
  }
}

void TraceRecorder::task_ended(TaskId task, TaskTimes const& times, How how) {
  m_trace.end = std::max(m_trace.end, times.end);
  if (!m_tasks[task].worker.valid() || !has_room()) return;
  auto& record = m_trace.tasks.emplace_back(m_tasks[task]);
  record.begin = times.begin;
  record.end = times.end;
  record.failed = how == How::Failed;
  record.stopped = how == How::Stopped;
  if (record.stopped) record.flops = 0;
  record.blocked = times.blocked;
}

void TraceRecorder::copy_ended(TransferId transfer, Instant end, bool failed) {
  if (end == Instant{}) end = planner().view().now();  // its end was not measured, as for a received value
  m_trace.end = std::max(m_trace.end, end);
  auto const found = m_transfers.extract(transfer);
  if (!has_room()) return;
  auto& record = m_trace.transfers.emplace_back(found.mapped());
  record.end = end;
  record.failed = failed;
}

void TraceRecorder::evicted(Evicted const& eviction) {
  if (!has_room()) return;
  auto const& view = planner().view();
  m_trace.evictions.push_back({number_of(eviction.data), eviction.node, view.bytes(eviction.data), view.now(),
                               eviction.reason, eviction.written_back});
}

// One record for all changes of an instant.
template <class Level>
void TraceRecorder::changed(LastChange& last, std::vector<Level>& levels, Level const& level) {
  if (last.when != level.when) {
    last = {level.when, has_room() ? levels.size() : m_most_events};
    if (last.record != m_most_events) levels.push_back(level);
  } else if (last.record != m_most_events) {
    levels[last.record] = level;
  }
}

void TraceRecorder::memory_changed(NodeId node) {
  changed(m_last_memory[node.index()], m_trace.memory,
          {planner().view().now(), node, planner().statistics().nodes[node.index()].used});
}

void TraceRecorder::booked(Booked const& booked) {
  changed(m_last_booked, m_trace.booked, {planner().view().now(), booked.node, booked.bytes, booked.limit});
}

}  // namespace granary::detail
