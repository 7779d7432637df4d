// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/random_machine.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace granary::test {
namespace {

std::vector<std::uint32_t> random_buses(detail::Machine const& machine, detail::Random& random) {
  std::vector<std::uint32_t> crossed;
  for (std::uint32_t bus = 0; bus < machine.buses.size(); ++bus) {
    if (random.chance(0.4)) crossed.push_back(bus);
  }
  return crossed;
}

void add_random_links(detail::Machine& machine, NodeId a, NodeId b, detail::Random& random) {
  for (auto const& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    machine.add_link({.from = from,
                      .to = to,
                      .bandwidth = 1e8 * static_cast<double>(1 + random.below(100)),
                      .latency = Duration(static_cast<Duration::rep>(random.below(20000))),
                      .width = static_cast<std::uint32_t>(1 + random.below(3)),
                      .buses = random_buses(machine, random)});
  }
}

detail::NodeKind random_kind(std::size_t index, detail::Random& random) {
  if (index == 0) return random.chance(0.5) ? detail::NodeKind::Disk : detail::NodeKind::Host;
  if (random.chance(0.15)) return detail::NodeKind::Disk;
  return random.chance(0.5) ? detail::NodeKind::Host : detail::NodeKind::Device;
}

void add_random_workers(detail::Machine& machine, NodeId node, detail::Random& random) {
  auto const kind =
      machine[node].kind == detail::NodeKind::Device ? detail::WorkerKind::Device : detail::WorkerKind::Cpu;
  std::uint64_t const workers = 1 + random.below(3);
  for (std::uint64_t w = 0; w < workers; ++w) {
    bool const other = random.chance(0.15);
    machine.add_worker(
        {.name = machine[node].name + "." + std::to_string(w),
         .node = node,
         .kind =
             other ? (kind == detail::WorkerKind::Cpu ? detail::WorkerKind::Device : detail::WorkerKind::Cpu) : kind});
  }
}

}  // namespace

detail::Machine random_machine(detail::Random& random) {
  detail::Machine machine;
  std::uint64_t const buses = random.below(3);
  for (std::uint64_t b = 0; b < buses; ++b) {
    machine.add_bus({"bus" + std::to_string(b), 1e8 * static_cast<double>(1 + random.below(100))});
  }
  std::size_t const nodes = 1 + random.below(5);
  for (std::size_t n = 0; n < nodes; ++n) {
    detail::MemoryNode node;
    node.name = "node" + std::to_string(n);
    node.kind = nodes == 1 ? detail::NodeKind::Host : random_kind(n, random);
    node.alignment = random.chance(0.5) ? 1 : Bytes{1} << random.below(7);
    machine.add_node(node);
    if (n == 0) continue;
    // Mostly chains, so that there are nodes between others.
    std::size_t const parent = random.chance(0.6) ? n - 1 : random.below(n);
    add_random_links(machine, NodeId(static_cast<std::uint32_t>(parent)), NodeId(static_cast<std::uint32_t>(n)),
                     random);
  }
  if (nodes > 2 && random.chance(0.4)) {
    auto const a = static_cast<std::uint32_t>(random.below(nodes));
    auto const b = static_cast<std::uint32_t>((a + 1 + random.below(nodes - 1)) % nodes);
    add_random_links(machine, NodeId(a), NodeId(b), random);
  }
  for (std::size_t n = 0; n < nodes; ++n) {
    if (machine.nodes[n].kind == detail::NodeKind::Disk || random.chance(0.3)) continue;
    add_random_workers(machine, NodeId(static_cast<std::uint32_t>(n)), random);
  }
  if (machine.workers.empty()) {
    auto& last = machine.nodes.back();
    if (last.kind == detail::NodeKind::Disk) last.kind = detail::NodeKind::Host;
    add_random_workers(machine, NodeId(static_cast<std::uint32_t>(nodes - 1)), random);
  }
  return machine;
}

detail::Machine device_machine(DeviceMachineOptions const& options, detail::Random& random) {
  detail::Machine machine;
  auto const alignment = [&] { return random.chance(0.5) ? Bytes{256} : Bytes{1} << random.below(7); };
  // The disk first: values without a home go to the first node that has room for all of them.
  std::optional<NodeId> disk;
  if (options.disk) disk = machine.add_node({"disk", detail::NodeKind::Disk, unbounded, 1});
  auto const host = machine.add_node({"host memory", detail::NodeKind::Host, unbounded, options.host_alignment});
  if (disk) add_random_links(machine, host, *disk, random);
  std::vector<NodeId> devices;
  // All links are equal, so that no route to the host leads through another device.
  double const bandwidth = 1e8 * static_cast<double>(1 + random.below(100));
  Duration const latency(static_cast<Duration::rep>(random.below(20000)));
  auto const width = static_cast<std::uint32_t>(1 + random.below(3));
  for (int d = 0; d < options.devices; ++d) {
    auto const device =
        machine.add_node({"device " + std::to_string(d), detail::NodeKind::Device, unbounded, alignment()});
    machine.add_link_pair(host, device, bandwidth, latency, width);
    devices.push_back(device);
  }
  for (std::size_t i = 1; options.peers && i < devices.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) add_random_links(machine, devices[j], devices[i], random);
  }
  for (std::uint64_t w = options.cpu_workers ? 1 + random.below(3) : 0; w > 0; --w) {
    machine.add_worker({.name = "core " + std::to_string(w), .node = host, .kind = detail::WorkerKind::Cpu});
  }
  for (auto const device : devices) {
    for (std::uint64_t lane = random.below(3) + 1; lane > 0; --lane) {
      machine.add_worker({.name = machine[device].name + " lane " + std::to_string(lane),
                          .node = device,
                          .kind = detail::WorkerKind::Device});
    }
  }
  return machine;
}

bool has_workers(detail::Machine const& machine, NodeId node) {
  return std::ranges::any_of(machine.workers, [&](detail::Worker const& worker) { return worker.node == node; });
}

bool has_storage(detail::Machine const& machine) {
  for (std::size_t n = 0; n < machine.nodes.size(); ++n) {
    NodeId const node(static_cast<std::uint32_t>(n));
    if (machine[node].capacity == unbounded && !has_workers(machine, node)) return true;
  }
  return false;
}

}  // namespace granary::test
