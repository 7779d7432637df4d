// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/backends/host_workers.hpp>

#include <granary/core/backends/kokkos_compat.hpp>
#include <granary/core/backends/machine_topology.hpp>
#include <granary/core/base/error.hpp>

#include <hwloc.h>
#include <spdlog/spdlog.h>

#include <mutex>

namespace granary {

namespace {

std::once_flag warned_of_lock;

// A failure to bind only costs speed.
void bind_this_thread(unsigned core) {
  auto* const topology = machine_topology();
  if (topology == nullptr) return;
  hwloc_bitmap_t const set = hwloc_bitmap_alloc();
  hwloc_bitmap_only(set, core);
  hwloc_set_cpubind(topology, set, HWLOC_CPUBIND_THREAD);
  hwloc_bitmap_free(set);
}

}  // namespace

struct HostWorkers::Instance {
  HostExecutionSpace space = make_host_instance();
};

HostWorkers::HostWorkers(std::size_t workers, std::vector<unsigned> cores)
    : m_cores(std::move(cores)), m_instances(workers) {
  if (!Kokkos::is_initialized()) throw InvalidArgument("Kokkos must be initialised before granary's workers start");
  if (m_cores.size() < workers) m_cores.clear();
}

HostWorkers::~HostWorkers() = default;

void const* HostWorkers::enter(WorkerId worker) {
  if (!m_cores.empty()) bind_this_thread(m_cores[worker.index()]);
  auto& instance = m_instances[worker.index()];
  instance = std::make_unique<Instance>();
  return &instance->space;
}

void HostWorkers::leave(WorkerId worker) noexcept { m_instances[worker.index()].reset(); }

Duration HostWorkers::run(Kernel kernel, bool launches_kokkos_kernels, KernelCall const& call) {
  if (!launches_kokkos_kernels) {
    kernel(call);
    return Duration{0};
  }
  if constexpr (!concurrent_host_kernels) {
    if (m_instances.size() > 1) {
      std::call_once(warned_of_lock, [] {
        spdlog::warn(
            "granary: Kokkos {}.{} cannot run host kernels concurrently, so task bodies that launch kernels run one at "
            "a time: use Kokkos 4.0 or newer, or declare 'static constexpr bool launches_kokkos_kernels = false;' in "
            "bodies that launch none",
            KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100);
      });
    }
  }
  HostKernelLock const lock;
  kernel(call);
  m_instances[call.worker.index()]->space.fence();
  return lock.blocked();
}

}  // namespace granary
