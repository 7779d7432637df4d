// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/random_graph.hpp"

#include "support/random_machine.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

namespace granary::test {
namespace {

void no_kernel(detail::KernelCall const&) {}

Bytes half_of_all(void const*, std::span<Bytes const> bytes, std::size_t) {
  return std::accumulate(bytes.begin(), bytes.end(), Bytes{0}) / 2;
}

class Builder {
 public:
  Builder(detail::Machine const& machine, GraphOptions const& options, detail::Random& random)
      : m_machine(machine), m_options(options), m_random(random), m_storage(has_storage(machine)) {
    for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
      if (!has_workers(machine, NodeId(n))) m_quiet_nodes.emplace_back(n);
      if (options.homes_on_devices || machine.nodes[n].kind != detail::NodeKind::Device) m_home_nodes.emplace_back(n);
    }
  }

  RandomGraph build() {
    add_codelets();
    auto const data = 2 + m_random.below(m_options.max_data - 1);
    auto const tasks = 1 + m_random.below(m_options.max_tasks);
    m_uniform = m_random.chance(0.3) ? random_bytes() : 0;
    bool const submits_while_running = m_random.chance(0.5);
    while (m_data.size() < data) add_datum();
    for (std::uint64_t t = 0; t < tasks; ++t) {
      add_task();
      if (m_options.release && m_random.chance(0.03)) give_up_datum();
      if (submits_while_running && m_random.chance(0.2)) {
        m_graph.operations.emplace_back(LetHappen{static_cast<std::uint32_t>(m_random.below(20))});
      }
      if (m_random.chance(0.02)) m_graph.operations.emplace_back(WaitForAll{});
    }
    m_graph.operations.emplace_back(WaitForAll{});
    return std::move(m_graph);
  }

 private:
  struct Datum {
    bool has_value;
    bool may_write;
    bool gone = false;
  };

  NodeId random_node() { return m_home_nodes[m_random.below(m_home_nodes.size())]; }
  Bytes random_bytes() {
    auto const logarithm = static_cast<std::uint64_t>(std::bit_width(m_options.most_bytes)) - 1;
    return 1 + m_random.below(Bytes{1} << (4 + m_random.below(logarithm - 3)));
  }

  void add_codelets() {
    std::set<detail::WorkerKind> present;
    for (auto const& worker : m_machine.workers) present.insert(worker.kind);
    auto const codelets = 1 + m_random.below(4);
    for (std::uint64_t c = 0; c < codelets; ++c) {
      detail::Codelet codelet{.name = "codelet" + std::to_string(c)};
      for (detail::WorkerKind const kind : present) {
        if (m_random.chance(0.7)) codelet.kernels[static_cast<std::size_t>(kind)] = no_kernel;
      }
      auto const one = *std::next(present.begin(), static_cast<std::ptrdiff_t>(m_random.below(present.size())));
      codelet.kernels[static_cast<std::size_t>(one)] = no_kernel;
      m_graph.codelets.push_back(codelet);
    }
  }

  void add_datum() {
    detail::DataDescription d;
    d.name = "d" + std::to_string(m_data.size());
    d.bytes = m_uniform != 0 ? m_uniform : random_bytes();
    double const sort = m_random.uniform();
    if (sort < 0.4) {
      d.origin = d.home = random_node();
      d.origin_is_home = true;
      d.in_place = has_workers(m_machine, d.home);
    } else if (!m_quiet_nodes.empty() && sort < 0.85) {
      auto const quiet = [&] { return m_quiet_nodes[m_random.below(m_quiet_nodes.size())]; };
      if (m_random.chance(0.7)) d.home = quiet();
      if (m_random.chance(0.7)) d.origin = quiet();
    }
    bool const keeps = d.home.valid() || m_storage;
    bool const value = d.origin.valid();
    if (!keeps && !value) {
      d.origin = d.home = random_node();
      d.origin_is_home = true;
      d.in_place = has_workers(m_machine, d.home);
    }
    m_data.push_back({.has_value = d.origin.valid(), .may_write = d.home.valid() || m_storage});
    m_graph.operations.emplace_back(RegisterData{std::move(d)});
  }

  void add_task() {
    SubmitGraphTask task;
    task.codelet = static_cast<std::uint32_t>(m_random.below(m_graph.codelets.size()));
    auto const accesses = 1 + m_random.below(m_random.chance(0.1) ? 6 : 4);
    for (std::uint64_t a = 0; a < accesses; ++a) {
      auto const d = static_cast<std::uint32_t>(m_random.below(m_data.size()));
      auto const& datum = m_data[d];
      if (datum.gone) continue;
      double const draw = m_random.uniform();
      auto mode = draw < 0.5    ? detail::AccessMode::Read
                  : draw < 0.85 ? detail::AccessMode::ReadWrite
                                : detail::AccessMode::Write;
      if (!datum.has_value) mode = detail::AccessMode::Write;
      if (!datum.may_write) mode = detail::AccessMode::Read;
      task.accesses.emplace_back(d, mode);
    }
    for (auto const& [d, mode] : task.accesses) m_data[d].has_value = m_data[d].has_value || writes(mode);
    task.priority = m_random.between(-3, 3);
    task.flops = m_random.chance(0.2) ? 0 : static_cast<double>(m_random.below(200000));
    m_graph.operations.emplace_back(std::move(task));
  }

  void give_up_datum() {
    auto const d = static_cast<std::uint32_t>(m_random.below(m_data.size()));
    if (m_data[d].gone) return;
    m_data[d].gone = true;
    m_graph.operations.emplace_back(GiveUpData{d});
    if (m_random.chance(0.7)) add_datum();
  }

  detail::Machine const& m_machine;
  GraphOptions m_options;
  detail::Random& m_random;
  bool m_storage;
  std::vector<NodeId> m_quiet_nodes;  // without workers
  std::vector<NodeId> m_home_nodes;   // nodes of possible origins and homes
  Bytes m_uniform = 0;                // all data of this size; 0: of different ones
  std::vector<Datum> m_data;
  RandomGraph m_graph;
};

// The requirements of the graph's tasks on each node.
struct Needs {
  std::vector<Bytes> largest_task;   // by node: of tasks with a kernel there
  std::vector<Bytes> largest_datum;  // by node, rounded: of those that do not have their home there
  Bytes total = 0;
};

Bytes largest(detail::DataDescription const& datum) { return std::max(datum.bytes, datum.bound); }

Needs needs_of(detail::Machine const& machine, RandomGraph const& graph) {
  std::size_t const nodes = machine.nodes.size();
  Needs needs{std::vector<Bytes>(nodes), std::vector<Bytes>(nodes), 0};
  std::vector<detail::DataDescription> data;
  for (auto const& operation : graph.operations) {
    if (auto const* datum = std::get_if<RegisterData>(&operation)) {
      data.push_back(datum->description);
      for (std::size_t n = 0; n < nodes; ++n) {
        if (datum->description.home == NodeId(static_cast<std::uint32_t>(n))) continue;
        auto const rounded = round_up(largest(datum->description), machine.nodes[n].alignment);
        needs.largest_datum[n] = std::max(needs.largest_datum[n], rounded);
      }
    }
    auto const* task = std::get_if<SubmitGraphTask>(&operation);
    if (task == nullptr) continue;
    std::map<std::uint32_t, Bytes> distinct;  // and how many places they need
    for (auto const& [d, mode] : task->accesses) {
      auto& places = distinct.try_emplace(d, 1).first->second;
      if (writes(mode) && data[d].bound > 0) places = 2;
    }
    for (auto const& worker : machine.workers) {
      if (!graph.codelets[task->codelet].runs_on(worker.kind)) continue;
      Bytes sum = 0;
      for (auto const& [d, places] : distinct) {
        bool const there = data[d].in_place && data[d].home == worker.node;
        if (!there) sum += places * round_up(largest(data[d]), machine[worker.node].alignment);
      }
      auto& largest = needs.largest_task[worker.node.index()];
      largest = std::max(largest, sum);
    }
  }
  return needs;
}

}  // namespace

RandomGraph random_graph(detail::Machine const& machine, GraphOptions const& options, detail::Random& random) {
  return Builder(machine, options, random).build();
}

void make_external(RandomGraph& graph, detail::Random& random) {
  auto const outside = static_cast<std::uint32_t>(graph.codelets.size());
  graph.codelets.push_back({.name = "outside", .external = true});
  std::vector<bool> has_home;
  for (auto& operation : graph.operations) {
    if (auto const* datum = std::get_if<RegisterData>(&operation)) {
      has_home.push_back(datum->description.home.valid());
    } else if (auto* task = std::get_if<SubmitGraphTask>(&operation)) {
      std::set<std::uint32_t> data;
      bool const can = std::ranges::all_of(task->accesses, [&](auto const& access) {
        return data.insert(access.first).second && (!writes(access.second) || has_home[access.first]);
      });
      if (!can || random.chance(0.5)) continue;
      task->codelet = outside;
      for (auto& [d, mode] : task->accesses) mode = writes(mode) ? detail::AccessMode::Write : mode;
    }
  }
}

void make_commuting(RandomGraph& graph, detail::Random& random) {
  std::set<std::uint32_t> written;
  for (auto const& operation : graph.operations) {
    auto const* task = std::get_if<SubmitGraphTask>(&operation);
    if (task == nullptr) continue;
    for (auto const& [d, mode] : task->accesses) {
      if (writes(mode)) written.insert(d);
    }
  }
  std::erase_if(written, [&](std::uint32_t) { return random.chance(0.5); });
  for (auto& operation : graph.operations) {
    auto* task = std::get_if<SubmitGraphTask>(&operation);
    if (task == nullptr) continue;
    for (auto& [d, mode] : task->accesses) {
      if (!reads(mode) || !written.contains(d)) continue;
      if (writes(mode) ? random.chance(0.9) : random.chance(0.5)) mode = detail::AccessMode::Commute;
    }
  }
}

void make_varying(RandomGraph& graph, detail::Random& random) {
  for (auto& operation : graph.operations) {
    auto* const datum = std::get_if<RegisterData>(&operation);
    if (datum == nullptr || datum->description.in_place || random.chance(0.2)) continue;
    if (!datum->places.empty() || !datum->cells.empty()) continue;
    Bytes const bytes = datum->description.bytes;
    datum->description.bound = bytes + random.below(random.chance(0.5) ? 3 * bytes : 2);
  }
  std::vector<bool> varies;
  for (auto& operation : graph.operations) {
    if (auto const* datum = std::get_if<RegisterData>(&operation)) varies.push_back(datum->description.bound > 0);
    auto* const task = std::get_if<SubmitGraphTask>(&operation);
    if (task == nullptr) continue;
    std::set<std::uint32_t> seen;
    std::erase_if(task->accesses,
                  [&](auto const& access) { return varies[access.first] && !seen.insert(access.first).second; });
  }
  for (auto& codelet : graph.codelets) {
    if (random.chance(0.5)) codelet.result_bytes = half_of_all;
  }
}

void add_places(RandomGraph& graph, detail::Machine const& machine, detail::Random& random) {
  std::vector<RegisterData*> data;
  std::vector<bool> written;
  for (auto& operation : graph.operations) {
    if (auto* datum = std::get_if<RegisterData>(&operation)) {
      data.push_back(datum);
      written.push_back(false);
    } else if (auto const* task = std::get_if<SubmitGraphTask>(&operation)) {
      for (auto const& [d, mode] : task->accesses) written[d] = written[d] || writes(mode);
    }
  }
  for (std::size_t d = 0; d < data.size(); ++d) {
    auto const& description = data[d]->description;
    if (!data[d]->cells.empty() || random.chance(0.5)) continue;
    for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
      NodeId const node(n);
      if (node == description.home || node == description.origin || random.chance(0.5)) continue;
      bool const writable = has_workers(machine, node) && (written[d] || random.chance(0.5));
      if (written[d] && !writable && has_workers(machine, node)) continue;
      bool const valid = description.origin.valid() && (!writable || random.chance(0.5));
      if (writable || valid) data[d]->places.push_back({.node = node, .writable = writable, .valid = valid});
    }
  }
}

void keep_no_old_values(RandomGraph& graph, detail::Random& random) {
  for (auto& operation : graph.operations) {
    auto* const datum = std::get_if<RegisterData>(&operation);
    if (datum != nullptr && !datum->description.home.valid()) datum->keeps_old = random.chance(0.2);
  }
}

void bound_memories(detail::Machine& machine, RandomGraph const& graph, detail::Random& random) {
  auto const needs = needs_of(machine, graph);
  detail::Topology const topology(machine);
  // Values without a home are written to unbounded nodes without workers: disks and one more stay unbounded.
  bool has_store = false;
  double const exact = random.chance(0.3) ? 1 : 0.4;
  for (std::size_t n = 0; n < machine.nodes.size(); ++n) {
    NodeId const node(static_cast<std::uint32_t>(n));
    if (!has_workers(machine, node)) {
      bool const spare = std::exchange(has_store, true);
      bool const disk = machine.nodes[n].kind == detail::NodeKind::Disk;
      if (disk || !spare || !topology.between_others(node) || random.chance(0.5)) continue;
    } else if (random.chance(0.15)) {
      continue;
    }
    Bytes least = std::max(needs.largest_task[n], needs.largest_datum[n]);
    if (topology.between_others(node)) least += needs.largest_datum[n];
    if (!random.chance(exact)) {
      least += random.below(1 + 2 * least);
      least = round_up(least, machine.nodes[n].alignment);
    }
    machine.nodes[n].capacity = least;
  }
}

}  // namespace granary::test
