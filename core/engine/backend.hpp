// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/base/units.hpp>
#include <granary/core/model/codelet.hpp>
#include <granary/core/planner/command.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>

#pragma GCC visibility push(default)

namespace granary {

/// Is told, once and from any thread, that a copy ended: null when it succeeded.
using CopyCompletion = std::function<void(std::exception_ptr)>;

/// A datum whose bytes at its origin and home are `count` lines of `line` bytes, `pitch` bytes from one to the next. In
/// pools the lines are `packed` bytes apart, count * packed being the datum's size. No lines (count 0): the bytes are
/// contiguous everywhere.
struct Lines {
  Bytes line = 0;
  std::uint64_t count = 0;
  Bytes pitch = 0;
  Bytes packed = 0;
  bool operator==(Lines const&) const = default;
};

/// A copy to be performed. An end whose node's memory is addressable has an address; whoever performs the copy knows
/// where the datum lies on other nodes.
struct CopyRequest {
  DataId data;
  Place from;
  Place to;
  std::byte const* source = nullptr;  ///< null where `from` has no address
  std::byte* destination = nullptr;   ///< null where `to` has no address
  Bytes bytes = 0;
  Lines lines = {};  ///< of the datum; see `source_pitch` and `destination_pitch`

  /// Whether all bytes can go in one run: what lies between lines is the datum's own in pools, not at home.
  [[nodiscard]] bool contiguous() const {
    bool const between_pools = from.slot == Slot::Pool && to.slot == Slot::Pool;
    return lines.count == 0 || between_pools || (lines.line == lines.pitch && lines.line == lines.packed);
  }
  /// Bytes from one line to the next at either end; where there are no lines all is one line.
  [[nodiscard]] Bytes source_pitch() const { return from.slot == Slot::Pool ? lines.packed : lines.pitch; }
  [[nodiscard]] Bytes destination_pitch() const { return to.slot == Slot::Pool ? lines.packed : lines.pitch; }
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
  /// Runs the kernel and returns when its effects are complete. What it throws fails the task. Returns how long the
  /// worker was blocked before the kernel began, by kernels of other workers that it must not run beside.
  virtual Duration run(Kernel kernel, bool launches_kokkos_kernels, KernelCall const& call) = 0;
};

/// How a kernel that was launched ended.
struct LaunchEnd {
  Duration duration{0};                  ///< in the kernel alone
  Duration blocked{0};                   ///< before it began, by kernels that it must not run beside
  std::exception_ptr error;              ///< null when it ran; of a DeviceLost when nothing will run there again
  bool skipped = false;                  ///< it did not run, as what it follows failed
  KernelReport const* report = nullptr;  ///< valid until the worker's next launch
};

/// Runs kernels in the background, on lanes that perform what they are given in order. One thread, the driver, launches
/// and polls for any number of workers.
class LaunchBackend {
 public:
  virtual ~LaunchBackend() = default;
  /// Which kernel of a codelet these workers run; null: none. Called when the codelet is added, before any task.
  [[nodiscard]] virtual Kernel kernel_of(Codelet const& codelet) const = 0;
  /// Called on the driver's thread before the worker's first launch and after its last one ended.
  virtual void enter(WorkerId worker) = 0;
  virtual void leave(WorkerId) noexcept {}
  /// Enqueues the kernel behind those launched on the worker before, and does not wait. What the call points to stays
  /// until the launch was polled. The backend sets the call's instance, report, storage and workspace. What it throws
  /// fails the task, and nothing was enqueued. One that `follows` reads what the one launched before it writes: where
  /// that one has failed, or was skipped, by the time that it would start, it may be skipped.
  virtual void launch(WorkerId worker, Kernel kernel, KernelCall const& call, bool follows) = 0;
  /// The most launches of a worker that may be under way at once, at least 1.
  [[nodiscard]] virtual std::size_t most_launches() const = 0;
  /// Whether the oldest launch of the worker that was not reported yet ended, and how; each is reported once. Throws
  /// nothing.
  [[nodiscard]] virtual std::optional<LaunchEnd> poll(WorkerId worker) = 0;
};

/// A node's memory, taken once and given back once.
class NodeMemory {
 public:
  virtual ~NodeMemory() = default;
  /// Null for a memory of no bytes. Kernels of the node's workers and the copies of its links can use it; the host need
  /// not.
  [[nodiscard]] virtual std::byte* base() const = 0;
};

}  // namespace granary

#pragma GCC visibility pop
