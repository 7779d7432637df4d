// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/runtime/runtime.hpp>

#include <granary/core/backends/device_copies.hpp>
#include <granary/core/backends/device_launcher.hpp>
#include <granary/core/backends/discover.hpp>
#include <granary/core/backends/host_workers.hpp>
#include <granary/core/backends/kokkos_tools.hpp>
#include <granary/core/base/error.hpp>
#include <granary/outofcore/scratch_storage.hpp>
#include <granary/policies/registry.hpp>
#include <granary/runtime/warnings.hpp>
#include <granary/trace/trace_file.hpp>

#include <spdlog/spdlog.h>

#include <cstdlib>
#include <utility>

namespace granary {

namespace {

// A lane holds this many tasks, so that it does not wait for the next decision.
constexpr std::uint32_t device_issue = 2;
// Pinning less is not worth a system call.
constexpr Bytes least_pinned = 64_KiB;

bool crosses_disk(Link const& link) { return link.from == Runtime::disk_node() || link.to == Runtime::disk_node(); }

// Not in `configure`: the programs plan with its result, and report the smallest sufficient limit.
RuntimeOptions complete(RuntimeOptions const& options) {
  auto completed = configure(options);
  if (completed.host_memory >= io_alignment) return completed;
  throw InvalidArgument("a memory limit of " + std::to_string(completed.host_memory) +
                        " bytes is too small, since data take multiples of " + std::to_string(io_alignment) +
                        " bytes: raise it (GRANARY_MEMORY, RuntimeOptions::host_memory)");
}

}  // namespace

detail::DataHold::~DataHold() {
  try {
    auto const engine = m_engine.lock();
    EngineScope const scope(engine.get());  // the Runtime must not end here: it waits until the engine is given back
    if (engine) engine->release_data(m_id);
  } catch (std::exception const& error) {
    spdlog::error("granary: releasing a datum failed: {}", error.what());
  }
}

Runtime::Runtime(RuntimeOptions const& options)
    : m_options(complete(options)),
      m_devices(find_devices(m_options)),
      m_device_links(device_links(m_devices)),
      m_pinned(m_devices.empty() ? nullptr : std::make_shared<PinnedMemory>(m_devices.api)),
      m_cache(m_options, m_devices, m_device_links),
      m_owned(make_engine()),
      m_engine(lend_engine()) {
  for (auto const& warning : find_warnings(m_options, find_surroundings())) warn_once(warning);
  if (m_options.stall_timeout <= Duration{0}) return;
  m_watchdog = std::make_unique<Watchdog>(*m_engine, m_options.stall_timeout, [](Duration passed, auto const& state) {
    spdlog::error("granary: no task and no transfer has ended for {:.3g} s\n{}", seconds(passed), state);
  });
}

EngineBackends Runtime::make_backends(Machine const& machine) {
  m_disk = std::make_shared<DiskNode>([this] { return std::make_unique<ScratchStorage>(io(), m_options.scratch); });
  EngineBackends backends;
  if (*m_options.workers > 0) {
    auto const cores = m_options.bind_workers ? discover_host().cores : std::vector<unsigned>{};
    backends.workers = std::make_shared<HostWorkers>(*m_options.workers, cores);
  }
  std::optional<DeviceCopies> copies;
  if (!m_devices.empty()) copies.emplace(m_devices.api, m_pinned);
  for (auto const& link : machine.links) {
    if (crosses_disk(link)) {
      backends.copies.push_back(m_disk);
    } else {
      backends.copies.push_back(copies->link(m_devices.end_at(link.from), m_devices.end_at(link.to)));
    }
  }
  if (m_devices.empty()) return backends;
  auto const& host = machine[host_node()];
  auto const when = PinnedPool::When::OnUse;  // Views are used in place: many runs do not use the pool
  backends.memories = {std::make_shared<PinnedPool>(m_pinned, host.name, host.capacity, when), nullptr};
  LauncherOptions launcher;
  launcher.workspace = m_devices.workspace;
  for (int const device : m_devices.numbers) {
    backends.memories.push_back(std::make_shared<DeviceMemory>(m_devices.api, device, m_devices.capacity()));
  }
  for (auto const& worker : machine.workers) launcher.device_of.push_back(m_devices.end_at(worker.node));
  backends.devices = std::make_shared<DeviceLauncher>(m_devices.api, std::move(launcher));
  return backends;
}

std::unique_ptr<Engine> Runtime::make_engine() {
  auto machine = build_machine(m_options, m_devices, m_device_links, m_cache);
  auto backends = make_backends(machine);
  if (tools_listen()) {
    show_to_tools(backends, machine);
    tell_tools("granary scheduler", m_options.scheduler);
    tell_tools("granary eviction policy", m_options.eviction);
    tell_tools("granary memory limit", std::to_string(m_options.host_memory));
    if (!m_devices.empty()) tell_tools("granary device memory limit", std::to_string(m_options.device_memory));
  }
  EngineOptions engine_options;
  engine_options.planner.depth = m_options.depth;
  engine_options.planner.device_issue = device_issue;
  engine_options.max_live_tasks = m_options.max_live_tasks;
  engine_options.record_journal = m_options.record_journal;
  engine_options.trace = {.record = m_options.record_trace || !m_options.trace.empty(),
                          .most_events = m_options.trace_events};
  auto estimator = m_cache.make_models();
  m_models = estimator.get();
  return std::make_unique<Engine>(Topology(std::move(machine)),
                                  make_policies(m_options.scheduler, m_options.eviction, m_options.seed),
                                  std::move(estimator), std::move(backends), engine_options);
}

// A handle that is destroyed shares the engine for a moment, possibly on one of the engine's own threads: the engine
// must not be destroyed there.
std::shared_ptr<Engine> Runtime::lend_engine() {
  return {m_owned.get(), [given_back = m_given_back](Engine*) { given_back->release(); }};
}

Runtime::~Runtime() {
  if (m_engine->works_here()) {
    spdlog::error(
        "granary: a Runtime was destroyed inside one of its own tasks and would wait for itself; keep it alive until "
        "wait() has returned");
    spdlog::default_logger()->flush();
    std::abort();
  }
  try {
    if (std::uncaught_exceptions() > m_exceptions) {
      m_engine->cancel(std::make_exception_ptr(Error("an exception ended the Runtime")));
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
  m_watchdog.reset();
  if (!m_options.trace.empty()) write_trace();
  m_cache.keep(*m_models);
  m_engine.reset();
  m_given_back->acquire();
  m_owned.reset();
  m_disk.reset();
}

Trace Runtime::trace() const {
  auto trace = m_engine->trace();
  auto& configuration = trace.configuration;
  configuration = {{"scheduler", m_options.scheduler},
                   {"eviction", m_options.eviction},
                   {"depth", std::to_string(m_options.depth)},
                   {"workers", std::to_string(*m_options.workers)},
                   {"memory limit", format_bytes(m_options.host_memory)},
                   {"devices", m_options.devices}};
  if (m_devices.empty()) return trace;
  configuration.emplace_back("memory of each device", format_bytes(m_options.device_memory));
  configuration.emplace_back("lanes of each device", std::to_string(m_options.device_lanes));
  return trace;
}

void Runtime::write_trace() const {
  try {
    auto const events = trace();
    if (events.dropped > 0) {
      spdlog::warn("granary: the trace {} lacks {} events: it keeps at most {} (RuntimeOptions::trace_events)",
                   m_options.trace, events.dropped, m_options.trace_events);
    }
    granary::write_trace(events, m_options.trace);
  } catch (std::exception const& error) {
    spdlog::error("granary: the trace was not written: {}", error.what());
  }
}

void Runtime::wait() {
  m_engine->wait();
  m_disk->collect();
  for (auto const& warning : find_warnings(m_options, statistics(), blas_threads())) warn_once(warning);
}

// Several threads may create one at the same time; one is kept. Creation starts threads and calls the system, so no
// lock is held.
std::shared_ptr<AsyncFileIo> Runtime::io() {
  {
    std::lock_guard const lock(m_mutex);
    if (m_io) return m_io;
  }
  auto made = make_async_file_io({.bytes_per_second = m_options.disk_bytes_per_second});
  std::lock_guard const lock(m_mutex);
  if (!m_io) m_io = std::move(made);
  return m_io;
}

Bytes Runtime::bytes_read() const {
  std::lock_guard const lock(m_mutex);
  return m_io ? m_io->bytes_read() : 0;
}

Bytes Runtime::bytes_written() const {
  std::lock_guard const lock(m_mutex);
  return m_io ? m_io->bytes_written() : 0;
}

DataId Runtime::add_data(std::string name, Bytes bytes, DataBinding binding) {
  if (binding.host != nullptr) return add_host_data(std::move(name), bytes, std::move(binding)).data;
  DataDescription description{.name = std::move(name), .bytes = bytes, .position = binding.position};
  if (binding.origin) description.origin = disk_node();
  if (binding.home) description.home = disk_node();
  description.origin_is_home =
      binding.origin && binding.origin.storage == binding.home.storage && binding.origin.slot == binding.home.slot;
  return m_engine->add_data(std::move(description), {nullptr, nullptr, std::move(binding.keep)},
                            [&](DataId id) { m_disk->bind(id, binding.origin, binding.home); });
}

SharedData Runtime::add_host_data(std::string name, Bytes bytes, DataBinding binding) {
  if (binding.origin || binding.home) throw InvalidArgument("datum '" + name + "' has both an address and a storage");
  DataDescription description{.name = std::move(name),
                              .bytes = bytes,
                              .origin = host_node(),
                              .home = host_node(),
                              .origin_is_home = true,
                              .in_place = *m_options.workers > 0,
                              .position = binding.position};
  auto const& lines = binding.lines;
  Bytes const span = lines.count > 0 ? (lines.count - 1) * lines.pitch + lines.line : bytes;
  if (!binding.set) {
    ByteSet::Dimension const of_lines{lines.count, lines.pitch};
    binding.set = lines.count > 0 ? ByteSet(binding.host, lines.line, {&of_lines, 1}) : ByteSet(binding.host, bytes);
  }
  if (auto pinned = pin(binding.host, span)) {
    using Both = std::pair<std::shared_ptr<void const>, std::shared_ptr<void const>>;
    auto const* const seen = binding.keep ? binding.keep.get() : pinned.get();
    auto both = std::make_shared<Both const>(std::move(binding.keep), std::move(pinned));
    binding.keep = {std::move(both), seen};
  }
  return m_engine->add_host_data(std::move(description),
                                 {.origin = binding.host,
                                  .home = binding.host,
                                  .keep = std::move(binding.keep),
                                  .lines = binding.lines,
                                  .serves = binding.serves},
                                 std::move(*binding.set));
}

std::shared_ptr<void const> Runtime::pin(std::byte* memory, Bytes bytes) {
  if (!m_pinned || bytes < least_pinned) return nullptr;
  m_pinned->add(memory, bytes);
  return {memory, [pinned = m_pinned](std::byte* added) { pinned->remove(added); }};
}

std::vector<DeviceFigures> Runtime::devices() const {
  auto const statistics = m_engine->statistics();
  auto const& machine = m_engine->topology().machine();
  std::vector<DeviceFigures> figures;
  for (std::size_t d = 0; d < m_devices.size(); ++d) {
    auto const node = device_node(d);
    figures.push_back({.name = machine[node].name,
                       .description = m_devices.api->properties(m_devices.numbers[d]).name,
                       .limit = machine[node].capacity,
                       .peak = statistics.planner.nodes[node.index()].peak});
    for (std::size_t w = 0; w < machine.workers.size(); ++w) {
      if (machine.workers[w].node == node) figures.back().tasks += statistics.workers[w].tasks;
    }
  }
  return figures;
}

DeviceTraffic Runtime::device_traffic() const {
  auto const statistics = m_engine->statistics();
  auto const& links = m_engine->topology().machine().links;
  DeviceTraffic traffic;
  for (std::size_t l = 0; l < links.size(); ++l) {
    if (crosses_disk(links[l])) continue;
    auto& sum = links[l].from == host_node() ? traffic.from_host
                : links[l].to == host_node() ? traffic.to_host
                                             : traffic.between;
    sum += statistics.planner.links[l].bytes;
  }
  return traffic;
}

void Runtime::refuse_on_devices(std::string const& name, std::string const& shape) const {
  auto const& workers = m_engine->topology().machine().workers;
  if (std::ranges::none_of(workers, [](Worker const& worker) { return worker.kind == WorkerKind::Device; })) return;
  throw InvalidArgument("the View '" + name + "' (" + shape +
                        ") cannot be copied to a device: its elements must be trivially copyable and have addresses "
                        "of their own, with gaps in at most one dimension");
}

CodeletId Runtime::codelet(std::array<Kernel, worker_kinds> const& kernels, std::string_view name,
                           std::string const& variant, bool launches_kokkos_kernels) {
  auto const first = std::ranges::find_if(kernels, [](Kernel kernel) { return kernel != nullptr; });
  Kernel const body = first != kernels.end() ? *first : nullptr;
  std::string others;
  {
    std::lock_guard const lock(m_mutex);
    auto& known = m_codelets[body];
    auto found = known.by_name.find(name);
    if (found == known.by_name.end() && known.by_name.size() >= most_task_names) {
      name = others = known.others;
      found = known.by_name.find(name);
    }
    if (found != known.by_name.end()) return found->second;
    if (known.others.empty()) known.others = "others like '" + std::string(name) + "'";
  }
  // Several threads may add the same codelet: the engine stores it once.
  auto const id = m_engine->add_codelet({.name = std::string(name),
                                         .kernels = kernels,
                                         .launches_kokkos_kernels = launches_kokkos_kernels,
                                         .variant = variant});
  std::lock_guard const lock(m_mutex);
  m_codelets[body].by_name.emplace(name, id);
  return id;
}

}  // namespace granary
