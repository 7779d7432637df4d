// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/runtime_parts.hpp>

#include <granary/detail/core/backends/device_copies.hpp>
#include <granary/detail/core/backends/device_launcher.hpp>
#include <granary/detail/core/backends/discover.hpp>
#include <granary/detail/core/backends/host_workers.hpp>
#include <granary/detail/core/backends/kokkos_tools.hpp>
#include <granary/detail/core/backends/page_placement.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/peers.hpp>
#include <granary/detail/outofcore/scratch_storage.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/runtime/host_plan.hpp>
#include <granary/detail/runtime/two_sides.hpp>
#include <granary/detail/runtime/warnings.hpp>
#include <granary/detail/schedules/schedule.hpp>
#include <granary/detail/trace/trace_file.hpp>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace granary {

using namespace detail;

namespace {

// A lane holds this many tasks, so that it does not wait for the next decision.
constexpr std::uint32_t device_issue = 2;
// Between processes, until links are measured: the planner's estimate of what waiting for a value costs.
constexpr Network network{.bandwidth = 5e9, .latency = std::chrono::microseconds(5)};
// Values that may come at once.
constexpr std::uint32_t most_receives = 16;
// Pinning less is not worth a system call.
constexpr Bytes least_pinned = 64_KiB;
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

}  // namespace

Runtime::Parts::Parts(RuntimeOptions const& asked, std::shared_ptr<Processes> of)
    : processes(std::move(of)),
      exchange(processes && processes->count() > 1
                   ? std::make_unique<Exchange>(processes->self(), *processes,
                                                [this](Event const& event) { engine->post(event); })
                   : nullptr),
      options(complete(asked)),
      devices(find_devices(options)),
      links(device_links(devices)),
      pinned(devices.empty() ? nullptr : std::make_shared<PinnedMemory>(devices.api)),
      cache(options, devices, links),
      blas(blas_threads_of(options, blas_has_threads_by_caller())),
      checks(options.check ? std::make_shared<detail::Checks>(options.check_reads, options.check_orders) : nullptr),
      engine(make_engine()) {
  auto const count = processes ? processes->count() : 1;
  auto const grid = options.grid.value_or(Distribution::for_processes(count));
  if (grid.processes() != count) {
    throw InvalidArgument("a grid of " + std::to_string(grid.rows()) + " x " + std::to_string(grid.columns()) +
                          " has " + std::to_string(grid.processes()) + " processes, not " + std::to_string(count) +
                          " (RuntimeOptions::grid)");
  }
  if (exchange && checks) {
    throw InvalidArgument(
        "tasks are checked in one process: run the program as one (GRANARY_CHECK, RuntimeOptions::check)");
  }
  if (exchange) {
    common = std::make_unique<detail::CommonData>(*processes, grid, *engine, engine->topology().peers(), *exchange);
  }
  for (auto const& warning : find_warnings(options, find_environment(options))) warn_once(warning);
  if (options.stall_timeout <= Duration{0}) return;
  watchdog = std::make_unique<Watchdog>(*engine, options.stall_timeout, [](Duration passed, auto const& state) {
    spdlog::error("granary: no task and no transfer has ended for {:.3g} s\n{}", seconds(passed), state);
  });
}

EngineBackends Runtime::Parts::make_backends(Machine const& machine) {
  disk = std::make_shared<DiskNode>([this] { return std::make_unique<ScratchStorage>(io(), options.scratch); });
  EngineBackends backends;
  auto const plan = plan_host(options, discover_topology());
  if (*options.workers > 0)
    backends.workers = std::make_shared<HostWorkers>(*options.workers, plan.workers, options.cores_per_worker);
  std::optional<DeviceCopies> copies;
  if (!devices.empty()) copies.emplace(devices.api, pinned);
  for (auto const& link : machine.links) {
    if (crosses_disk(link)) {
      backends.copies.push_back(disk);
    } else if (crosses_peers(machine, link)) {
      backends.copies.push_back(nullptr);
    } else {
      backends.copies.push_back(copies->link(devices.end_at(link.from), devices.end_at(link.to)));
    }
  }
  auto const& host = machine[host_node()];
  auto const when = PinnedPool::When::OnUse;  // Views are used in place: many runs do not use the pool
  std::shared_ptr<NodeMemory> pool;
  if (devices.empty()) {
    pool = std::make_shared<Pool>(host.name, host.capacity);
  } else {
    pool = std::make_shared<PinnedPool>(pinned, host.name, host.capacity, when);
  }
  interleave_pages(pool->base(), host.capacity, plan.memory_domains);
  backends.memories = {std::move(pool), nullptr};
  if (devices.empty()) return backends;
  LauncherOptions launcher;
  launcher.workspace = devices.workspace;
  for (int const device : devices.numbers) {
    backends.memories.push_back(std::make_shared<DeviceMemory>(devices.api, device, devices.capacity()));
  }
  for (auto const& worker : machine.workers) launcher.device_of.push_back(devices.end_at(worker.node));
  backends.devices = std::make_shared<DeviceLauncher>(devices.api, std::move(launcher));
  return backends;
}

std::unique_ptr<Engine> Runtime::Parts::make_engine() {
  auto machine = build_machine(options, devices, links, cache);
  if (exchange) machine = with_peers(std::move(machine), network, most_receives);
  auto backends = make_backends(machine);
  if (tools_listen()) {
    show_to_tools(backends, machine);
    tell_tools("granary scheduler", options.scheduler);
    tell_tools("granary eviction policy", options.eviction);
    tell_tools("granary memory limit", std::to_string(options.host_memory));
    if (!devices.empty()) tell_tools("granary device memory limit", std::to_string(options.device_memory));
  }
  EngineOptions engine_options;
  engine_options.outside = exchange.get();
  engine_options.planner.depth = options.depth;
  engine_options.planner.device_issue = device_issue;
  engine_options.booking = booking_named(options.booking);
  engine_options.booking.max_live_tasks = options.max_live_tasks;
  engine_options.record_journal = options.record_journal;
  engine_options.trace = {.record = options.record_trace || !options.trace.empty(),
                          .most_events = options.trace_events};
  if (options.record_schedule || !options.save_schedule.empty()) {
    recorder = std::make_unique<ScheduleRecorder>(machine);
    engine_options.observers = {recorder.get()};
  }
  auto estimator = cache.make_models();
  models = estimator.get();
  return std::make_unique<Engine>(Topology(std::move(machine)),
                                  make_policies(options.scheduler, options.eviction, options.seed),
                                  std::move(estimator), std::move(backends), engine_options);
}

void Runtime::Parts::shut_down() {
  if (engine->works_here()) {
    spdlog::error(
        "granary: a Runtime was destroyed inside one of its own tasks and would wait for itself; keep it alive until "
        "wait() has returned");
    spdlog::default_logger()->flush();
    std::abort();
  }
  if (checks) checks->begin_wait();
  try {
    if (common && common->gave_up()) {
      // It has waited.
    } else if (std::uncaught_exceptions() > exceptions) {
      auto const why = std::make_exception_ptr(Error("an exception ended the Runtime"));
      if (common) {
        common->give_up(why, 1);
      } else {
        engine->cancel(why);
        try {
          engine->wait();
        } catch (...) {  // NOLINT(bugprone-empty-catch): an exception is on its way already
        }
      }
    } else {
      common ? common->wait() : engine->wait();
      if (checks) find_late_changes();
    }
  } catch (std::exception const& error) {
    spdlog::error("granary: a task failed and nobody waited for it: {}", error.what());
  } catch (...) {
    spdlog::error("granary: a task failed and nobody waited for it");
  }
  stop.reset();
  watchdog.reset();
  if (!options.trace.empty()) write_trace();
  if (!options.save_schedule.empty()) write_schedule();
  cache.keep(*models);
  if (processes) processes->stop();
  engine.end();
  disk.reset();
}

void Runtime::Parts::find_late_changes() {
  try {
    checks->waited({});
  } catch (CheckFailed const& error) {
    spdlog::error("granary: {}", error.what());
  }
}

Trace Runtime::Parts::trace() const {
  auto trace = engine->trace();
  auto& configuration = trace.configuration;
  configuration = {{"scheduler", options.scheduler},
                   {"eviction", options.eviction},
                   {"depth", std::to_string(options.depth)},
                   {"workers", std::to_string(*options.workers)},
                   {"memory limit", format_bytes(options.host_memory)},
                   {"devices", options.devices}};
  if (options.cores_per_worker > 1)
    configuration.insert(configuration.begin() + 4, {"cores per worker", std::to_string(options.cores_per_worker)});
  if (auto const remark = engine->statistics().remark; !remark.empty())
    configuration.insert(configuration.begin() + 1, {"chosen", remark});
  if (devices.empty()) return trace;
  configuration.emplace_back("memory of each device", format_bytes(options.device_memory));
  configuration.emplace_back("lanes of each device", std::to_string(options.device_lanes));
  return trace;
}

void Runtime::Parts::write_trace() const {
  try {
    auto const events = trace();
    if (events.dropped > 0) {
      spdlog::warn("granary: the trace {} lacks {} events: it keeps at most {} (RuntimeOptions::trace_events)",
                   options.trace, events.dropped, options.trace_events);
    }
    granary::write_trace(events, options.trace);
  } catch (std::exception const& error) {
    spdlog::error("granary: the trace was not written: {}", error.what());
  }
}

Schedule Runtime::Parts::schedule() const {
  Schedule schedule;
  if (recorder) engine->between_events([&] { schedule = recorder->schedule(); });
  return schedule;
}

void Runtime::Parts::write_schedule() const {
  try {
    granary::write_schedule(options.save_schedule, schedule());
  } catch (std::exception const& error) {
    spdlog::error("granary: the schedule was not written: {}", error.what());
  }
}

// Several threads may create one at the same time; one is kept. Creation starts threads and calls the system, so no
// lock is held.
std::shared_ptr<AsyncFileIo> Runtime::Parts::io() {
  {
    std::lock_guard const lock(mutex);
    if (file_io) return file_io;
  }
  auto made = make_async_file_io({.bytes_per_second = options.disk_bytes_per_second});
  std::lock_guard const lock(mutex);
  if (!file_io) file_io = std::move(made);
  return file_io;
}

CodeletId Runtime::Parts::codelet(std::string_view name, detail::TaskCode const& code) {
  auto const first = std::ranges::find_if(code.kernels, [](Kernel kernel) { return kernel != nullptr; });
  auto const of = first != code.kernels.end() ? *first : nullptr;
  bool const checked = code.checked != nullptr;
  std::tuple const body(checked ? code.checked : of, code.external, checked);
  std::string others;
  {
    std::lock_guard const lock(mutex);
    auto& known = codelets[body];
    auto found = known.by_name.find(name);
    if (found == known.by_name.end() && known.by_name.size() >= most_task_names) {
      name = others = known.others;
      found = known.by_name.find(name);
    }
    if (found != known.by_name.end()) return found->second;
    if (known.others.empty()) known.others = "others like '" + std::string(name) + "'";
  }
  // Several threads may add the same codelet: the engine stores it once.
  auto const id = engine->add_codelet({.name = std::string(name),
                                       .kernels = code.kernels,
                                       .launches_kokkos_kernels = code.launches_kokkos_kernels,
                                       .variant = code.variant,
                                       .external = code.external,
                                       .restartable = code.restartable,
                                       .result_bytes = code.result_bytes});
  std::lock_guard const lock(mutex);
  codelets[body].by_name.emplace(name, id);
  return id;
}

NodeId Runtime::Parts::node_of(std::string const& name, std::byte const* memory, Bytes bytes, bool on_host) const {
  if (devices.empty() && !on_host) {
    throw InvalidArgument("'" + name +
                          "' is in device memory, but this Runtime uses no devices (RuntimeOptions::devices)");
  }
  if (devices.empty() || (on_host && !devices.api->emulated())) return host_node();
  int const device = devices.api->holder_of(memory, bytes);
  auto const used = std::ranges::find(devices.numbers, device);
  if (used != devices.numbers.end()) return device_node(static_cast<std::size_t>(used - devices.numbers.begin()));
  if (device == host_end && on_host) return host_node();
  throw InvalidArgument("'" + name + "' is in " +
                        (device == host_end ? "memory that neither the host nor a device can access"
                                            : "the memory of device " + std::to_string(device) +
                                                  ", which this Runtime does not use (RuntimeOptions::devices)"));
}

void Runtime::Parts::refuse_with_others(std::string_view what) const {
  if (common) throw InvalidArgument(std::string(what) + " with several processes");
}

SharedData Runtime::Parts::add_view(std::string name, Bytes bytes, DataBinding binding) {
  if (binding.origin || binding.home) throw InvalidArgument("datum '" + name + "' has both an address and a storage");
  if (!binding.set) {
    auto const& lines = binding.lines;
    ByteSet::Dimension const of_lines{lines.count, lines.pitch};
    binding.set =
        lines.count > 0 ? ByteSet(binding.memory, lines.line, {&of_lines, 1}) : ByteSet(binding.memory, bytes);
  }
  if (!common) return add_host_data(std::move(name), bytes, std::move(binding));
  if (binding.mirror.memory != nullptr) refuse_with_others("a DualView cannot be used");
  DataDescription const description{.name = name, .bytes = bytes, .position = binding.position};
  auto const add = [this, bytes, binding](DataDescription const& own) {
    return add_host_data(own.name, bytes, binding).data;
  };
  DataId const key = common->add_view(description, *binding.set, add, binding.keep);
  return {key, std::move(binding.keep)};
}

// In this process.
SharedData Runtime::Parts::add_host_data(std::string name, Bytes bytes, DataBinding binding) {
  auto const& lines = binding.lines;
  Bytes const span = lines.count > 0 ? (lines.count - 1) * lines.pitch + lines.line : bytes;
  NodeId const node = node_of(name, binding.memory, span, binding.on_host);
  std::optional<MirrorBinding> mirror;
  if (auto const& side = binding.mirror; side.memory != nullptr) {
    mirror = {.node = node_of(name, side.memory, span, false), .address = side.memory, .valid = side.valid};
  }
  DataDescription description{.name = std::move(name),
                              .bytes = bytes,
                              .origin = node,
                              .home = node,
                              .origin_is_home = true,
                              .in_place = node != host_node() || *options.workers > 0,
                              .may_return = true,
                              .position = binding.position};
  if (auto added = node == host_node() ? pin(binding.memory, span) : nullptr) {
    using Both = std::pair<std::shared_ptr<void const>, std::shared_ptr<void const>>;
    auto const* const seen = binding.keep ? binding.keep.get() : added.get();
    auto both = std::make_shared<Both const>(std::move(binding.keep), std::move(added));
    binding.keep = {std::move(both), seen};
  }
  std::shared_ptr<detail::CheckedDatum> checked;
  if (checks && !mirror) {
    auto const* const seen = binding.keep ? binding.keep.get() : binding.memory;
    checked = std::make_shared<detail::CheckedDatum>(
        detail::CheckedDatum{description.name, bytes, binding.memory, *binding.set, std::move(binding.keep)});
    binding.keep = {checked, seen};
  }
  auto added = engine->add_host_data(std::move(description),
                                     {.origin = binding.memory,
                                      .home = binding.memory,
                                      .keep = std::move(binding.keep),
                                      .lines = binding.lines,
                                      .serves = binding.serves},
                                     std::move(*binding.set), mirror ? &*mirror : nullptr);
  // Not if these bytes were registered before: the engine then keeps what it has.
  bool const kept = checked && !added.keep.owner_before(checked) && !checked.owner_before(added.keep);
  if (kept) checks->add(added.data, checked);
  return added;
}

void Runtime::Parts::keep_until_wait(std::shared_ptr<detail::TwoSides> used) {
  std::lock_guard const lock(mutex);
  sides.push_back(std::move(used));
}

void Runtime::Parts::give_back(std::span<DataId const> data) {
  std::vector<std::shared_ptr<detail::TwoSides>> concerned;
  {
    std::lock_guard const lock(mutex);
    auto const others = std::ranges::stable_partition(
        sides, [&](auto const& one) { return !data.empty() && std::ranges::count(data, one->data()) == 0; });
    std::ranges::move(others, std::back_inserter(concerned));
    sides.erase(others.begin(), others.end());
  }
  for (auto const& one : concerned) one->give_back();
}

std::shared_ptr<void const> Runtime::Parts::pin(std::byte* memory, Bytes bytes) {
  if (!pinned || bytes < least_pinned) return nullptr;
  pinned->add(memory, bytes);
  return {memory, [pinned = pinned](std::byte* added) { pinned->remove(added); }};
}

}  // namespace granary
