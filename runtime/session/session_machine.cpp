// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/session/session_machine.hpp>

#include <granary/detail/core/backends/device_copies.hpp>
#include <granary/detail/core/backends/device_launcher.hpp>
#include <granary/detail/core/backends/discover.hpp>
#include <granary/detail/core/backends/host_workers.hpp>
#include <granary/detail/core/backends/kokkos_tools.hpp>
#include <granary/detail/core/backends/page_placement.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/detail/core/model/peers.hpp>
#include <granary/detail/outofcore/io_engine_choice.hpp>
#include <granary/detail/outofcore/scratch_storage.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/runtime/setup/configure.hpp>
#include <granary/detail/runtime/setup/devices.hpp>
#include <granary/detail/runtime/setup/host_plan.hpp>
#include <granary/detail/trace/trace_file.hpp>

#include <spdlog/spdlog.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace granary::detail {

namespace {

// A lane holds this many tasks, so that it does not wait for the next decision.
constexpr std::uint32_t device_issue = 2;
// Between processes, until links are measured: the planner's estimate of what waiting for a value costs.
constexpr Network network{.bandwidth = 5e9, .latency = std::chrono::microseconds(5)};
// Values that may come at once.
constexpr std::uint32_t most_receives = 16;
// Not in `configure`: the programs plan with its result, and report the smallest sufficient limit.
RuntimeOptions complete(RuntimeOptions const& options) {
  auto completed = configure(options);
  if (completed.host_memory >= io_alignment) return completed;
  throw InvalidArgument("a memory limit of " + std::to_string(completed.host_memory) +
                        " bytes is too small, since data take multiples of " + std::to_string(io_alignment) +
                        " bytes: raise it (GRANARY_MEMORY, RuntimeOptions::host_memory)");
}

bool crosses_peers(Machine const& machine, Link const& link) {
  return machine[link.from].kind == NodeKind::Peers || machine[link.to].kind == NodeKind::Peers;
}

bool crosses_disk(Link const& link) { return link.from == disk_node() || link.to == disk_node(); }

}  // namespace

SessionMachine::SessionMachine(RuntimeOptions const& asked, OutsideCommands* outside)
    : m_options(complete(asked)),
      m_devices(find_devices(m_options)),
      m_links(device_links(m_devices)),
      m_pinned(m_devices.empty() ? nullptr : std::make_shared<PinnedMemory>(m_devices.api)),
      m_cache(m_options, m_devices, m_links),
      m_blas(blas_threads_of(m_options, blas_has_threads_by_caller())),
      m_engine(make_engine(outside)) {}

EngineBackends SessionMachine::make_backends(Machine const& machine) {
  m_disk = std::make_shared<DiskNode>([this] { return std::make_unique<ScratchStorage>(io(), m_options.scratch); });
  EngineBackends backends;
  auto const plan = plan_host(m_options, discover_topology());
  if (*m_options.workers > 0)
    backends.workers = std::make_shared<HostWorkers>(*m_options.workers, plan.workers, m_options.cores_per_worker);
  std::optional<DeviceCopies> copies;
  if (!m_devices.empty()) copies.emplace(m_devices.api, m_pinned);
  for (auto const& link : machine.links) {
    if (crosses_disk(link)) {
      backends.copies.push_back(m_disk);
    } else if (crosses_peers(machine, link)) {
      backends.copies.push_back(nullptr);
    } else {
      backends.copies.push_back(copies->link(m_devices.end_at(link.from), m_devices.end_at(link.to)));
    }
  }
  auto const& host = machine[host_node()];
  auto const when = PinnedPool::When::OnUse;  // Views are used in place: many runs do not use the pool
  std::shared_ptr<NodeMemory> pool;
  if (m_devices.empty()) {
    pool = std::make_shared<Pool>(host.name, host.capacity);
  } else {
    pool = std::make_shared<PinnedPool>(m_pinned, host.name, host.capacity, when);
  }
  interleave_pages(pool->base(), host.capacity, plan.memory_domains);
  backends.memories = {std::move(pool), nullptr};
  if (m_devices.empty()) return backends;
  LauncherOptions launcher;
  launcher.workspace = m_devices.workspace;
  for (int const device : m_devices.numbers) {
    backends.memories.push_back(std::make_shared<DeviceMemory>(m_devices.api, device, m_devices.capacity()));
  }
  for (auto const& worker : machine.workers) launcher.device_of.push_back(m_devices.end_at(worker.node));
  backends.devices = std::make_shared<DeviceLauncher>(m_devices.api, std::move(launcher));
  return backends;
}

std::unique_ptr<Engine> SessionMachine::make_engine(OutsideCommands* outside) {
  auto machine = build_machine(m_options, m_devices, m_links, m_cache);
  if (outside != nullptr) machine = with_peers(std::move(machine), network, most_receives);
  auto backends = make_backends(machine);
  if (tools_listen()) {
    show_to_tools(backends, machine);
    tell_tools("granary scheduler", m_options.scheduler);
    tell_tools("granary eviction policy", m_options.eviction);
    tell_tools("granary memory limit", std::to_string(m_options.host_memory));
    if (!m_devices.empty()) tell_tools("granary device memory limit", std::to_string(m_options.device_memory));
  }
  EngineOptions engine_options;
  engine_options.outside = outside;
  engine_options.planner.depth = m_options.depth;
  engine_options.planner.device_issue = device_issue;
  engine_options.booking = booking_named(m_options.booking);
  engine_options.booking.max_live_tasks = m_options.max_live_tasks;
  engine_options.record_journal = m_options.record_journal;
  engine_options.trace = {.record = m_options.record_trace || !m_options.trace.empty(),
                          .most_events = m_options.trace_events};
  if (m_options.record_schedule || !m_options.save_schedule.empty()) {
    m_recorder = std::make_unique<ScheduleRecorder>(machine);
    engine_options.observers = {m_recorder.get()};
  }
  auto estimator = m_cache.make_models();
  m_models = estimator.get();
  return std::make_unique<Engine>(Topology(std::move(machine)),
                                  make_policies(m_options.scheduler, m_options.eviction, m_options.seed),
                                  std::move(estimator), std::move(backends), engine_options);
}

void SessionMachine::end() {
  m_engine.end();
  m_disk.reset();
}

Trace SessionMachine::trace() const {
  auto trace = m_engine->trace();
  auto& configuration = trace.configuration;
  configuration = {{"scheduler", m_options.scheduler},
                   {"eviction", m_options.eviction},
                   {"depth", std::to_string(m_options.depth)},
                   {"workers", std::to_string(*m_options.workers)},
                   {"memory limit", format_bytes(m_options.host_memory)},
                   {"devices", m_options.devices}};
  if (m_options.cores_per_worker > 1)
    configuration.insert(configuration.begin() + 4, {"cores per worker", std::to_string(m_options.cores_per_worker)});
  if (auto const remark = m_engine->statistics().remark; !remark.empty())
    configuration.insert(configuration.begin() + 1, {"chosen", remark});
  if (m_devices.empty()) return trace;
  configuration.emplace_back("memory of each device", format_bytes(m_options.device_memory));
  configuration.emplace_back("lanes of each device", std::to_string(m_options.device_lanes));
  return trace;
}

Schedule SessionMachine::schedule() const {
  Schedule schedule;
  if (m_recorder) m_engine->between_events([&] { schedule = m_recorder->schedule(); });
  return schedule;
}

// Several threads may create one at the same time; one is kept. Creation starts threads and calls the system, so no
// lock is held.
std::shared_ptr<AsyncFileIo> SessionMachine::io() {
  {
    std::lock_guard const lock(m_mutex);
    if (m_io) return m_io;
  }
  auto made = make_async_file_io({.bytes_per_second = m_options.disk_bytes_per_second});
  std::lock_guard const lock(m_mutex);
  if (!m_io) m_io = std::move(made);
  return m_io;
}

RuntimeFigures SessionMachine::figures() const {
  auto const statistics = m_engine->statistics();
  RuntimeFigures figures{.host_memory_peak = statistics.planner.nodes[host_node().index()].peak};
  {
    std::lock_guard const lock(m_mutex);
    if (m_io) {
      figures.bytes_read = m_io->bytes_read();
      figures.bytes_written = m_io->bytes_written();
    }
  }
  add_devices(figures, statistics);
  return figures;
}

void SessionMachine::add_devices(RuntimeFigures& figures, EngineStatistics const& statistics) const {
  auto const& machine = m_engine->topology().machine();
  for (std::size_t d = 0; d < m_devices.size(); ++d) {
    auto const node = device_node(d);
    auto& device =
        figures.devices.emplace_back(DeviceFigures{.name = machine[node].name,
                                                   .description = m_devices.api->properties(m_devices.numbers[d]).name,
                                                   .limit = machine[node].capacity,
                                                   .peak = statistics.planner.nodes[node.index()].peak});
    for (std::size_t w = 0; w < machine.workers.size(); ++w) {
      if (machine.workers[w].node == node) device.tasks += statistics.workers[w].tasks;
    }
  }
  auto const& links = machine.links;
  auto& traffic = figures.device_traffic;
  for (std::size_t l = 0; l < links.size(); ++l) {
    auto const is_device = [&](NodeId node) { return machine[node].kind == NodeKind::Device; };
    if (!is_device(links[l].from) && !is_device(links[l].to)) continue;
    auto& sum = links[l].from == host_node() ? traffic.from_host
                : links[l].to == host_node() ? traffic.to_host
                                             : traffic.between;
    sum += statistics.planner.links[l].bytes;
  }
}

namespace {

void write_trace_of(SessionMachine const& machine) {
  try {
    auto const events = machine.trace();
    if (events.dropped > 0) {
      spdlog::warn("granary: the trace {} lacks {} events: it keeps at most {} (RuntimeOptions::trace_events)",
                   machine.options().trace, events.dropped, machine.options().trace_events);
    }
    granary::write_trace(events, machine.options().trace);
  } catch (std::exception const& error) {
    spdlog::error("granary: the trace was not written: {}", error.what());
  }
}

void write_schedule_of(SessionMachine const& machine) {
  try {
    granary::write_schedule(machine.options().save_schedule, machine.schedule());
  } catch (std::exception const& error) {
    spdlog::error("granary: the schedule was not written: {}", error.what());
  }
}

}  // namespace

void SessionMachine::write_outputs() const {
  if (!m_options.trace.empty()) write_trace_of(*this);
  if (!m_options.save_schedule.empty()) write_schedule_of(*this);
}

}  // namespace granary::detail
