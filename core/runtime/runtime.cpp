// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/runtime/runtime.hpp>

#include <granary/core/backends/discover.hpp>
#include <granary/core/backends/host_workers.hpp>
#include <granary/core/base/error.hpp>
#include <granary/outofcore/scratch_storage.hpp>
#include <granary/policies/registry.hpp>

#include <spdlog/spdlog.h>

#include <utility>

namespace granary {

namespace {

// What policies believe of a disk until somebody says otherwise.
constexpr double usual_disk_bandwidth = 1.5e9;
constexpr std::chrono::microseconds usual_disk_latency(100);
// Transfers under way at once in each direction: enough to keep the I/O queue full while a completion is handled.
constexpr std::uint32_t disk_width = 4;

Machine make_machine(RuntimeOptions const& options) {
  Machine machine;
  auto const host = machine.add_node(
      {"host memory", NodeKind::Host, options.host_memory / io_alignment * io_alignment, io_alignment});
  auto const disk = machine.add_node({"disk", NodeKind::Disk, unbounded, io_alignment});
  auto const bandwidth =
      options.disk_bytes_per_second > 0 ? static_cast<double>(options.disk_bytes_per_second) : usual_disk_bandwidth;
  machine.add_link_pair(host, disk, bandwidth, usual_disk_latency, disk_width, 1);
  for (unsigned w = 0; w < options.workers; ++w)
    machine.add_worker({"core " + std::to_string(w), host, WorkerKind::Cpu});
  return machine;
}

}  // namespace

detail::DataHold::~DataHold() {
  try {
    if (auto const engine = m_engine.lock()) engine->release_data(m_id);
  } catch (std::exception const& error) {
    spdlog::error("granary: giving up a datum failed: {}", error.what());
  }
}

Runtime::Runtime(RuntimeOptions const& options) : m_options(configure(options)), m_engine(make_engine()) {}

std::shared_ptr<Engine> Runtime::make_engine() {
  m_disk = std::make_shared<DiskNode>([this] { return std::make_unique<ScratchStorage>(io(), m_options.scratch); });
  auto const cores = m_options.bind_workers ? discover_host().cores : std::vector<unsigned>{};
  EngineBackends const backends{std::make_shared<HostWorkers>(m_options.workers, cores), {m_disk, m_disk}};
  EngineOptions engine_options;
  engine_options.planner.depth = m_options.depth;
  engine_options.record_journal = m_options.record_journal;
  return std::make_shared<Engine>(Topology(make_machine(m_options)),
                                  make_policies(m_options.scheduler, m_options.eviction, m_options.seed),
                                  std::make_unique<AveragingEstimator>(), backends, engine_options);
}

Runtime::~Runtime() {
  try {
    if (std::uncaught_exceptions() > m_exceptions) {
      m_engine->cancel(std::make_exception_ptr(Error("the runtime was left by an exception")));
      try {
        m_engine->wait();
      } catch (...) {  // NOLINT(bugprone-empty-catch): an exception is on its way already
      }
    } else {
      m_engine->wait();
    }
  } catch (std::exception const& error) {
    spdlog::error("granary: a task failed and nobody waited for it: {}", error.what());
  } catch (...) {
    spdlog::error("granary: a task failed and nobody waited for it");
  }
  m_engine.reset();
  m_disk.reset();
}

void Runtime::wait() {
  m_engine->wait();
  m_disk->collect();
}

std::shared_ptr<AsyncFileIo> Runtime::io() {
  std::lock_guard const lock(m_mutex);
  if (!m_io) m_io = make_async_file_io({.bytes_per_second = m_options.disk_bytes_per_second});
  return m_io;
}

DataId Runtime::add_data(std::string name, Bytes bytes, DataBinding binding) {
  DataDescription description{.name = std::move(name), .bytes = bytes, .origin = {}, .home = {}};
  if (binding.host != nullptr) {
    if (binding.origin || binding.home)
      throw InvalidArgument("datum '" + description.name + "' has both an address and a storage");
    description.origin = description.home = host_node();
    description.origin_is_home = description.in_place = true;
    return m_engine->add_data(std::move(description), {binding.host, binding.host, std::move(binding.keep)}, nullptr);
  }
  if (binding.origin) description.origin = disk_node();
  if (binding.home) description.home = disk_node();
  description.origin_is_home =
      binding.origin && binding.origin.storage == binding.home.storage && binding.origin.slot == binding.home.slot;
  return m_engine->add_data(std::move(description), {nullptr, nullptr, std::move(binding.keep)},
                            [&](DataId id) { m_disk->bind(id, binding.origin, binding.home); });
}

CodeletId Runtime::codelet(Kernel kernel, std::string_view name, bool launches_kokkos_kernels) {
  std::pair<Kernel, std::string> key(kernel, name);
  std::lock_guard const lock(m_mutex);
  auto const found = m_codelets.find(key);
  if (found != m_codelets.end()) return found->second;
  Codelet codelet{.name = key.second, .launches_kokkos_kernels = launches_kokkos_kernels};
  codelet.kernels[static_cast<std::size_t>(WorkerKind::Cpu)] = kernel;
  auto const id = m_engine->add_codelet(std::move(codelet));
  m_codelets.emplace(std::move(key), id);
  return id;
}

}  // namespace granary
