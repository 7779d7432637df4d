// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace granary::detail {

class LaneStorage;

/// A task writes varying data by its first accesses only, as many as these.
inline constexpr std::size_t most_results = 8;

/// The result of a kernel that runs in the background, in memory that both it and the host can access. Zero when the
/// kernel starts.
struct GRANARY_EXPORT KernelReport {
  std::int64_t info = 0;                           ///< as in LAPACK: 0 on success
  double value = 0;                                ///< a number for the error message
  std::array<Bytes, most_results> result_bytes{};  ///< by access: the bytes that the kernel has left in varying data
};

/// A kernel leaves its value of a varying datum here.
struct GRANARY_EXPORT KernelResult {
  std::byte* data = nullptr;  ///< null: the datum has a fixed size, or the task does not write it
  Bytes room = 0;             ///< bytes there
};

/// A worker's task that shall stop, if any, and whether its body has seen that.
struct GRANARY_EXPORT StopRequest {
  std::atomic<TaskId::rep> task = TaskId().value();
  std::atomic<bool> seen = false;
};

/// Tells the body of a restartable task whether it shall stop (Codelet::restartable). It may be copied, also to other
/// threads on which the body works.
///
/// ```cpp
/// granary::detail::StopRequest request;
/// granary::detail::StopToken const token(request, granary::TaskId(7));
/// assert(!token.requested() && !request.seen);
/// request.task = 7;
/// assert(token.requested() && request.seen);
/// assert(!granary::detail::StopToken().requested());
/// ```
class GRANARY_EXPORT StopToken {
 public:
  /// Of a task that is never stopped.
  StopToken() = default;
  StopToken(StopRequest& request, TaskId task) : m_request(&request), m_task(task) {}

  /// True if the body shall return soon, with whatever result: once one of the token's copies has said so, neither what
  /// the body writes nor what it throws counts, and it runs again later. A few nanoseconds.
  [[nodiscard]] bool requested() const noexcept {
    if (m_request == nullptr || m_request->task.load(std::memory_order_relaxed) != m_task.value()) return false;
    m_request->seen.store(true, std::memory_order_relaxed);
    return true;
  }

 private:
  StopRequest* m_request = nullptr;
  TaskId m_task;
};

/// The arguments of a kernel.
struct GRANARY_EXPORT KernelCall {
  std::span<std::byte* const> data;  ///< one address per access, in the order of submission
  /// One per access: bytes from one line of the datum to the next if it is used in place with gaps between its lines, 0
  /// if its bytes are packed. Empty: all are packed.
  std::span<Bytes const> pitches = {};
  /// One per access: the bytes of its datum's value; empty: no datum varies.
  std::span<Bytes const> bytes = {};
  /// The same for what the task writes; and where the kernel says how many bytes it has written, 0 before.
  std::span<KernelResult const> results = {};
  Bytes* result_bytes = nullptr;
  void const* parameters = nullptr;  ///< the task's own parameters
  /// The worker's execution-space instance; the worker's kind determines its type.
  void const* instance = nullptr;
  /// Of a CPU worker of several cores, an instance that uses all of them, a TeamExecutionSpace; else null.
  void const* team = nullptr;
  WorkerId worker;
  char const* name = nullptr;  ///< the codelet's, for tools
  StopToken stop = {};         ///< of a restartable codelet's task on a CPU worker; others are never stopped
  // Only for workers that run kernels in the background; null and empty for others.
  KernelReport* report = nullptr;
  LaneStorage* storage = nullptr;
  std::span<std::byte> workspace = {};  ///< the lane's, in its node's memory, until the kernel ends

  [[nodiscard]] Bytes pitch(std::size_t access) const { return pitches.empty() ? 0 : pitches[access]; }
};

/// An operation's implementation for one kind of worker. An exception fails the task. A device kernel enqueues its work
/// on the given instance and neither waits nor fences.
using Kernel = void (*)(KernelCall const&);

/// Called on the host after a background kernel has ended. An exception fails the task.
using Check = void (*)(void const* parameters, KernelReport const& report);

class InnerGraph;

/// Emits to the graph the finer tasks that replace the task with these parameters, on parts of its data and with the
/// same result as its kernel. If it emits nothing, the kernel runs.
using Expansion = void (*)(void const* parameters, InnerGraph& graph);

/// A bound of the bytes that a task with these parameters leaves in the varying datum of its access `result`, which it
/// writes. `bytes`: by access, of the data's values before it. The datum's own bound limits it, too.
using ResultBytes = Bytes (*)(void const* parameters, std::span<Bytes const> bytes, std::size_t result);

/// An operation with a name and its kernels; a null kernel means that this kind of worker cannot run it.
struct GRANARY_EXPORT Codelet {
  std::string name;
  std::array<Kernel, worker_kinds> kernels{};
  /// True if host kernels launch Kokkos kernels (parallel_for, …): before Kokkos 4.0 these run one at a time.
  bool launches_kokkos_kernels = true;
  /// Distinguishes codelets of the same name with different run times: "s", "d", "c" or "z" for the precision.
  /// Performance models keep one record per name and variant.
  std::string variant = {};
  /// Runs a task as a finer graph, on several workers of a group of CPU workers; null: never.
  Expansion expand = nullptr;
  /// Evaluates a device kernel's report; null: the report is ignored.
  Check check = nullptr;
  /// No worker runs it, and it has no kernels: its tasks stand for something outside, which the driver begins when
  /// their predecessors have ended, and whose end it reports. Schedulers are told of their ends alone; they count among
  /// the unfinished uses of data.
  bool external = false;
  /// It is external, and its tasks stand for tasks of another process: they do not count as tasks of this one.
  bool stub = false;
  /// A worker may stop it before its end, and it runs again: until it has ended, the values that it overwrites are kept
  /// where other memories hold them, and aside if the scheduler aborts tasks. CPU workers stop it through
  /// KernelCall::stop, at which its kernel looks from time to time.
  bool restartable = false;
  /// Of tasks that write varying data; null: these data's own bounds count.
  ResultBytes result_bytes = nullptr;

  [[nodiscard]] bool runs_on(WorkerKind kind) const { return kernels[static_cast<std::size_t>(kind)] != nullptr; }
};

}  // namespace granary::detail
