// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Platforms as JSON: docs/platforms.md describes the fields.
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/printable.hpp>
#include <granary/detail/simulator/platform.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace granary {
namespace {

using nlohmann::json;

// Ranges far beyond any machine, so that times are representable: docs/platforms.md.
constexpr double most_speed = 1e24;          // flops per second
constexpr double most_flops = 1e30;          // of a kernel
constexpr double least_kernel_time = 1e-12;  // seconds
constexpr double most_kernel_time = 1e9;
constexpr std::size_t most_links = 4096;
constexpr std::size_t most_crossings = 64;  // buses of one link

/// A value in the file, with its path for messages.
class Field {
 public:
  Field(json const& value, std::string const& file, std::string path)
      : m_value(value), m_file(file), m_path(std::move(path)) {}

  [[noreturn]] void refuse(std::string const& why) const {
    throw InvalidArgument("platform file '" + m_file + "': field '" + m_path + "' is " + excerpt(m_value.dump(), 60) +
                          "; " + why);
  }
  [[nodiscard]] bool has(char const* key) const { return m_value.contains(key); }
  [[nodiscard]] Field operator[](std::string const& key) const {
    if (!m_value.contains(key)) {
      throw InvalidArgument("platform file '" + m_file + "': field '" + below(key) + "' is missing");
    }
    return {m_value[key], m_file, below(key)};
  }
  /// Checks that the value is an object with only these keys.
  Field const& object(std::initializer_list<std::string_view> known) const {
    if (!m_value.is_object()) refuse("an object is expected");
    for (auto const& [key, value] : m_value.items()) {
      if (std::ranges::find(known, key) != known.end()) continue;
      std::string names;
      for (auto const name : known) names += (names.empty() ? "" : ", ") + std::string(name);
      Field(value, m_file, below(key)).refuse("the field is unknown; the known ones are: " + names);
    }
    return *this;
  }
  template <class Do>
  void each(std::size_t most, Do&& act) const {
    if (!m_value.is_array()) refuse("a list is expected");
    if (m_value.size() > most) refuse("a list of at most " + std::to_string(most) + " entries is expected");
    for (std::size_t i = 0; i < m_value.size(); ++i) {
      act(Field(m_value[i], m_file, m_path + "[" + std::to_string(i) + "]"));
    }
  }
  template <class Do>
  void members(Do&& act) const {
    if (!m_value.is_object()) refuse("an object is expected");
    for (auto const& [key, value] : m_value.items()) act(key, Field(value, m_file, below(key)));
  }
  [[nodiscard]] std::string text() const {
    if (!m_value.is_string() || m_value.get_ref<std::string const&>().empty()) refuse("a non-empty string is expected");
    auto text = m_value.get<std::string>();
    if (text != printable(text)) refuse("a string without control characters is expected");
    return text;
  }
  [[nodiscard]] double number() const {
    if (!m_value.is_number() || !std::isfinite(m_value.get<double>())) refuse("a number is expected");
    return m_value.get<double>();
  }
  [[nodiscard]] double from_to(double least, double most) const {
    if (double const value = number(); value >= least && value <= most) return value;
    refuse("it must be from " + shortest(least) + " to " + shortest(most));
  }
  [[nodiscard]] double bandwidth() const { return from_to(detail::least_bandwidth, detail::most_bandwidth); }
  [[nodiscard]] Duration latency() const { return from_seconds(from_to(0, seconds(detail::most_latency))); }
  [[nodiscard]] double speed() const { return from_to(1, most_speed); }
  [[nodiscard]] std::uint64_t whole(std::uint64_t most, std::uint64_t least = 1) const {
    double const value = number();
    if (!(value >= static_cast<double>(least)) || value != std::floor(value) || value > static_cast<double>(most)) {
      refuse("a whole number from " + std::to_string(least) + " to " + std::to_string(most) + " is expected");
    }
    return static_cast<std::uint64_t>(value);
  }
  [[nodiscard]] bool yes() const {
    if (!m_value.is_boolean()) refuse("true or false is expected");
    return m_value.get<bool>();
  }
  [[nodiscard]] bool is_list() const { return m_value.is_array(); }
  [[nodiscard]] std::size_t size() const { return m_value.size(); }
  /// The index of the entry with this name.
  template <class Named>
  [[nodiscard]] std::uint32_t index_in(std::vector<Named> const& all, char const* what) const {
    auto const found = std::ranges::find(all, text(), &Named::name);
    if (found == all.end()) refuse(std::string("there is no such ") + what);
    return static_cast<std::uint32_t>(found - all.begin());
  }
  /// A name that no entry has yet.
  template <class Named>
  [[nodiscard]] std::string new_name(std::vector<Named> const& all) const {
    if (std::ranges::find(all, text(), &Named::name) != all.end()) refuse("the name is used already");
    return text();
  }

 private:
  static std::string shortest(double value) { return json(value).dump(); }
  [[nodiscard]] std::string below(std::string const& key) const { return m_path.empty() ? key : m_path + "." + key; }

  json const& m_value;
  std::string const& m_file;
  std::string m_path;
};

constexpr std::array<char const*, 3> node_kind_names{"host", "device", "disk"};
constexpr std::array<char const*, detail::worker_kinds> worker_kind_names{"cpu", "device"};

template <std::size_t N>
std::size_t one_of(Field const& field, std::array<char const*, N> const& names) {
  auto const found = std::ranges::find(names, field.text());
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string known;
  for (auto const* name : names) known += (known.empty() ? "" : ", ") + std::string(name);
  field.refuse("the known ones are: " + known);
}

void read_nodes(Field const& list, detail::Machine& machine) {
  list.each(detail::most_nodes, [&](Field const& node) {
    node.object({"name", "kind", "capacity"});
    machine.add_node(
        {.name = node["name"].new_name(machine.nodes),
         .kind = static_cast<detail::NodeKind>(one_of(node["kind"], node_kind_names)),
         .capacity = node.has("capacity") ? node["capacity"].whole(detail::unbounded) : detail::unbounded});
  });
}

void read_buses(Field const& list, detail::Machine& machine) {
  list.each(most_links, [&](Field const& bus) {
    bus.object({"name", "bandwidth"});
    machine.add_bus({bus["name"].new_name(machine.buses), bus["bandwidth"].bandwidth()});
  });
}

void read_links(Field const& list, detail::Machine& machine) {
  list.each(most_links, [&](Field const& field) {
    field.object({"from", "to", "bandwidth", "latency", "width", "buses", "in_order", "both_ways"});
    detail::Link link{.from = NodeId(field["from"].index_in(machine.nodes, "node")),
                      .to = NodeId(field["to"].index_in(machine.nodes, "node")),
                      .bandwidth = field["bandwidth"].bandwidth()};
    if (link.from == link.to) field["to"].refuse("a link must connect two different nodes");
    if (field.has("latency")) link.latency = field["latency"].latency();
    if (field.has("width")) link.width = static_cast<std::uint32_t>(field["width"].whole(1U << 16U));
    if (field.has("buses")) {
      field["buses"].each(most_crossings,
                          [&](Field const& bus) { link.buses.push_back(bus.index_in(machine.buses, "bus")); });
    }
    link.in_order = field.has("in_order") && field["in_order"].yes();
    machine.add_link(link);
    if (!field.has("both_ways") || !field["both_ways"].yes()) return;
    std::swap(link.from, link.to);
    machine.add_link(std::move(link));
  });
}

detail::Network read_network(Field const& field) {
  field.object({"bandwidth", "latency"});
  return {field["bandwidth"].bandwidth(), field.has("latency") ? field["latency"].latency() : Duration{0}};
}

void read_workers(Field const& list, detail::Machine& machine) {
  list.each(most_platform_workers, [&](Field const& field) {
    field.object({"name", "node", "kind", "model", "peak", "count"});
    detail::Worker worker{.name = field["name"].text(),
                          .node = NodeId(field["node"].index_in(machine.nodes, "node")),
                          .kind = static_cast<detail::WorkerKind>(one_of(field["kind"], worker_kind_names))};
    if (field.has("model")) worker.model = field["model"].text();
    if (field.has("peak")) worker.peak_flops = field["peak"].speed();
    if (!field.has("count")) {
      worker.name = field["name"].new_name(machine.workers);
      machine.add_worker(std::move(worker));
      return;
    }
    std::uint64_t const count = field["count"].whole(4096);
    if (machine.workers.size() + count > most_platform_workers) {
      field["count"].refuse("a machine has at most " + std::to_string(most_platform_workers) + " workers");
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      detail::Worker one = worker;
      one.name += " " + std::to_string(i);
      if (std::ranges::find(machine.workers, one.name, &detail::Worker::name) != machine.workers.end()) {
        field["name"].refuse("a worker '" + one.name + "' exists already");
      }
      machine.add_worker(std::move(one));
    }
  });
}

detail::KernelTimes read_times(Field const& field) {
  if (!field.is_list()) return {{}, field.speed()};
  detail::KernelTimes times;
  field.each(most_links, [&](Field const& pair) {
    if (!pair.is_list() || pair.size() != 2) pair.refuse("a pair of flops and seconds is expected");
    std::vector<double> values;
    pair.each(2, [&](Field const& value) {
      values.push_back(values.empty() ? value.from_to(1, most_flops)
                                      : value.from_to(least_kernel_time, most_kernel_time));
    });
    if (!times.points.empty() && values[0] <= times.points.back().flops) pair.refuse("flops must increase");
    times.points.push_back({values[0], values[1]});
  });
  if (times.points.empty()) field.refuse("at least one pair of flops and seconds is expected");
  return times;
}

void read_kernels(Field const& field, Platform& platform) {
  field.object({"s", "d", "c", "z"});
  for (std::size_t p = 0; p < precisions; ++p) {
    if (!field.has(precision_letters[p])) continue;
    field[precision_letters[p]].members([&](std::string const& codelet, Field const& models) {
      auto& by_model = platform.kernels[p][codelet];
      models.members([&](std::string const& model, Field const& times) { by_model[model] = read_times(times); });
    });
  }
}

void read_speeds(Field const& field, Platform& platform) {
  field.members([&](std::string const& model, Field const& speeds) {
    speeds.object({"s", "d", "c", "z"});
    for (std::size_t p = 0; p < precisions; ++p) {
      if (speeds.has(precision_letters[p])) platform.speeds[model][p] = speeds[precision_letters[p]].speed();
    }
  });
}

// Checks that every worker's model has a kernel time or a speed.
void check_models(Field const& workers, Platform const& platform) {
  for (auto const& worker : platform.machine.workers) {
    auto const model = Platform::model_of(worker);
    bool known = platform.speeds.contains(model);
    for (auto const& codelets : platform.kernels) {
      known = known || std::ranges::any_of(codelets, [&](auto const& named) { return named.second.contains(model); });
    }
    if (!known) workers.refuse("the model '" + std::string(model) + "' has neither kernel times nor a speed");
  }
}

json times_to_json(detail::KernelTimes const& times) {
  if (times.points.empty()) return times.flops_per_second;
  json points = json::array();
  for (auto const& point : times.points) points.push_back({point.flops, point.seconds});
  return points;
}

json machine_to_json(detail::Machine const& machine) {
  json nodes = json::array();
  json buses = json::array();
  json links = json::array();
  json workers = json::array();
  for (auto const& node : machine.nodes) {
    nodes.push_back({{"name", node.name}, {"kind", node_kind_names[static_cast<std::size_t>(node.kind)]}});
    if (node.capacity != detail::unbounded) nodes.back()["capacity"] = node.capacity;
  }
  for (auto const& bus : machine.buses) buses.push_back({{"name", bus.name}, {"bandwidth", bus.bandwidth}});
  for (auto const& link : machine.links) {
    json crossed = json::array();
    for (auto const bus : link.buses) crossed.push_back(machine.buses[bus].name);
    links.push_back({{"from", machine[link.from].name},
                     {"to", machine[link.to].name},
                     {"bandwidth", link.bandwidth},
                     {"latency", seconds(link.latency)},
                     {"width", link.width},
                     {"buses", crossed},
                     {"in_order", link.in_order}});
  }
  for (auto const& worker : machine.workers) {
    workers.push_back({{"name", worker.name},
                       {"node", machine[worker.node].name},
                       {"kind", worker_kind_names[static_cast<std::size_t>(worker.kind)]},
                       {"model", Platform::model_of(worker)}});
    if (worker.peak_flops > 0) workers.back()["peak"] = worker.peak_flops;
  }
  return {{"nodes", nodes}, {"buses", buses}, {"links", links}, {"workers", workers}};
}

}  // namespace

Platform Platform::parse(std::string_view text, std::string const& origin) {
  if (json_nests_deeper(text, most_json_depth)) {
    throw InvalidArgument("platform file '" + origin + "': its brackets nest deeper than " +
                          std::to_string(most_json_depth) + " levels");
  }
  json content;
  try {
    content = json::parse(text);
  } catch (json::exception const& error) {
    throw InvalidArgument("platform file '" + origin + "' is not JSON: " + excerpt(error.what(), 300));
  }
  Field const top(content, origin, "");
  top.object({"name", "source", "nodes", "buses", "links", "workers", "kernels", "speeds", "jitter", "depth",
              "device_issue", "shared_devices", "network"});
  Platform platform;
  platform.name = top["name"].text();
  platform.source = top["source"].text();
  read_nodes(top["nodes"], platform.machine);
  if (top.has("buses")) read_buses(top["buses"], platform.machine);
  if (top.has("links")) read_links(top["links"], platform.machine);
  read_workers(top["workers"], platform.machine);
  if (platform.machine.workers.empty()) top["workers"].refuse("at least one worker is expected");
  if (top.has("kernels")) read_kernels(top["kernels"], platform);
  if (top.has("speeds")) read_speeds(top["speeds"], platform);
  check_models(top["workers"], platform);
  if (top.has("jitter")) {
    platform.jitter = top["jitter"].number();
    if (!(platform.jitter >= 0 && platform.jitter < 1)) top["jitter"].refuse("it must be from 0 to below 1");
  }
  if (top.has("depth")) platform.depth = static_cast<std::uint32_t>(top["depth"].whole(1U << 20U, 0));
  if (top.has("device_issue")) {
    platform.device_issue = static_cast<std::uint32_t>(top["device_issue"].whole(1U << 20U));
  }
  platform.shared_devices = top.has("shared_devices") && top["shared_devices"].yes();
  if (top.has("network")) platform.network = read_network(top["network"]);
  try {
    detail::Topology const reachable(platform.machine);
    static_cast<void>(platform.home_node());
  } catch (InvalidArgument const& error) {
    throw InvalidArgument("platform file '" + origin + "': " + error.what());
  }
  return platform;
}

std::string Platform::to_json() const {
  json content = machine_to_json(machine);
  content["name"] = name;
  content["source"] = source;
  content["jitter"] = jitter;
  if (depth) content["depth"] = *depth;
  if (device_issue > 0) content["device_issue"] = device_issue;
  if (shared_devices) content["shared_devices"] = true;
  if (network) content["network"] = {{"bandwidth", network->bandwidth}, {"latency", seconds(network->latency)}};
  content["kernels"] = json::object();
  for (std::size_t p = 0; p < precisions; ++p) {
    for (auto const& [codelet, models] : kernels[p]) {
      auto& entry = content["kernels"][precision_letters[p]][codelet] = json::object();
      for (auto const& [model, times] : models) entry[model] = times_to_json(times);
    }
  }
  content["speeds"] = json::object();
  for (auto const& [model, by_precision] : speeds) {
    for (std::size_t p = 0; p < precisions; ++p) {
      if (by_precision[p] > 0) content["speeds"][model][precision_letters[p]] = by_precision[p];
    }
  }
  return content.dump(1) + "\n";
}

}  // namespace granary
