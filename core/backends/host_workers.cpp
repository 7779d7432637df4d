// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/host_workers.hpp>

#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/backends/machine_topology.hpp>
#include <granary/detail/core/base/error.hpp>

#include <hwloc.h>
#include <spdlog/spdlog.h>

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace granary::detail {

namespace {

std::once_flag warned_of_lock;

using Cores = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

// A failure to bind only costs speed.
void bind_this_thread(hwloc_const_bitmap_t cores) {
  if (auto* const topology = machine_topology()) hwloc_set_cpubind(topology, cores, HWLOC_CPUBIND_THREAD);
}

// The first kernel starts the team's threads, which stay. OpenMP may have bound them to its own places.
void start_team(TeamExecutionSpace const& team, unsigned threads, hwloc_const_bitmap_t cores) {
  std::vector<std::thread::id> ids(threads);
  auto* const first = ids.data();
  Kokkos::parallel_for("granary: start a team", Kokkos::RangePolicy<TeamExecutionSpace>(team, 0, threads), [=](int i) {
    first[i] = std::this_thread::get_id();
    if (cores != nullptr) bind_this_thread(cores);
  });
  if (auto const started = std::set(ids.begin(), ids.end()).size(); started < threads) {
    throw Error("OpenMP started " + std::to_string(started) + " of the " + std::to_string(threads) +
                " threads of a worker: raise OMP_THREAD_LIMIT and unset OMP_DYNAMIC, or use fewer cores per worker");
  }
}

}  // namespace

struct HostWorkers::Instance {
  HostExecutionSpace space = make_host_instance();
  std::optional<TeamExecutionSpace> team = {};
};

void check_cores_per_worker(unsigned cores_per_worker) {
  if (cores_per_worker <= 1 || has_team_space) return;
  throw InvalidArgument("workers of " + std::to_string(cores_per_worker) +
                        " cores each need Kokkos 4.0 or newer with OpenMP, and this is Kokkos " +
                        std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) +
                        " with " + HostExecutionSpace::name() +
                        " (--cores-per-worker, GRANARY_CORES_PER_WORKER, RuntimeOptions::cores_per_worker)");
}

HostWorkers::HostWorkers(std::size_t workers, std::vector<CoreGroup> groups, unsigned cores_per_worker)
    : m_groups(std::move(groups)), m_cores_per_worker(cores_per_worker), m_instances(workers) {
  if (!Kokkos::is_initialized()) throw InvalidArgument("Kokkos must be initialised before granary's workers start");
  check_cores_per_worker(cores_per_worker);
  if (m_groups.size() < workers) m_groups.clear();
}

HostWorkers::~HostWorkers() = default;

void const* HostWorkers::enter(WorkerId worker) {
  Cores cores(nullptr, &hwloc_bitmap_free);
  if (!m_groups.empty()) {
    cores.reset(hwloc_bitmap_alloc());
    for (unsigned const core : m_groups[worker.index()].cores) hwloc_bitmap_set(cores.get(), core);
    bind_this_thread(cores.get());
  }
  hold_blas_limit();
  auto& instance = m_instances[worker.index()];
  instance = std::make_unique<Instance>();
  if (m_cores_per_worker > 1) {
    instance->team.emplace(make_team_instance(static_cast<int>(m_cores_per_worker)));
    start_team(*instance->team, m_cores_per_worker, cores.get());
  }
  return &instance->space;
}

void HostWorkers::leave(WorkerId worker) noexcept { m_instances[worker.index()].reset(); }

Duration HostWorkers::run(Kernel kernel, bool launches_kokkos_kernels, KernelCall const& call) {
  if (m_cores_per_worker > 1) {
    auto const& instance = *m_instances[call.worker.index()];
    KernelCall with_team = call;
    with_team.team = &*instance.team;
    kernel(with_team);
    if (launches_kokkos_kernels) {
      instance.space.fence();
      instance.team->fence();
    }
    return Duration{0};
  }
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

}  // namespace granary::detail
