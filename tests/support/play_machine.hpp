// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/faulty_storage.hpp"
#include "support/random_machine.hpp"

#include <granary/detail/core/backends/device_copies.hpp>
#include <granary/detail/core/backends/device_launcher.hpp>
#include <granary/detail/core/backends/device_memory.hpp>
#include <granary/detail/core/backends/emulated_api.hpp>
#include <granary/detail/core/backends/host_copy_backend.hpp>
#include <granary/detail/core/backends/host_workers.hpp>
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/outofcore/disk_node.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace granary::test {

using namespace detail;

/// Copies from one disk to another through memory.
class Bounce final : public CopyBackend {
 public:
  Bounce(std::shared_ptr<DiskNode> from, std::shared_ptr<DiskNode> to) : m_from(std::move(from)), m_to(std::move(to)) {}
  void copy_async(CopyRequest const& request, CopyCompletion done) override {
    auto const memory = std::make_shared<std::vector<std::byte>>(request.bytes);
    auto reading = request;
    auto writing = request;
    reading.destination = memory->data();
    writing.source = memory->data();
    m_from->copy_async(reading, [this, writing, memory, done](std::exception_ptr error) {
      if (error) return done(error);
      m_to->copy_async(writing, [memory, done](std::exception_ptr failed) { done(failed); });
    });
  }

 private:
  std::shared_ptr<DiskNode> m_from, m_to;
};

/// A launcher whose workers run a codelet's kernels for devices, though they are emulated.
class DeviceKernels final : public LaunchBackend {
 public:
  DeviceKernels(std::shared_ptr<DeviceApi> api, LauncherOptions options)
      : m_launcher(std::move(api), std::move(options)) {}

  [[nodiscard]] Kernel kernel_of(Codelet const& codelet) const override {
    auto as_host = codelet;
    as_host.kernels[0] = codelet.kernels[1];
    return m_launcher.kernel_of(as_host);
  }
  void enter(WorkerId worker) override { m_launcher.enter(worker); }
  void leave(WorkerId worker) noexcept override { m_launcher.leave(worker); }
  void launch(WorkerId worker, Kernel kernel, KernelCall const& call, bool follows) override {
    m_launcher.launch(worker, kernel, call, follows);
  }
  [[nodiscard]] std::size_t most_launches() const override { return m_launcher.most_launches(); }
  [[nodiscard]] std::optional<LaunchEnd> poll(WorkerId worker) override { return m_launcher.poll(worker); }

 private:
  DeviceLauncher m_launcher;
};

/// The backends of a drawn machine: host workers, disks in memory, and an emulated device for each node that is one or
/// has workers that launch.
class PlayMachine {
 public:
  PlayMachine(Machine const& drawn, std::uint64_t seed, std::function<void(EmulatedOperation const&)> before)
      : m_machine(bounded(drawn)), m_random(seed), m_disks(m_machine.nodes.size()), m_devices(m_machine.nodes.size()) {
    EmulatedOptions options;
    options.devices = 0;
    for (std::size_t n = 0; n < m_machine.nodes.size(); ++n) {
      auto const node = NodeId(static_cast<std::uint32_t>(n));
      if (m_machine[node].kind == NodeKind::Disk) {
        m_disks[n] = std::make_shared<DiskNode>([] { return std::make_unique<MemoryStorage>(); });
      }
      m_devices[n] = m_machine[node].kind == NodeKind::Device || launches(node) ? options.devices++ : host_end;
    }
    if (options.devices == 0) return;
    options.peers = m_random.chance(0.7);
    if (m_random.chance(0.3)) options.link_latency = std::chrono::microseconds(m_random.below(100));
    options.before = std::move(before);
    m_api = make_emulated_api(options);
    m_pinned = std::make_shared<PinnedMemory>(m_api);
  }

  [[nodiscard]] Machine const& machine() const { return m_machine; }
  [[nodiscard]] std::shared_ptr<DiskNode> const& disk(NodeId node) const { return m_disks[node.index()]; }

  [[nodiscard]] EngineBackends backends() {
    EngineBackends backends;
    backends.workers = std::make_shared<HostWorkers>(m_machine.workers.size());
    auto const host = std::make_shared<HostCopyBackend>();
    std::unique_ptr<DeviceCopies> devices;
    if (m_api) devices = std::make_unique<DeviceCopies>(m_api, m_pinned);
    for (auto const& link : m_machine.links) {
      auto const from = m_disks[link.from.index()], to = m_disks[link.to.index()];
      if (from && to) {
        backends.copies.push_back(std::make_shared<Bounce>(from, to));
      } else if (from || to) {
        backends.copies.push_back(from ? from : to);
      } else if (end(link.from) == host_end && end(link.to) == host_end) {
        backends.copies.push_back(host);
      } else {
        backends.copies.push_back(devices->link(end(link.from), end(link.to)));
      }
    }
    for (std::size_t n = 0; m_api && n < m_machine.nodes.size(); ++n) {
      auto const& node = m_machine.nodes[n];
      auto& memory = backends.memories.emplace_back();
      if (node.kind == NodeKind::Device) {
        memory = std::make_shared<DeviceMemory>(m_api, m_devices[n], node.capacity);
      } else if (node.kind == NodeKind::Host && m_random.chance(0.5)) {
        memory = std::make_shared<PinnedPool>(m_pinned, node.name, node.capacity);
      }
    }
    if (!m_api) return backends;
    LauncherOptions options;
    options.workspace = m_random.chance(0.5) ? 0 : 100;
    options.most_launches = 1 + m_random.below(4);
    for (auto const& worker : m_machine.workers) {
      options.device_of.push_back(worker.kind == WorkerKind::Device ? m_devices[worker.node.index()] : host_end);
    }
    backends.devices = std::make_shared<DeviceKernels>(m_api, options);
    return backends;
  }

  /// Memory of the application on the node, which is not a disk.
  [[nodiscard]] std::shared_ptr<std::byte> memory(NodeId node, Bytes bytes) {
    if (end(node) != host_end) {
      auto const device = end(node);
      return {m_api->allocate(device, bytes), [api = m_api, device](std::byte* memory) { api->free(device, memory); }};
    }
    auto const owned = std::make_shared<std::vector<std::byte>>(bytes);
    std::shared_ptr<std::byte> const memory(owned, owned->data());
    if (!m_pinned || m_random.chance(0.5)) return memory;
    m_pinned->add(memory.get(), bytes);
    return {memory.get(), [memory, pinned = m_pinned](std::byte* address) { pinned->remove(address); }};
  }

 private:
  // The engine allocates memory: an unbounded node must be a disk, or have a capacity that is never reached if it has
  // workers or serves devices.
  static Machine bounded(Machine machine) {
    for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
      auto& node = machine.nodes[n];
      if (node.capacity < unbounded) continue;
      if (has_workers(machine, NodeId(n))) {
        node.capacity = 64_MiB;
      } else {
        node.kind = NodeKind::Disk;
      }
    }
    return machine;
  }
  [[nodiscard]] bool launches(NodeId node) const {
    return std::ranges::any_of(m_machine.workers, [&](Worker const& worker) {
      return worker.node == node && worker.kind == WorkerKind::Device;
    });
  }
  [[nodiscard]] int end(NodeId node) const {
    return m_machine[node].kind == NodeKind::Device ? m_devices[node.index()] : host_end;
  }

  Machine m_machine;
  Random m_random;
  std::vector<std::shared_ptr<DiskNode>> m_disks;  // by node
  std::vector<int> m_devices;                      // by node; host_end: none
  std::shared_ptr<DeviceApi> m_api;                // null if no node needs one
  std::shared_ptr<PinnedMemory> m_pinned;
};

}  // namespace granary::test
