// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/device_copies.hpp>
#include <granary/detail/outofcore/storage.hpp>
#include <granary/detail/runtime/setup/machine.hpp>

#include <algorithm>
#include <string>

namespace granary {

using namespace detail;

Machine build_machine(RuntimeOptions const& options, Devices const& devices, std::vector<DeviceLink> const& links,
                      MachineCache const& cache) {
  Machine machine;
  auto const host = machine.add_node(
      {"host memory", NodeKind::Host, options.host_memory / io_alignment * io_alignment, io_alignment});
  auto const disk = machine.add_node({"disk", NodeKind::Disk, unbounded, io_alignment});
  auto const bandwidth = [&](LinkSpeed const& speed) {
    auto const limit = options.disk_bytes_per_second;
    return limit > 0 ? std::min(speed.bytes_per_second, static_cast<double>(limit)) : speed.bytes_per_second;
  };
  auto const [read, write] = cache.disk_speed();
  auto const bus = machine.add_bus({"disk", std::max(bandwidth(read), bandwidth(write))});
  machine.add_link({host, disk, bandwidth(write), write.latency, disk_width, {bus}});
  machine.add_link({disk, host, bandwidth(read), read.latency, disk_width, {bus}});
  std::vector<NodeId> nodes;
  for (int const device : devices.numbers) {
    nodes.push_back(
        machine.add_node({"device " + std::to_string(device), NodeKind::Device, devices.capacity(), device_alignment}));
  }
  auto const node_of = [&](int end) {
    if (end == host_end) return host;
    return nodes[static_cast<std::size_t>(std::ranges::find(devices.numbers, end) - devices.numbers.begin())];
  };
  for (auto const& link : links) {
    auto const speed = cache.device_speed(devices, link);
    machine.add_link(
        {node_of(link.from), node_of(link.to), speed.bytes_per_second, speed.latency, device_link_width, {}, true});
  }
  auto const each = std::max(options.cores_per_worker, 1U);
  for (unsigned w = 0; w < *options.workers; ++w) {
    auto const first = std::to_string(w * each), last = std::to_string((w + 1) * each - 1);
    machine.add_worker({each == 1 ? "core " + first : "cores " + first + "-" + last, host, WorkerKind::Cpu});
  }
  for (std::size_t d = 0; d < devices.size(); ++d) {
    for (unsigned lane = 0; lane < devices.lanes; ++lane) {
      machine.add_worker({"device " + std::to_string(devices.numbers[d]) + " lane " + std::to_string(lane), nodes[d],
                          WorkerKind::Device});
    }
  }
  return machine;
}

}  // namespace granary
