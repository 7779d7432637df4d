// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/export.hpp>
#include <granary/core/engine/backend.hpp>

#include <memory>
#include <vector>

namespace granary {

/// Host workers: each thread has its own Kokkos execution-space instance, KernelCall::instance (a HostExecutionSpace),
/// and is bound to one core.
///
/// Before Kokkos 4.0 host kernels must not run concurrently: kernels of codelets that launch some then share one lock
/// per process, and one warning says so. Kokkos must be initialised.
class GRANARY_EXPORT HostWorkers final : public WorkerBackend {
 public:
  /// `cores` are hardware threads by the system's numbers, see HostResources. With fewer cores than workers, no thread
  /// is bound, and one warning says so; with no cores, no thread is bound and there is no warning.
  HostWorkers(std::size_t workers, std::vector<unsigned> cores);
  ~HostWorkers() override;

  void const* enter(WorkerId worker) override;
  void leave(WorkerId worker) noexcept override;
  Duration run(Kernel kernel, bool launches_kokkos_kernels, KernelCall const& call) override;

 private:
  struct Instance;

  std::vector<unsigned> m_cores;
  std::vector<std::unique_ptr<Instance>> m_instances;  // by worker
};

}  // namespace granary
