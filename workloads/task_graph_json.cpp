// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/checked.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/printable.hpp>
#include <granary/detail/workloads/task_graph_file.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <map>
#include <utility>

namespace granary::detail {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::pair<std::string_view, AccessMode>, 4> modes{{{"read", AccessMode::Read},
                                                                        {"write", AccessMode::Write},
                                                                        {"read-write", AccessMode::ReadWrite},
                                                                        {"commute", AccessMode::Commute}}};

std::string_view mode_name(AccessMode mode) {
  return std::ranges::find(modes, mode, &std::pair<std::string_view, AccessMode>::second)->first;
}

// Reads the file's entries; `where` names the entry in messages.
class Parser {
 public:
  explicit Parser(std::string const& origin) : m_origin(origin) {}

  workloads::TaskGraphDescription parse(std::string_view text) {
    if (json_nests_deeper(text, most_json_depth))
      refuse("its brackets nest deeper than " + std::to_string(most_json_depth) + " levels");
    Json json;
    try {
      json = Json::parse(text);
    } catch (Json::exception const& error) {
      refuse("not JSON: " + excerpt(error.what(), 300));
    }
    check_keys(json, "the graph", {"codelets", "data", "tasks"});
    for (auto const& entry : list(json, "codelets", "the graph")) codelet(entry);
    for (auto const& entry : list(json, "data", "the graph")) datum(entry);
    auto const& tasks = list(json, "tasks", "the graph");
    for (auto const& entry : tasks) task(entry);
    for (std::size_t t = 0; t < tasks.size(); ++t) after(tasks[t], t);
    return std::move(m_graph);
  }

 private:
  using Names = std::map<std::string, std::size_t, std::less<>>;

  [[noreturn]] void refuse(std::string const& why) const { throw InvalidArgument(m_origin + ": " + why); }

  void check_keys(Json const& entry, std::string const& where, std::initializer_list<std::string_view> known) const {
    if (!entry.is_object()) refuse(where + " is " + shown(entry) + ", not a JSON object");
    for (auto const& [key, value] : entry.items()) {
      if (std::ranges::find(known, key) == known.end()) refuse(where + " has an unknown field '" + key + "'");
    }
  }
  [[nodiscard]] Json const& field(Json const& entry, char const* key, std::string const& where) const {
    auto const found = entry.find(key);
    if (found == entry.end()) refuse(where + " has no field '" + key + "'");
    return *found;
  }
  [[nodiscard]] Json const& list(Json const& entry, char const* key, std::string const& where) const {
    auto const& value = field(entry, key, where);
    if (!value.is_array()) wrong(where, key, value, "a list");
    return value;
  }
  [[nodiscard]] std::string text(Json const& entry, char const* key, std::string const& where) const {
    auto const& value = field(entry, key, where);
    if (!value.is_string() || value.get_ref<std::string const&>().empty()) wrong(where, key, value, "a name");
    auto name = value.get<std::string>();
    if (name != printable(name)) wrong(where, key, value, "a name without control characters");
    return name;
  }
  static std::string shown(Json const& value) { return excerpt(value.dump(), 60); }
  [[noreturn]] void wrong(std::string const& where, std::string const& key, Json const& value,
                          std::string const& what) const {
    refuse(where + ": '" + key + "' is " + shown(value) + ", not " + what);
  }
  void add_name(Names& names, std::string const& name, std::size_t number, char const* what) const {
    if (!names.emplace(name, number).second) refuse(std::string("there are two ") + what + " named '" + name + "'");
  }
  [[nodiscard]] std::size_t find(Names const& names, std::string const& name, std::string const& where,
                                 char const* what) const {
    auto const found = names.find(name);
    if (found == names.end()) refuse(where + " names an unknown " + what + " '" + name + "'");
    return found->second;
  }
  [[nodiscard]] std::string where_task(std::size_t number) const {
    auto const& name = m_graph.tasks[number].name;
    return name.empty() ? "task " + std::to_string(number) : "task '" + name + "'";
  }

  void codelet(Json const& entry) {
    auto const where = "codelet " + std::to_string(m_graph.codelets.size());
    check_keys(entry, where, {"name", "kinds"});
    workloads::TaskGraphDescription::CodeletEntry codelet{text(entry, "name", where), false, false};
    auto const named = "codelet '" + codelet.name + "'";
    for (auto const& kind : list(entry, "kinds", named)) {
      if (kind != "cpu" && kind != "device") wrong(named, "kinds", kind, "\"cpu\" or \"device\"");
      (kind == "cpu" ? codelet.cpu : codelet.device) = true;
    }
    if (!codelet.cpu && !codelet.device) refuse(named + " has no kinds of workers");
    add_name(m_codelets, codelet.name, m_graph.codelets.size(), "codelets");
    m_graph.codelets.push_back(std::move(codelet));
  }

  void datum(Json const& entry) {
    auto const where = "datum " + std::to_string(m_graph.data.size());
    check_keys(entry, where, {"name", "bytes", "temporary", "position"});
    workloads::TaskGraphDescription::DatumEntry datum{text(entry, "name", where)};
    auto const named = "datum '" + datum.name + "'";
    auto const& bytes = field(entry, "bytes", named);
    if (!bytes.is_number_unsigned() || bytes == 0U) wrong(named, "bytes", bytes, "a whole number above 0");
    datum.bytes = bytes.get<Bytes>();
    if (auto const temporary = entry.find("temporary"); temporary != entry.end()) {
      if (!temporary->is_boolean()) wrong(named, "temporary", *temporary, "true or false");
      datum.temporary = temporary->get<bool>();
    }
    if (auto const place = entry.find("position"); place != entry.end()) {
      constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
      bool const good = place->is_array() && place->size() == 2 && std::ranges::all_of(*place, [](Json const& number) {
                          return number.is_number_unsigned() && number.get<std::uint64_t>() <= most;
                        });
      if (!good) wrong(named, "position", *place, "a list of row and column, from 0 to " + std::to_string(most));
      datum.position = {place->at(0).get<std::int32_t>(), place->at(1).get<std::int32_t>()};
    }
    add_name(m_data, datum.name, m_graph.data.size(), "data");
    m_graph.data.push_back(std::move(datum));
  }

  void task(Json const& entry) {
    auto const number = m_graph.tasks.size();
    auto& task = m_graph.tasks.emplace_back();
    check_keys(entry, where_task(number), {"name", "codelet", "flops", "priority", "accesses", "after"});
    if (entry.contains("name")) {
      task.name = text(entry, "name", where_task(number));
      add_name(m_tasks, task.name, number, "tasks");
    }
    auto const where = where_task(number);
    task.codelet = find(m_codelets, text(entry, "codelet", where), where, "codelet");
    auto const& flops = field(entry, "flops", where);
    if (!flops.is_number() || !(flops.get<double>() >= 0)) wrong(where, "flops", flops, "a number from 0 on");
    task.flops = flops.get<double>();
    if (auto const priority = entry.find("priority"); priority != entry.end()) {
      bool const countable = priority->is_number_integer() &&
                             (!priority->is_number_unsigned() || priority->get<std::uint64_t>() <= largest_size);
      if (!countable) wrong(where, "priority", *priority, "a whole number from -2^62 to 2^62");
      task.priority = priority->get<std::int64_t>();
    }
    for (auto const& access : list(entry, "accesses", where)) {
      check_keys(access, where + ": an access", {"data", "mode"});
      auto const data = find(m_data, text(access, "data", where), where, "datum");
      auto const mode = text(access, "mode", where);
      auto const known = std::ranges::find(modes, mode, &std::pair<std::string_view, AccessMode>::first);
      if (known == modes.end())
        refuse(where + " has an unknown mode '" + mode + "'; it is read, write, read-write or commute");
      task.accesses.push_back({data, known->second});
    }
  }

  // Names may refer to later tasks.
  void after(Json const& entry, std::size_t number) {
    if (!entry.contains("after")) return;
    auto const where = where_task(number);
    for (auto const& before : list(entry, "after", where)) {
      if (before.is_string()) {
        m_graph.tasks[number].after.push_back(find(m_tasks, before.get<std::string>(), where, "task"));
      } else if (before.is_number_unsigned() && before.get<std::size_t>() < m_graph.tasks.size()) {
        m_graph.tasks[number].after.push_back(before.get<std::size_t>());
      } else {
        wrong(where, "after", before, "a task's name or a number below " + std::to_string(m_graph.tasks.size()));
      }
    }
  }

  std::string const& m_origin;
  workloads::TaskGraphDescription m_graph;
  Names m_codelets;
  Names m_data;
  Names m_tasks;
};

}  // namespace

MatrixPosition position_in_name(std::string_view name) {
  auto const open = name.rfind('(');
  if (open == std::string_view::npos) return {};
  MatrixPosition position;
  auto const* const end = name.data() + name.size();
  auto const row = std::from_chars(name.data() + open + 1, end, position.row);
  if (row.ec != std::errc() || row.ptr == end || *row.ptr != ',') return {};
  auto const* const second = std::find_if(row.ptr + 1, end, [](char c) { return c != ' '; });
  auto const column = std::from_chars(second, end, position.column);
  if (column.ec != std::errc() || position.row < 0 || position.column < 0) return {};
  return position;
}

workloads::TaskGraphDescription parse_task_graph(std::string_view text, std::string const& origin) {
  return Parser(origin).parse(text);
}

std::string format_task_graph(workloads::TaskGraphDescription const& graph) {
  using Ordered = nlohmann::ordered_json;
  Ordered json{{"codelets", Ordered::array()}, {"data", Ordered::array()}, {"tasks", Ordered::array()}};
  for (auto const& codelet : graph.codelets) {
    Ordered kinds = Ordered::array();
    if (codelet.cpu) kinds.push_back("cpu");
    if (codelet.device) kinds.push_back("device");
    json["codelets"].push_back({{"name", codelet.name}, {"kinds", kinds}});
  }
  for (auto const& datum : graph.data) {
    Ordered entry{{"name", datum.name}, {"bytes", datum.bytes}};
    if (datum.temporary) entry["temporary"] = true;
    auto const [row, column] = position_in_name(datum.name);
    if (datum.position.row >= 0 && (datum.position.row != row || datum.position.column != column))
      entry["position"] = {datum.position.row, datum.position.column};
    json["data"].push_back(std::move(entry));
  }
  for (auto const& task : graph.tasks) {
    Ordered entry = Ordered::object();
    if (!task.name.empty()) entry["name"] = task.name;
    entry["codelet"] = graph.codelets[task.codelet].name;
    entry["flops"] = task.flops;
    if (task.priority) entry["priority"] = *task.priority;
    entry["accesses"] = Ordered::array();
    for (auto const& access : task.accesses) {
      entry["accesses"].push_back({{"data", graph.data[access.datum].name}, {"mode", mode_name(access.mode)}});
    }
    if (!task.after.empty()) entry["after"] = task.after;
    json["tasks"].push_back(std::move(entry));
  }
  return json.dump(1) + "\n";
}

}  // namespace granary::detail
