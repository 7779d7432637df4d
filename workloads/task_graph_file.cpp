// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/checked.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/text_file.hpp>
#include <granary/detail/core/model/graph_recorder.hpp>
#include <granary/detail/workloads/registration.hpp>
#include <granary/detail/workloads/task_graph_file.hpp>

#include <algorithm>
#include <utility>

namespace granary::workloads {
namespace {

// Limits under which sums and conversions to times and back do not overflow.
constexpr Bytes most_graph_bytes = Bytes{1} << 60;
constexpr double most_task_flops = 1e30;
constexpr std::int64_t most_priority = std::int64_t{1} << 62;

}  // namespace

std::string TaskGraphDescription::describe(std::size_t task) const {
  auto const& entry = tasks[task];
  auto const& codelet = codelets[entry.codelet].name;
  return entry.name.empty() ? "task " + std::to_string(task) + " (" + codelet + ")" : "task '" + entry.name + "'";
}

TaskGraphFile::TaskGraphFile(TaskGraphDescription description, std::string origin)
    : m_origin(std::move(origin)), m_description(std::move(description)) {
  check_entries();
  for (auto& datum : m_description.data) {
    if (datum.position.row < 0) datum.position = detail::position_in_name(datum.name);
  }
  m_order = detail::submission_order(m_description, m_origin);
  check_first_values();
}

TaskGraphFile TaskGraphFile::parse(std::string_view text, std::string const& origin) {
  return TaskGraphFile(detail::parse_task_graph(text, origin), origin);
}

TaskGraphFile TaskGraphFile::read(std::filesystem::path const& path) {
  return parse(read_text_file(path), path.string());
}

TaskGraphFile TaskGraphFile::record(Workload const& workload) {
  detail::GraphRecorder record;
  workload.submit(record, {NodeId(0)});
  TaskGraphDescription graph;
  for (auto const& codelet : record.codelets()) {
    graph.codelets.push_back(
        {codelet.name, codelet.runs_on(detail::WorkerKind::Cpu), codelet.runs_on(detail::WorkerKind::Device)});
  }
  for (auto const& data : record.data()) {
    graph.data.push_back({data.name, data.bytes, !data.home.valid(), data.position});
  }
  for (auto const& task : record.tasks()) {
    auto& entry = graph.tasks.emplace_back();
    entry.codelet = task.codelet.index();
    entry.flops = task.flops;
    if (task.priority != 0) entry.priority = task.priority;
    for (auto const& access : record.accesses_of(task)) entry.accesses.push_back({access.data.index(), access.mode});
  }
  return TaskGraphFile(std::move(graph), workload.name());
}

std::string TaskGraphFile::to_json() const { return detail::format_task_graph(m_description); }

void TaskGraphFile::write(std::filesystem::path const& path) const { write_text_file(path, to_json()); }

void TaskGraphFile::check_entries() const {
  auto const& graph = m_description;
  auto const refuse = [&](std::string const& why) { throw InvalidArgument(m_origin + ": " + why); };
  if (graph.tasks.empty()) refuse("the graph has no tasks");
  Bytes bytes = 0;
  for (auto const& datum : graph.data) {
    if (datum.bytes == 0) refuse("datum '" + datum.name + "' has no bytes");
    bytes = checked_sum(bytes, datum.bytes).value_or(largest_size);
    if (bytes > most_graph_bytes) refuse("the data up to '" + datum.name + "' have more than 2^60 bytes together");
  }
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    auto const& task = graph.tasks[t];
    if (task.codelet >= graph.codelets.size())
      refuse("task " + std::to_string(t) + " names a codelet that does not exist");
    if (!(task.flops >= 0 && task.flops <= most_task_flops))
      refuse(graph.describe(t) + " has flops that are not from 0 to 1e30");
    auto const priority = task.priority.value_or(0);
    if (priority > most_priority || priority < -most_priority)
      refuse(graph.describe(t) + " has priority " + std::to_string(priority) + ", which is not from -2^62 to 2^62");
    for (auto const& access : task.accesses) {
      if (access.datum >= graph.data.size()) refuse(graph.describe(t) + " accesses a datum that does not exist");
    }
    for (auto const before : task.after) {
      if (before >= graph.tasks.size()) refuse(graph.describe(t) + " comes after a task that does not exist");
    }
  }
}

void TaskGraphFile::check_first_values() const {
  auto const& graph = m_description;
  std::vector<bool> has_value(graph.data.size());
  for (std::size_t d = 0; d < graph.data.size(); ++d) has_value[d] = !graph.data[d].temporary;
  for (auto const t : m_order) {
    for (auto const& access : graph.tasks[t].accesses) {
      if (reads(access.mode) && !has_value[access.datum]) {
        throw InvalidArgument(m_origin + ": " + graph.describe(t) + " reads temporary datum '" +
                              graph.data[access.datum].name + "', which no earlier task writes");
      }
    }
    for (auto const& access : graph.tasks[t].accesses) {
      if (writes(access.mode)) has_value[access.datum] = true;
    }
  }
}

void TaskGraphFile::submit(Submitter& submitter, DataHome home) const {
  auto const& graph = m_description;
  std::vector<detail::CodeletId> codelets;
  for (auto const& codelet : graph.codelets) {
    auto const kinds =
        !codelet.device ? detail::RunsOn::CpuOnly : (codelet.cpu ? detail::RunsOn::Any : detail::RunsOn::DeviceOnly);
    codelets.push_back(detail::add_codelet(submitter, codelet.name, "", kinds));
  }
  std::vector<DataId> data;
  for (auto const& datum : graph.data) {
    data.push_back(datum.temporary ? detail::add_temporary_data(submitter, datum.name, datum.bytes, datum.position)
                                   : detail::add_home_data(submitter, home, datum.name, datum.bytes, datum.position));
  }
  // A datum that a task writes at its end, so that later tasks depend on it.
  std::vector<DataId> ends(graph.tasks.size());
  for (auto const& task : graph.tasks) {
    for (auto const before : task.after) {
      if (!ends[before].valid()) {
        ends[before] = detail::add_temporary_data(submitter, "the end of " + graph.describe(before), 1);
      }
    }
  }
  std::vector<detail::Access> accesses;
  for (auto const t : m_order) {
    auto const& task = graph.tasks[t];
    accesses.clear();
    for (auto const& access : task.accesses) accesses.push_back({data[access.datum], access.mode});
    for (auto const before : task.after) accesses.push_back({ends[before], detail::AccessMode::Read});
    if (ends[t].valid()) accesses.push_back({ends[t], detail::AccessMode::Write});
    try {
      submitter.submit({codelets[task.codelet], accesses, task.priority.value_or(0), task.flops}, {});
    } catch (MemoryLimitError const& error) {
      throw MemoryLimitError(m_origin + ": " + graph.describe(t) + ": " + error.what());
    } catch (InvalidArgument const& error) {
      throw InvalidArgument(m_origin + ": " + graph.describe(t) + ": " + error.what());
    }
  }
}

Bytes TaskGraphFile::working_set() const {
  Bytes bytes = 0;
  for (auto const& datum : m_description.data) bytes += datum.temporary ? 0 : datum.bytes;
  return bytes;
}

double TaskGraphFile::flops() const {
  double flops = 0;
  for (auto const& task : m_description.tasks) flops += task.flops;
  return flops;
}

bool TaskGraphFile::has_priorities() const {
  return std::ranges::any_of(m_description.tasks, [](auto const& task) { return task.priority.has_value(); });
}

}  // namespace granary::workloads
