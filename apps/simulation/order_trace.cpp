// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "order_trace.hpp"

#include <granary/detail/workloads/task_graph_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace granary::app {

using namespace detail;

void OrderTrace::performed(Command const& command) {
  auto const* const run = std::get_if<RunCommand>(&command);
  if (run == nullptr) return;
  if (auto const again = m_running.find(run->task); again != m_running.end()) {
    again->second.worker = run->worker;
    return;
  }
  auto const& task = *run->description;
  Entry entry{.task = run->task, .codelet = planner().view().codelet(task.codelet).name, .worker = run->worker};
  bool first = true;
  for (auto const& access : task.accesses) {
    if (access.repeated || !writes(access.mode)) continue;
    if (access.data.index() >= m_writes.size()) m_writes.resize(access.data.index() + 1, 0);
    auto const iteration = m_writes[access.data.index()]++;
    if (!std::exchange(first, false)) continue;
    entry.iteration = iteration;
    auto const& datum = planner().view().description(access.data);
    auto const place = datum.position.row >= 0 ? datum.position : detail::position_in_name(datum.name);
    if (place.row < 0) continue;
    entry.row = std::to_string(place.row);
    entry.column = std::to_string(place.column);
  }
  m_running.emplace(run->task, std::move(entry));
}

void OrderTrace::handled(Event const& event, NewIds /*ids*/) {
  if (auto const* const done = std::get_if<TaskDone>(&event)) ended(done->task, done->times);
  if (auto const* const failed = std::get_if<TaskFailed>(&event)) ended(failed->task, failed->times);
  if (auto const* const back = std::get_if<TaskReturned>(&event)) {
    if (back->times.end > back->times.begin) add(m_running.at(back->task), back->times).stopped = true;
  }
}

OrderTrace::Entry& OrderTrace::add(Entry entry, TaskTimes const& times) {
  entry.start = times.begin;
  entry.end = times.end;
  return m_entries.emplace_back(std::move(entry));
}

void OrderTrace::ended(TaskId task, TaskTimes const& times) { add(std::move(m_running.extract(task).mapped()), times); }

std::string csv_field(std::string const& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char const c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string OrderTrace::to_csv(Machine const& machine) {
  std::ranges::stable_sort(m_entries, [](Entry const& a, Entry const& b) {
    return a.start != b.start ? a.start < b.start : a.task < b.task;
  });
  std::string text = "sequence,task,codelet,row,col,iteration,worker,start,end,stopped\n";
  std::size_t sequence = 0;
  for (auto const& entry : m_entries) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{:.9f},{:.9f},{:d}\n", sequence++,
                   entry.task.value(), csv_field(entry.codelet), entry.row, entry.column, entry.iteration,
                   csv_field(machine[entry.worker].name), seconds(entry.start.time_since_epoch()),
                   seconds(entry.end.time_since_epoch()), entry.stopped);
  }
  return text;
}

}  // namespace granary::app
