// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/model/machine.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace granary {

/// What a kernel is handed when it runs.
struct KernelCall {
  std::span<std::byte* const> data;  ///< one address per access, in the order of submission
  void const* parameters = nullptr;  ///< the task's own parameters
  void const* instance =
      nullptr;  ///< the worker's execution-space instance, of the type that the worker's kind implies
  WorkerId worker;
};

/// An operation's implementation for one kind of worker. What it throws fails the task.
using Kernel = void (*)(KernelCall const&);

class InnerGraph;

/// Emits to the graph what the task of these parameters runs as, on parts of its data: the same result as its kernel's.
/// Where it emits nothing, the kernel runs.
using Expansion = void (*)(void const* parameters, InnerGraph& graph);

/// An operation with a name and its kernels; a null kernel means that this kind of worker cannot run it.
struct Codelet {
  std::string name;
  std::array<Kernel, worker_kinds> kernels{};
  /// Whether host kernels launch Kokkos kernels (parallel_for, …): before Kokkos 4.0 these run one at a time.
  bool launches_kokkos_kernels = true;
  /// Tells apart what has the same name but other times: "s" or "d" for the precision. Performance models keep one
  /// record per name and variant.
  std::string variant = {};
  /// Whether and how a task may run as a finer graph, on several workers of a group of CPU workers; null: never.
  Expansion expand = nullptr;

  [[nodiscard]] bool runs_on(WorkerKind kind) const { return kernels[static_cast<std::size_t>(kind)] != nullptr; }
};

}  // namespace granary
