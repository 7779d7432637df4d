// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedules as JSON: docs/schedules.md describes the fields.
#include <granary/detail/schedules/schedule.hpp>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/printable.hpp>
#include <granary/detail/core/base/text_file.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>

namespace granary {
namespace {

using Json = nlohmann::json;
using Ordered = nlohmann::ordered_json;

constexpr std::uint64_t format_version = 1;
constexpr std::array<std::string_view, detail::worker_kinds> kind_names = {"cpu", "device"};
constexpr auto most_time = static_cast<std::uint64_t>(longest_duration.count());

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 16> digits{};
  auto const [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return {digits.data(), end};
}

// The first fault of the schedule; empty if it has none.
std::string fault_of(Schedule const& schedule) {
  for (std::size_t t = 0; t < schedule.tasks.size(); ++t) {
    auto const& task = schedule.tasks[t];
    auto const fault = [&](std::string const& what) { return "task " + std::to_string(t) + " has " + what; };
    if (task.worker >= schedule.workers.size()) {
      return fault("worker " + std::to_string(task.worker) + ", and the workers are " +
                   std::to_string(schedule.workers.size()));
    }
    if (task.codelet >= schedule.codelets.size()) {
      return fault("codelet " + std::to_string(task.codelet) + ", and the codelets are " +
                   std::to_string(schedule.codelets.size()));
    }
    if (task.rank > most_schedule_rank) return fault("rank " + std::to_string(task.rank) + ", which is above 2^62");
    if (task.start < Duration{0} || task.duration < Duration{0} || task.start > schedule.makespan ||
        task.duration > schedule.makespan - task.start) {
      return fault("the start " + std::to_string(task.start.count()) + " ns and the duration " +
                   std::to_string(task.duration.count()) + " ns, which is not within the makespan of " +
                   std::to_string(schedule.makespan.count()) + " ns");
    }
  }
  if (schedule.makespan < Duration{0} || schedule.makespan > longest_duration)
    return "its makespan is " + std::to_string(schedule.makespan.count()) + " ns";
  return {};
}

// Reads the file's fields; `where` names the place in messages.
class Parser {
 public:
  Schedule parse(std::string_view text) {
    if (json_nests_deeper(text, most_json_depth))
      throw DataError("its brackets nest deeper than " + std::to_string(most_json_depth) + " levels");
    Json const json = Json::parse(text);
    if (!json.is_object()) throw DataError("it is " + shown(json) + ", not a JSON object");
    auto const version = whole(field(json, "format"), "format", std::numeric_limits<std::uint64_t>::max());
    if (version != format_version)
      throw DataError("it has format " + std::to_string(version) + ", and this granary knows " +
                      std::to_string(format_version));
    check_keys(json, "the schedule", {"format", "graph", "makespan_ns", "workers", "codelets", "tasks"});
    m_schedule.makespan = time(field(json, "makespan_ns"), "makespan_ns");
    for (auto const& entry : list(json, "workers")) worker(entry);
    for (auto const& name : list(json, "codelets")) m_schedule.codelets.push_back(text_of(name, "codelets"));
    tasks(field(json, "tasks"));
    if (auto const fault = fault_of(m_schedule); !fault.empty()) throw DataError(fault);
    auto const graph = hash(field(json, "graph"), "graph");
    if (graph != m_schedule.graph_hash()) {
      throw DataError("its field 'graph' is " + hexadecimal(graph) + ", but the tasks' signatures give " +
                      hexadecimal(m_schedule.graph_hash()) + ": the file was changed");
    }
    return std::move(m_schedule);
  }

 private:
  static std::string shown(Json const& value) {
    return excerpt(value.dump(-1, ' ', false, Json::error_handler_t::replace), 60);
  }
  [[noreturn]] static void wrong(std::string const& where, Json const& value, std::string const& what) {
    throw DataError("field '" + where + "' is " + shown(value) + ", not " + what);
  }
  static void check_keys(Json const& entry, std::string const& where, std::initializer_list<std::string_view> known) {
    for (auto const& [key, value] : entry.items()) {
      if (std::ranges::find(known, key) == known.end())
        throw DataError(where + " has an unknown field '" + excerpt(key, 60) + "'");
    }
  }
  static Json const& field(Json const& entry, char const* key) {
    auto const found = entry.find(key);
    if (found == entry.end()) throw DataError("field '" + std::string(key) + "' is missing");
    return *found;
  }
  static Json const& list(Json const& entry, char const* key) {
    auto const& value = field(entry, key);
    if (!value.is_array()) wrong(key, value, "a list");
    return value;
  }
  static std::string text_of(Json const& value, std::string const& where) {
    if (!value.is_string()) wrong(where, value, "a text");
    return value.get<std::string>();
  }
  static std::uint64_t whole(Json const& value, std::string const& where, std::uint64_t most) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
      wrong(where, value, "a whole number up to " + std::to_string(most));
    return value.get<std::uint64_t>();
  }
  static Duration time(Json const& value, std::string const& where) {
    return Duration(static_cast<Duration::rep>(whole(value, where, most_time)));
  }
  static std::uint64_t hash(Json const& value, std::string const& where) {
    std::uint64_t result = 0;
    if (!value.is_string()) wrong(where, value, "a text of hexadecimal digits");
    auto const& digits = value.get_ref<std::string const&>();
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result, 16);
    if (error != std::errc{} || end != digits.data() + digits.size())
      wrong(where, value, "at most 16 hexadecimal digits");
    return result;
  }

  void worker(Json const& entry) {
    if (!entry.is_object()) wrong("workers", entry, "a JSON object");
    check_keys(entry, "worker " + std::to_string(m_schedule.workers.size()), {"name", "kind", "node"});
    auto const& kind = field(entry, "kind");
    auto const found = std::ranges::find(kind_names, text_of(kind, "kind"));
    if (found == kind_names.end()) wrong("kind", kind, "\"cpu\" or \"device\"");
    m_schedule.workers.push_back({text_of(field(entry, "name"), "name"),
                                  static_cast<detail::WorkerKind>(found - kind_names.begin()),
                                  text_of(field(entry, "node"), "node")});
  }

  void tasks(Json const& fields) {
    if (!fields.is_object()) wrong("tasks", fields, "a JSON object");
    check_keys(fields, "the tasks", {"worker", "codelet", "signature", "rank", "start_ns", "duration_ns"});
    constexpr std::uint64_t most_index = std::numeric_limits<std::uint32_t>::max();
    auto const index = [](Json const& value, std::string const& where) {
      return static_cast<std::uint32_t>(whole(value, where, most_index));
    };
    each(fields, "worker", [&](auto& task, Json const& value) { task.worker = index(value, "worker"); });
    each(fields, "codelet", [&](auto& task, Json const& value) { task.codelet = index(value, "codelet"); });
    each(fields, "signature", [](auto& task, Json const& value) { task.signature = hash(value, "signature"); });
    each(fields, "rank", [](auto& task, Json const& value) { task.rank = whole(value, "rank", most_schedule_rank); });
    each(fields, "start_ns", [](auto& task, Json const& value) { task.start = time(value, "start_ns"); });
    each(fields, "duration_ns", [](auto& task, Json const& value) { task.duration = time(value, "duration_ns"); });
  }

  // Sets one field of all tasks.
  template <class Set>
  void each(Json const& fields, char const* key, Set&& set) {
    auto const& values = list(fields, key);
    if (!m_tasks) m_schedule.tasks.resize(*(m_tasks = values.size()));
    if (values.size() != *m_tasks) {
      throw DataError("field '" + std::string(key) + "' has " + std::to_string(values.size()) +
                      " entries, and field 'worker' has " + std::to_string(*m_tasks));
    }
    for (std::size_t t = 0; t < values.size(); ++t) set(m_schedule.tasks[t], values[t]);
  }

  Schedule m_schedule;
  std::optional<std::size_t> m_tasks;  // how many
};

}  // namespace

Schedule parse_schedule(std::string_view text, std::string const& origin) {
  auto const what = "schedule file " + origin + ": ";
  try {
    return Parser().parse(text);
  } catch (Json::exception const& error) {
    throw DataError(what + excerpt(error.what(), 300));
  } catch (DataError const& error) {
    throw DataError(what + error.what());
  }
}

Schedule read_schedule(std::filesystem::path const& file) {
  return parse_schedule(read_text_file(file), file.string());
}

std::string format_schedule(Schedule const& schedule) {
  if (auto const fault = fault_of(schedule); !fault.empty()) throw InvalidArgument("a schedule is invalid: " + fault);
  Ordered json{{"format", format_version},
               {"graph", hexadecimal(schedule.graph_hash())},
               {"makespan_ns", schedule.makespan.count()},
               {"workers", Ordered::array()},
               {"codelets", schedule.codelets}};
  for (auto const& worker : schedule.workers) {
    auto const kind = kind_names[static_cast<std::size_t>(worker.kind)];
    json["workers"].push_back({{"name", worker.name}, {"kind", kind}, {"node", worker.node}});
  }
  auto& fields = json["tasks"];
  auto const add = [&](char const* key, auto&& value) {
    auto& values = fields[key] = Ordered::array();
    for (auto const& task : schedule.tasks) values.push_back(value(task));
  };
  add("worker", [](detail::ScheduledTask const& task) { return task.worker; });
  add("codelet", [](detail::ScheduledTask const& task) { return task.codelet; });
  add("signature", [](detail::ScheduledTask const& task) { return hexadecimal(task.signature); });
  add("rank", [](detail::ScheduledTask const& task) { return task.rank; });
  add("start_ns", [](detail::ScheduledTask const& task) { return task.start.count(); });
  add("duration_ns", [](detail::ScheduledTask const& task) { return task.duration.count(); });
  return json.dump(-1, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

void write_schedule(std::filesystem::path const& file, Schedule const& schedule) {
  write_text_file(file, format_schedule(schedule));
}

}  // namespace granary
