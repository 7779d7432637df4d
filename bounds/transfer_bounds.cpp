// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/bounds/linear_program.hpp>
#include <granary/detail/bounds/transfer_bounds.hpp>
#include <granary/detail/core/base/error.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace granary {

namespace {

// The nodes whose links to the others are counted: the devices' if there are any, otherwise those with workers.
std::vector<bool> inner_nodes(detail::Machine const& machine) {
  if (machine.workers.empty()) throw InvalidArgument("a machine without workers has no bus limit");
  bool const devices = std::ranges::any_of(machine.workers, [&](detail::Worker const& worker) {
    return machine[worker.node].kind == detail::NodeKind::Device;
  });
  std::vector<bool> inner(machine.nodes.size());
  for (auto const& worker : machine.workers) {
    if (!devices || machine[worker.node].kind == detail::NodeKind::Device) inner[worker.node.index()] = true;
  }
  return inner;
}

}  // namespace

detail::CompulsoryTraffic compulsory_traffic(detail::GraphRecorder const& graph) {
  detail::CompulsoryTraffic traffic;
  std::vector<bool> read(graph.data().size());
  std::vector<bool> written(graph.data().size());
  for (auto const& task : graph.tasks()) {
    auto const accesses = graph.accesses_of(task);
    for (auto const& access : accesses) {
      auto const d = access.data.index();
      if (!reads(access.mode) || read[d] || written[d]) continue;
      read[d] = true;
      if (graph.data()[d].origin.valid()) traffic.read += graph.data()[d].bytes;
    }
    for (auto const& access : accesses) {
      auto const d = access.data.index();
      if (!writes(access.mode) || written[d]) continue;
      written[d] = true;
      if (graph.data()[d].home.valid()) traffic.written += graph.data()[d].bytes;
    }
  }
  return traffic;
}

double bus_bandwidth(detail::Machine const& machine, detail::TransferDirection direction) {
  auto const inner = inner_nodes(machine);
  bool const load = direction == detail::TransferDirection::Load;
  // Maximise the sum of the links' rates, each within its bandwidth and all within the bandwidths of their buses; in
  // units of the fastest link because Clp's tolerances are absolute.
  double fastest = 0;
  for (auto const& link : machine.links) fastest = std::max(fastest, link.bandwidth);
  LinearProgram program;
  for (auto const& bus : machine.buses) program.rows.push_back({.upper = bus.bandwidth / fastest, .entries = {}});
  for (auto const& link : machine.links) {
    auto const outside = load ? link.from : link.to;
    auto const inside = load ? link.to : link.from;
    if (!inner[inside.index()] || inner[outside.index()]) continue;
    auto const column = program.add_column({.upper = link.bandwidth / fastest, .cost = -1});
    for (std::uint32_t bus = 0; bus < machine.buses.size(); ++bus) {
      auto const crossings = std::ranges::count(link.buses, bus);
      if (crossings > 0) program.rows[bus].entries.push_back({column, static_cast<double>(crossings)});
    }
  }
  return program.columns.empty() ? 0 : -solve(program).objective * fastest;
}

Bytes bus_limit(detail::Machine const& machine, Duration time, detail::TransferDirection direction) {
  if (time < Duration(0)) {
    throw InvalidArgument("the bus limit needs a time of at least 0 ns, not " + std::to_string(time.count()) + " ns");
  }
  return static_cast<Bytes>(std::min(bus_bandwidth(machine, direction) * seconds(time), 0x1p62));
}

}  // namespace granary
