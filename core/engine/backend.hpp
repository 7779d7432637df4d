// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/lines.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/core/planner/command.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>

namespace granary::detail {

/// Called once, on any thread, when a copy ended; the argument is null on success.
using CopyCompletion = std::function<void(std::exception_ptr)>;

/// A requested copy. An end has an address if its node's memory is addressable; for other nodes the backend knows the
/// location of the datum.
struct GRANARY_EXPORT CopyRequest {
  DataId data;
  Place from;
  Place to;
  std::byte const* source = nullptr;  ///< null if `from` has no address
  std::byte* destination = nullptr;   ///< null if `to` has no address
  Bytes bytes = 0;
  Lines lines = {};  ///< of the datum; see `source_pitch` and `destination_pitch`

  /// True if all bytes can be copied at once: in pools the gaps between lines belong to the datum, at home they do not.
  [[nodiscard]] bool contiguous() const {
    bool const between_pools = from.slot == Slot::Pool && to.slot == Slot::Pool;
    return lines.count == 0 || between_pools || (lines.line == lines.pitch && lines.line == lines.packed);
  }
  /// Bytes from one line to the next at either end; without lines the whole datum is one line.
  [[nodiscard]] Bytes source_pitch() const { return from.slot == Slot::Pool ? lines.packed : lines.pitch; }
  [[nodiscard]] Bytes destination_pitch() const { return to.slot == Slot::Pool ? lines.packed : lines.pitch; }
};

/// Performs the copies of some links.
class GRANARY_EXPORT CopyBackend {
 public:
  virtual ~CopyBackend() = default;
  /// Starts the copy and returns without waiting for it; any number may be active. Called from any thread, never under
  /// the engine's lock. A failure is passed to `done`, or thrown before `done` was called.
  virtual void copy_async(CopyRequest const& request, CopyCompletion done) = 0;
  /// The datum was forgotten; its id may be reused from now on. Called under the engine's lock: must be quick, and must
  /// not call the engine.
  virtual void forget(DataId) {}
};

/// Runs kernels on the threads of the workers.
class GRANARY_EXPORT WorkerBackend {
 public:
  virtual ~WorkerBackend() = default;
  /// Called on the worker's own thread before its first kernel; returns the value for KernelCall::instance.
  virtual void const* enter(WorkerId worker) = 0;
  /// Called on the worker's own thread after its last kernel.
  virtual void leave(WorkerId) noexcept {}
  /// Runs the kernel and returns when it is complete. An exception fails the task. Returns how long the worker was
  /// blocked before the kernel by kernels of other workers that must not run concurrently.
  virtual Duration run(Kernel kernel, bool launches_kokkos_kernels, KernelCall const& call) = 0;
};

/// The outcome of a launched kernel.
struct GRANARY_EXPORT LaunchEnd {
  Duration duration{0};                  ///< of the kernel alone
  Duration blocked{0};                   ///< time before it, blocked by kernels that must not run concurrently
  std::exception_ptr error;              ///< null on success; a DeviceLost means that nothing can run there again
  bool skipped = false;                  ///< it did not run, because the kernel that it follows failed
  KernelReport const* report = nullptr;  ///< valid until the worker's next launch
};

/// Runs kernels in the background, on lanes that run them in order. One thread, the driver, launches and polls for any
/// number of workers.
class GRANARY_EXPORT LaunchBackend {
 public:
  virtual ~LaunchBackend() = default;
  /// The kernel of a codelet that these workers run; null: none. Called when the codelet is added, before any task.
  [[nodiscard]] virtual Kernel kernel_of(Codelet const& codelet) const = 0;
  /// Called on the driver's thread, before the worker's first launch and after its last one ended.
  virtual void enter(WorkerId worker) = 0;
  virtual void leave(WorkerId) noexcept {}
  /// Enqueues the kernel behind the worker's earlier ones and does not wait. The memory that the call points to stays
  /// valid until the launch was polled. The backend sets the call's instance, report, storage and workspace. An
  /// exception fails the task and means that nothing was enqueued. A kernel with `follows` reads what the launch before
  /// it writes; it may be skipped if that launch has failed or was skipped.
  virtual void launch(WorkerId worker, Kernel kernel, KernelCall const& call, bool follows) = 0;
  /// The maximum number of active launches per worker, at least 1.
  [[nodiscard]] virtual std::size_t most_launches() const = 0;
  /// The outcome of the worker's oldest launch that was not reported yet; empty while it runs. Each is reported once.
  /// Does not throw.
  [[nodiscard]] virtual std::optional<LaunchEnd> poll(WorkerId worker) = 0;
};

/// A node's memory, allocated once and freed once.
class GRANARY_EXPORT NodeMemory {
 public:
  virtual ~NodeMemory() = default;
  /// Null for a memory of 0 bytes. Accessible to kernels of the node's workers and to the copies of its links, but not
  /// necessarily to the host.
  [[nodiscard]] virtual std::byte* base() const = 0;
};

}  // namespace granary::detail
