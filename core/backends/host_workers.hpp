// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/engine/backend.hpp>

#include <memory>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// Host workers: each thread has a Kokkos execution-space instance of its own, KernelCall::instance (a
/// HostExecutionSpace), and is bound to one core.
///
/// Where Kokkos' host kernels must not run concurrently (before 4.0), kernels of codelets that launch some take one
/// lock of the whole process; this is said once, in a warning. Kokkos must be initialised.
class HostWorkers final : public WorkerBackend {
 public:
  /// `cores` are hardware threads by the system's numbers, see HostResources. With fewer cores than workers nothing is
  /// bound, which is said once, in a warning; with none nothing is bound, and nothing said.
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

#pragma GCC visibility pop
