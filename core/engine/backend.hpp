// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/base/units.hpp>
#include <granary/core/model/codelet.hpp>
#include <granary/core/planner/command.hpp>

#include <cstddef>
#include <exception>
#include <functional>

namespace granary {

/// Is told, once and from any thread, that a copy ended: null when it succeeded.
using CopyCompletion = std::function<void(std::exception_ptr)>;

/// A copy to be performed. An end whose node's memory is addressable has an address; whoever performs the copy knows
/// where the datum lies on other nodes.
struct CopyRequest {
  DataId data;
  Place from;
  Place to;
  std::byte const* source = nullptr;  ///< null where `from` has no address
  std::byte* destination = nullptr;   ///< null where `to` has no address
  Bytes bytes = 0;
};

/// Performs the copies of some links.
class CopyBackend {
 public:
  virtual ~CopyBackend() = default;
  /// Starts the copy and returns without waiting for it; any number may be under way. Called from any thread, never
  /// under the engine's lock. A failure arrives through `done`, or is thrown before `done` was called.
  virtual void copy_async(CopyRequest const& request, CopyCompletion done) = 0;
  /// The datum is gone; its id may name another one from now on. Called under the engine's lock: must be quick, and
  /// must not call the engine.
  virtual void forget(DataId) {}
};

/// Runs kernels on the threads of the workers.
class WorkerBackend {
 public:
  virtual ~WorkerBackend() = default;
  /// Called on the worker's own thread before its first kernel; returns what KernelCall::instance will be.
  virtual void const* enter(WorkerId worker) = 0;
  /// Called on the worker's own thread after its last kernel.
  virtual void leave(WorkerId) noexcept {}
  /// Runs the kernel and returns when its effects are complete. What it throws fails the task.
  virtual void run(Kernel kernel, bool launches_kokkos_kernels, KernelCall const& call) = 0;
};

}  // namespace granary
