// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/runtime/runtime.hpp>

#include <granary/core/backends/discover.hpp>
#include <granary/core/backends/host_workers.hpp>
#include <granary/core/base/error.hpp>
#include <granary/outofcore/scratch_storage.hpp>
#include <granary/policies/registry.hpp>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace granary {

namespace {

Machine make_machine(RuntimeOptions const& options, DiskSpeed const& disk_speed) {
  Machine machine;
  auto const host = machine.add_node(
      {"host memory", NodeKind::Host, options.host_memory / io_alignment * io_alignment, io_alignment});
  auto const disk = machine.add_node({"disk", NodeKind::Disk, unbounded, io_alignment});
  auto const bandwidth = [&](LinkSpeed const& speed) {
    auto const limit = options.disk_bytes_per_second;
    return limit > 0 ? std::min(speed.bytes_per_second, static_cast<double>(limit)) : speed.bytes_per_second;
  };
  auto const& [read, write] = disk_speed;
  auto const bus = machine.add_bus({"disk", std::max(bandwidth(read), bandwidth(write))});
  machine.add_link({host, disk, bandwidth(write), write.latency, disk_width, {bus}});
  machine.add_link({disk, host, bandwidth(read), read.latency, disk_width, {bus}});
  for (unsigned w = 0; w < *options.workers; ++w)
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

Runtime::Runtime(RuntimeOptions const& options)
    : m_options(configure(options)), m_cache(m_options), m_engine(make_engine()) {}

std::shared_ptr<Engine> Runtime::make_engine() {
  m_disk = std::make_shared<DiskNode>([this] { return std::make_unique<ScratchStorage>(io(), m_options.scratch); });
  auto const cores = m_options.bind_workers ? discover_host().cores : std::vector<unsigned>{};
  EngineBackends const backends{std::make_shared<HostWorkers>(*m_options.workers, cores), {m_disk, m_disk}};
  EngineOptions engine_options;
  engine_options.planner.depth = m_options.depth;
  engine_options.record_journal = m_options.record_journal;
  auto estimator = m_cache.make_models();
  m_models = estimator.get();
  return std::make_shared<Engine>(Topology(make_machine(m_options, m_cache.disk_speed())),
                                  make_policies(m_options.scheduler, m_options.eviction, m_options.seed),
                                  std::move(estimator), backends, engine_options);
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
  m_cache.keep(*m_models);
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
    return m_engine->add_data(std::move(description),
                              {binding.host, binding.host, std::move(binding.keep), binding.lines}, nullptr);
  }
  if (binding.origin) description.origin = disk_node();
  if (binding.home) description.home = disk_node();
  description.origin_is_home =
      binding.origin && binding.origin.storage == binding.home.storage && binding.origin.slot == binding.home.slot;
  return m_engine->add_data(std::move(description), {nullptr, nullptr, std::move(binding.keep)},
                            [&](DataId id) { m_disk->bind(id, binding.origin, binding.home); });
}

CodeletId Runtime::codelet(Kernel kernel, std::string_view name, std::string const& variant,
                           bool launches_kokkos_kernels) {
  std::pair<Kernel, std::string> key(kernel, name);
  std::lock_guard const lock(m_mutex);
  auto const found = m_codelets.find(key);
  if (found != m_codelets.end()) return found->second;
  Codelet codelet{.name = key.second, .launches_kokkos_kernels = launches_kokkos_kernels, .variant = variant};
  codelet.kernels[static_cast<std::size_t>(WorkerKind::Cpu)] = kernel;
  auto const id = m_engine->add_codelet(std::move(codelet));
  m_codelets.emplace(std::move(key), id);
  return id;
}

}  // namespace granary
