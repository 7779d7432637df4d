// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/device_launcher.hpp>

#include <granary/detail/core/backends/device_memory.hpp>
#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/engine/engine_scope.hpp>
#include <granary/detail/core/model/lane_storage.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

namespace granary::detail {

namespace {

/// A host kernel and its arguments, for an emulated device.
struct EmulatedKernel {
  Kernel kernel = nullptr;
  KernelCall call;
  bool launches_kokkos_kernels = false;
  std::uint64_t number = 0;           ///< on its lane, from 1
  std::uint64_t* last_ran = nullptr;  ///< number of the lane's last kernel that ran without failure
  bool follows = false;
  Engine const* engine = nullptr;  ///< the engine that launched it
  mutable bool skipped = false;
  mutable Duration blocked{0};

  void run() const {
    EngineScope const scope(engine);
    if (!launches_kokkos_kernels) return kernel(call);
    HostKernelLock const lock;
    blocked = lock.blocked();
    kernel(call);
    static_cast<HostExecutionSpace const*>(call.instance)->fence();
  }
};

// An emulated device runs this function, which calls the host kernel.
void run_emulated(KernelCall const& outer) {
  auto const& emulated = *static_cast<EmulatedKernel const*>(outer.parameters);
  emulated.skipped = emulated.follows && *emulated.last_ran + 1 != emulated.number;
  if (emulated.skipped) return;
  emulated.run();
  *emulated.last_ran = emulated.number;
}

class Reports {
 public:
  Reports(std::shared_ptr<DeviceApi> api, std::size_t count)
      : m_api(std::move(api)), m_memory(m_api->allocate_pinned(count * sizeof(KernelReport))) {
    for (std::size_t i = 0; i < count; ++i) new (m_memory + i * sizeof(KernelReport)) KernelReport;
  }
  ~Reports() { m_api->free_pinned(m_memory); }
  Reports(Reports const&) = delete;
  Reports& operator=(Reports const&) = delete;
  [[nodiscard]] KernelReport* at(std::size_t i) const { return reinterpret_cast<KernelReport*>(m_memory) + i; }

 private:
  std::shared_ptr<DeviceApi> m_api;
  std::byte* m_memory;
};

}  // namespace

/// A launch that is active or has ended.
struct DeviceLauncher::Slot {
  std::unique_ptr<DeviceApi::Event> begin, end;
  KernelReport* report = nullptr;
  EmulatedKernel emulated;
  std::exception_ptr error;  ///< the launch failed, but it may have enqueued work before
};

/// The kernels' state is destroyed before the stream that it belongs to.
struct DeviceLauncher::Lane {
  Lane(std::shared_ptr<DeviceApi> const& of, int device, LauncherOptions const& options)
      : api(of),
        workspace(api, device, options.workspace),
        reports(api, options.most_launches),
        slots(options.most_launches),
        stream(api->make_stream(device)) {
    static_cast<void>(stream->instance());  // allocates device memory, which waits: not while kernels run
    for (std::size_t i = 0; i < slots.size(); ++i) {
      slots[i].begin = api->make_event(device);
      slots[i].end = api->make_event(device);
      slots[i].report = reports.at(i);
    }
  }
  ~Lane() {
    api->on_device(stream->device(), [this] { storage = {}; });
  }
  Lane(Lane const&) = delete;
  Lane& operator=(Lane const&) = delete;
  [[nodiscard]] Slot& slot(std::uint64_t number) { return slots[number % slots.size()]; }

  std::shared_ptr<DeviceApi> api;
  DeviceMemory workspace;
  Reports reports;
  std::vector<Slot> slots;
  std::unique_ptr<DeviceApi::Stream> stream;
  LaneStorage storage;
  std::uint64_t launched = 0, polled = 0;
  std::uint64_t last_ran = 0;  // of an emulated device: used only by its stream
};

DeviceLauncher::DeviceLauncher(std::shared_ptr<DeviceApi> api, LauncherOptions options)
    : m_api(std::move(api)), m_options(std::move(options)), m_lanes(m_options.device_of.size()) {
  if (m_options.most_launches == 0) throw InvalidArgument("a device lane needs room for at least one launch");
  for (std::size_t i = 0; i < m_options.device_of.size(); ++i) {
    int const device = m_options.device_of[i];
    if (device < -1 || device >= m_api->devices()) {
      throw InvalidArgument("worker " + std::to_string(i) + " cannot belong to device " + std::to_string(device) +
                            ": there are " + std::to_string(m_api->devices()));
    }
  }
}

DeviceLauncher::~DeviceLauncher() = default;

// Two codelets may share a host kernel but differ in launches_kokkos_kernels: then the kernel is locked.
Kernel DeviceLauncher::kernel_of(Codelet const& codelet) const {
  auto const kind = m_api->emulated() ? WorkerKind::Cpu : WorkerKind::Device;
  auto const kernel = codelet.kernels[static_cast<std::size_t>(kind)];
  if (m_api->emulated() && kernel != nullptr) {
    std::lock_guard const lock(m_mutex);
    m_launches_kokkos_kernels[kernel] |= codelet.launches_kokkos_kernels;
  }
  return kernel;
}

bool DeviceLauncher::launches_kokkos_kernels(Kernel kernel) const {
  std::lock_guard const lock(m_mutex);
  auto const found = m_launches_kokkos_kernels.find(kernel);
  return found == m_launches_kokkos_kernels.end() || found->second;
}

void DeviceLauncher::enter(WorkerId worker) {
  int const device = worker.index() < m_lanes.size() ? m_options.device_of[worker.index()] : -1;
  if (device < 0) throw InternalError("worker " + std::to_string(worker.index()) + " is of no device");
  m_lanes[worker.index()] = std::make_unique<Lane>(m_api, device, m_options);
}

void DeviceLauncher::leave(WorkerId worker) noexcept { m_lanes[worker.index()].reset(); }

DeviceLauncher::Lane& DeviceLauncher::lane(WorkerId worker) const {
  if (worker.index() >= m_lanes.size() || !m_lanes[worker.index()]) {
    throw InternalError("worker " + std::to_string(worker.index()) + " has no device lane");
  }
  return *m_lanes[worker.index()];
}

// A kernel that throws may have enqueued work on the task's data before: wait for its end, then report the error in
// `poll`.
void DeviceLauncher::launch(WorkerId worker, Kernel kernel, KernelCall const& call, bool follows) {
  auto& to = lane(worker);
  if (to.launched - to.polled >= to.slots.size()) {
    throw InternalError("worker " + std::to_string(worker.index()) + " has " + std::to_string(to.slots.size()) +
                        " launches under way already");
  }
  auto& slot = to.slot(to.launched);
  *slot.report = {};
  slot.error = nullptr;
  slot.emulated = {.kernel = kernel,
                   .call = call,
                   .number = to.launched + 1,
                   .last_ran = &to.last_ran,
                   .follows = follows,
                   .engine = EngineScope::current()};
  auto& inner = slot.emulated.call;
  inner.instance = to.stream->instance();
  inner.report = slot.report;
  inner.result_bytes = slot.report->result_bytes.data();
  inner.storage = &to.storage;
  inner.workspace = {to.workspace.base(), to.workspace.bytes()};
  m_api->record(*slot.begin, *to.stream);
  try {
    if (m_api->emulated()) {
      slot.emulated.launches_kokkos_kernels = launches_kokkos_kernels(kernel);
      auto outer = inner;
      outer.parameters = &slot.emulated;
      m_api->launch(*to.stream, &run_emulated, outer);
    } else {
      m_api->launch(*to.stream, kernel, inner);
    }
  } catch (...) {
    slot.error = std::current_exception();
  }
  m_api->record(*slot.end, *to.stream);
  ++to.launched;
}

std::optional<LaunchEnd> DeviceLauncher::poll(WorkerId worker) {
  auto& of = lane(worker);
  if (of.polled == of.launched) return std::nullopt;
  auto& slot = of.slot(of.polled);
  LaunchEnd ended;
  ended.report = slot.report;
  try {
    if (!m_api->done(*slot.end)) return std::nullopt;
    ended.skipped = slot.emulated.skipped;
    ended.blocked = slot.emulated.blocked;
    if (!slot.error) {
      ended.duration = std::max(Duration(0), m_api->elapsed(*slot.begin, *slot.end) - ended.blocked);
    }
  } catch (...) {
    ended.error = std::current_exception();
  }
  if (slot.error) ended.error = std::exchange(slot.error, nullptr);
  ++of.polled;
  return ended;
}

}  // namespace granary::detail
