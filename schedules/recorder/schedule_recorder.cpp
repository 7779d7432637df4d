// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/planner.hpp>
#include <granary/detail/schedules/recorder/schedule_recorder.hpp>

#include <algorithm>
#include <string>
#include <variant>

namespace granary {

using namespace detail;

ScheduleRecorder::ScheduleRecorder(Machine const& machine) : m_schedule(unplaced_schedule(machine, {})) {}

void ScheduleRecorder::handled(Event const& event, NewIds ids) {
  if (auto const* const codelet = std::get_if<AddCodelet>(&event)) {
    m_schedule.codelets.push_back(codelet->codelet.name);
  } else if (auto const* const released = std::get_if<ReleaseData>(&event)) {
    if (!planner().held(released->data)) m_signatures.forget(released->data);
  } else if (auto const* const submission = std::get_if<TaskSubmission>(&event)) {
    submitted(*submission, ids.task);
  } else if (auto const* const done = std::get_if<TaskDone>(&event)) {
    if (!m_record_of.contains(done->task)) return;
    auto& record = m_records[m_record_of.at(done->task)];
    record.ran = true;
    record.task.start = std::max(done->times.begin - *m_begin, Duration{0});
    record.task.duration = std::max(done->times.end - *m_begin, record.task.start) - record.task.start;
    m_end = std::max(m_end, done->times.end);
  }
}

void ScheduleRecorder::submitted(TaskSubmission const& submission, TaskId task) {
  auto const& view = planner().view();
  if (!m_begin) m_begin = view.now();
  auto const& codelet = view.codelet(submission.codelet);
  if (codelet.external) return;
  m_record_of.insert(task, static_cast<std::uint32_t>(m_records.size()));
  auto const bytes = [&](DataId data) { return view.description(data).bytes; };
  m_records.emplace_back().task = {
      .codelet = submission.codelet.value(),
      .signature = m_signatures.add(codelet, submission.flops, AccessList(submission.accesses), bytes)};
}

void ScheduleRecorder::performed(Command const& command) {
  if (auto const* const run = std::get_if<RunCommand>(&command)) {
    auto& task = m_records[m_record_of.at(run->task)].task;
    task.worker = run->worker.value();
    task.rank = m_runs++;
  } else if (auto const* const retired = std::get_if<RetireCommand>(&command)) {
    if (m_record_of.contains(retired->task)) static_cast<void>(m_record_of.take(retired->task));
  }
}

Schedule ScheduleRecorder::schedule() const {
  auto const first = std::ranges::find(m_records, false, &Record::ran);
  if (first != m_records.end()) {
    throw Error(
        "there is no schedule of the run: " + std::to_string(std::ranges::count(m_records, false, &Record::ran)) +
        " of " + std::to_string(m_records.size()) + " tasks did not run, the first is task " +
        std::to_string(first - m_records.begin()) + " ('" + m_schedule.codelets[first->task.codelet] + "')");
  }
  Schedule schedule = m_schedule;
  for (auto const& record : m_records) schedule.tasks.push_back(record.task);
  if (m_begin) schedule.makespan = std::max(m_end - *m_begin, Duration{0});
  return schedule;
}

}  // namespace granary
