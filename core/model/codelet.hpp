// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/model/machine.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#pragma GCC visibility push(default)

namespace granary {

class LaneStorage;

/// What a kernel that runs in the background says of its outcome: memory that it and the host reach. All zero when it
/// starts.
struct KernelReport {
  std::int64_t info = 0;  ///< in LAPACK's sense: 0 when all is well
  double value = 0;       ///< what a message may quote
};

/// What a kernel is handed when it runs.
struct KernelCall {
  std::span<std::byte* const> data;  ///< one address per access, in the order of submission
  /// One per access: bytes from one line of the datum to the next where it is used in place with gaps between its
  /// lines, 0 where its bytes are packed. Empty: all are packed.
  std::span<Bytes const> pitches = {};
  void const* parameters = nullptr;  ///< the task's own parameters
  /// The worker's execution-space instance, of the type that the worker's kind implies.
  void const* instance = nullptr;
  WorkerId worker;
  char const* name = nullptr;  ///< the codelet's, for tools
  // Of workers that run kernels in the background; null and empty on others.
  KernelReport* report = nullptr;
  LaneStorage* storage = nullptr;
  std::span<std::byte> workspace = {};  ///< of the lane, in its node's memory, until the kernel ends

  [[nodiscard]] Bytes pitch(std::size_t access) const { return pitches.empty() ? 0 : pitches[access]; }
};

/// An operation's implementation for one kind of worker. What it throws fails the task. One for devices enqueues what
/// it does on the instance it is handed, and neither waits nor fences.
using Kernel = void (*)(KernelCall const&);

/// Called on the host when a kernel that ran in the background ended. What it throws fails the task.
using Check = void (*)(void const* parameters, KernelReport const& report);

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
  /// What becomes of a device kernel's report; null: nothing.
  Check check = nullptr;

  [[nodiscard]] bool runs_on(WorkerKind kind) const { return kernels[static_cast<std::size_t>(kind)] != nullptr; }
};

}  // namespace granary

#pragma GCC visibility pop
