// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/runtime/runtime.hpp>

#include <granary/core/base/error.hpp>
#include <granary/core/engine/engine.hpp>
#include <granary/runtime/runtime_parts.hpp>
#include <granary/runtime/warnings.hpp>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace granary {

detail::DataHold::~DataHold() {
  try {
    auto const engine = m_engine.lock();
    EngineScope const scope(engine.get());  // the Runtime must not end here: it waits until the engine is given back
    if (engine) engine->release_data(m_id);
  } catch (std::exception const& error) {
    spdlog::error("granary: releasing a datum failed: {}", error.what());
  }
}

Runtime::Runtime(RuntimeOptions const& options) : m_parts(std::make_unique<Parts>(options)) {}

// Tasks that still run use the parts.
Runtime::~Runtime() { m_parts->shut_down(); }

void Runtime::wait() {
  m_parts->engine->wait();
  m_parts->disk->collect();
  for (auto const& warning : find_warnings(m_parts->options, statistics(), blas_threads())) warn_once(warning);
}

std::vector<Failure> const& Runtime::failures() const { return m_parts->engine->failures(); }
void Runtime::cancel(std::exception_ptr error) { m_parts->engine->cancel(std::move(error)); }
std::string Runtime::describe() const { return m_parts->engine->describe(); }
Trace Runtime::trace() const { return m_parts->trace(); }
Submitter& Runtime::submitter() { return *m_parts->engine; }
Engine& Runtime::engine() { return *m_parts->engine; }
EngineStatistics Runtime::statistics() const { return m_parts->engine->statistics(); }
std::shared_ptr<void const> Runtime::pin(std::byte* memory, Bytes bytes) { return m_parts->pin(memory, bytes); }
std::shared_ptr<AsyncFileIo> Runtime::io() { return m_parts->io(); }
RuntimeOptions const& Runtime::options() const { return m_parts->options; }
void Runtime::refuse_in_task(std::string_view what) const { m_parts->engine->refuse_in_task(what); }

Bytes Runtime::bytes_read() const {
  std::lock_guard const lock(m_parts->mutex);
  return m_parts->file_io ? m_parts->file_io->bytes_read() : 0;
}

Bytes Runtime::bytes_written() const {
  std::lock_guard const lock(m_parts->mutex);
  return m_parts->file_io ? m_parts->file_io->bytes_written() : 0;
}

DataId Runtime::add_data(std::string name, Bytes bytes, DataBinding binding) {
  if (binding.host != nullptr) return m_parts->add_host_data(std::move(name), bytes, std::move(binding)).data;
  DataDescription description{.name = std::move(name), .bytes = bytes, .position = binding.position};
  if (binding.origin) description.origin = disk_node();
  if (binding.home) description.home = disk_node();
  description.origin_is_home =
      binding.origin && binding.origin.storage == binding.home.storage && binding.origin.slot == binding.home.slot;
  return m_parts->engine->add_data(std::move(description), {nullptr, nullptr, std::move(binding.keep)},
                                   [&](DataId id) { m_parts->disk->bind(id, binding.origin, binding.home); });
}

std::shared_ptr<detail::DataHold const> Runtime::hold(DataId data) const {
  return std::make_shared<detail::DataHold const>(m_parts->engine.lent(), data);
}

detail::HeldView Runtime::hold_view(std::string name, Bytes bytes, DataBinding binding) {
  auto added = m_parts->add_host_data(std::move(name), bytes, std::move(binding));
  return {hold(added.data), std::move(added.keep)};
}

TaskId Runtime::submit_task(TaskInfo const& info, detail::TaskCode const& code, std::span<Access const> accesses,
                            Parameters parameters) {
  auto const codelet = m_parts->codelet(info.name, code);
  return m_parts->engine->submit({codelet, accesses, info.priority, info.flops}, std::move(parameters));
}

std::vector<DeviceFigures> Runtime::devices() const {
  auto const statistics = m_parts->engine->statistics();
  auto const& machine = m_parts->engine->topology().machine();
  std::vector<DeviceFigures> figures;
  for (std::size_t d = 0; d < m_parts->devices.size(); ++d) {
    auto const node = device_node(d);
    figures.push_back({.name = machine[node].name,
                       .description = m_parts->devices.api->properties(m_parts->devices.numbers[d]).name,
                       .limit = machine[node].capacity,
                       .peak = statistics.planner.nodes[node.index()].peak});
    for (std::size_t w = 0; w < machine.workers.size(); ++w) {
      if (machine.workers[w].node == node) figures.back().tasks += statistics.workers[w].tasks;
    }
  }
  return figures;
}

DeviceTraffic Runtime::device_traffic() const {
  auto const statistics = m_parts->engine->statistics();
  auto const& links = m_parts->engine->topology().machine().links;
  DeviceTraffic traffic;
  for (std::size_t l = 0; l < links.size(); ++l) {
    if (Parts::crosses_disk(links[l])) continue;
    auto& sum = links[l].from == host_node() ? traffic.from_host
                : links[l].to == host_node() ? traffic.to_host
                                             : traffic.between;
    sum += statistics.planner.links[l].bytes;
  }
  return traffic;
}

void Runtime::refuse_on_devices(std::string const& name, std::string const& shape) const {
  auto const& workers = m_parts->engine->topology().machine().workers;
  if (std::ranges::none_of(workers, [](Worker const& worker) { return worker.kind == WorkerKind::Device; })) return;
  throw InvalidArgument("the View '" + name + "' (" + shape +
                        ") cannot be copied to a device: its elements must be trivially copyable and have addresses "
                        "of their own, with gaps in at most one dimension");
}

}  // namespace granary
