// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/worker_lane.hpp>
#include <granary/detail/core/model/inner_graph.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <vector>

namespace granary::detail {

/// A task that runs as an inner graph: on its worker, and on workers that help.
struct GRANARY_EXPORT InnerRun {
  InnerRun(AccessList const& accesses, std::span<std::byte* const> addresses, std::span<Bytes const> pitches,
           WorkerLane& worker)
      : graph(accesses, addresses, pitches), parent(worker) {}

  InnerGraph graph;    // once published, under the pool's mutex
  WorkerLane& parent;  // waits for `finished`
  Duration busy{0};    // in its kernels, summed over workers; under the pool's mutex, too
  std::atomic<bool> finished = false;
};

/// The active inner graphs of one group of workers, for those workers that have nothing else to do. The planner does
/// not know about it. All member functions may be called from any of the group's threads.
class GRANARY_EXPORT InnerPool {
 public:
  /// A task of an inner graph; `run` is null if there is none.
  struct Taken {
    InnerRun* run = nullptr;
    Task const* task = nullptr;
  };

  explicit InnerPool(std::vector<WorkerLane*> lanes) : m_lanes(std::move(lanes)) {}

  /// True if the group has fewer tasks than its workers need, so that a task that starts should be shared.
  [[nodiscard]] bool scarce() const { return m_scarce.load(std::memory_order_relaxed); }
  void set_scarce(bool scarce) { m_scarce.store(scarce, std::memory_order_relaxed); }
  /// The workers of the group.
  [[nodiscard]] std::vector<WorkerLane*> const& lanes() const { return m_lanes; }

  /// True if an inner task is ready. Sequentially consistent: a worker's announcement that it sleeps is ordered against
  /// it.
  [[nodiscard]] bool has_ready() const { return m_ready.load() != 0; }
  /// Lets other workers take from the graph, which is completely submitted; wakes those that sleep.
  void publish(InnerRun& run);
  /// A ready task: of `preferred` if it has one, or else of the graph published first.
  Taken take(InnerRun* preferred);
  /// The task, run by `by`, ended; `error` is null on success. After the last task only the parent's worker may access
  /// `run`.
  void ended(Taken const& taken, Duration duration, std::exception_ptr error, WorkerLane const& by);
  /// Removes the finished graph; afterwards no other thread accesses it.
  void withdraw(InnerRun& run);

 private:
  void count_ready();
  void wake(std::size_t most, WorkerLane const& but);

  std::vector<WorkerLane*> const m_lanes;
  std::atomic<bool> m_scarce = false;
  alignas(64) std::atomic<std::size_t> m_ready = 0;  // of all graphs
  std::mutex m_mutex;
  std::vector<InnerRun*> m_runs;
};

}  // namespace granary::detail
