// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/engine/backend.hpp>
#include <granary/detail/core/engine/inner_pool.hpp>
#include <granary/detail/core/engine/mailbox.hpp>
#include <granary/detail/core/engine/worker_lane.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

namespace granary::detail {

/// The thread of one CPU worker: runs the tasks of its lane, and helps with inner graphs of its group.
class HostWorker {
 public:
  /// `recall`: called before it sleeps; may take tasks that wait for other workers, and so give this one some.
  HostWorker(WorkerLane& lane, WorkerBackend& backend, Mailbox& mailbox, std::atomic<bool> const& stopping,
             std::function<void()> recall)
      : m_lane(lane), m_backend(backend), m_mailbox(mailbox), m_stopping(stopping), m_recall(std::move(recall)) {}

  /// Until `stopping`.
  void run();

 private:
  using Clock = std::chrono::steady_clock;

  void run_task(LaneEntry& entry);
  void run_kernel(LaneEntry& entry, TaskEnd& end);
  void run_stoppable(LaneEntry& entry, TaskEnd& end);
  bool run_as_graph(LaneEntry& entry, TaskEnd& end);
  bool help(InnerRun* preferred);
  void announce_results(bool at_once = true);
  [[nodiscard]] bool helps() const { return m_lane.inner != nullptr && !m_unusable; }
  bool find_work();

  WorkerLane& m_lane;
  WorkerBackend& m_backend;
  Mailbox& m_mailbox;
  std::atomic<bool> const& m_stopping;
  std::function<void()> const m_recall;
  void const* m_instance = nullptr;
  std::exception_ptr m_unusable;                // why it cannot run anything, if it cannot
  Clock::time_point m_now;                      // the end of the task before, or when it found work
  std::uint32_t m_unannounced = 0;              // results
  std::uint32_t m_calls = 0;                    // of the mailbox, at the last announcement
  std::vector<std::byte*> m_inner_addresses{};  // of the inner task that it runs
};

}  // namespace granary::detail
