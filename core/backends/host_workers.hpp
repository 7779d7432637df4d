// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/core_groups.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/engine/backend.hpp>

#include <memory>
#include <vector>

namespace granary::detail {

/// Host workers: each thread has its own Kokkos execution-space instance, KernelCall::instance (a HostExecutionSpace),
/// and is bound to its cores. A worker of several cores has a team of threads besides, one for each, which are bound
/// to the same cores: KernelCall::team.
///
/// Before Kokkos 4.0 host kernels must not run concurrently: kernels of codelets that launch some then share one lock
/// per process, and one warning says so. Kokkos must be initialised.
class GRANARY_EXPORT HostWorkers final : public WorkerBackend {
 public:
  /// With fewer groups than workers no thread is bound. Throws InvalidArgument for several cores per worker if this
  /// Kokkos has no TeamExecutionSpace.
  explicit HostWorkers(std::size_t workers, std::vector<CoreGroup> groups = {}, unsigned cores_per_worker = 1);
  ~HostWorkers() override;

  /// Throws Error if OpenMP starts fewer threads than the worker has cores.
  void const* enter(WorkerId worker) override;
  void leave(WorkerId worker) noexcept override;
  Duration run(Kernel kernel, bool launches_kokkos_kernels, KernelCall const& call) override;

 private:
  struct Instance;

  std::vector<CoreGroup> m_groups;  // by worker; empty: none is bound
  unsigned m_cores_per_worker;
  std::vector<std::unique_ptr<Instance>> m_instances;  // by worker
};

/// Throws InvalidArgument unless this Kokkos has instances for workers of that many cores each: several need Kokkos 4.0
/// with OpenMP.
GRANARY_EXPORT void check_cores_per_worker(unsigned cores_per_worker);

}  // namespace granary::detail
