// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/policy_set.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace granary::detail {

/// A thread for long computations of a scheduler, which needs no lock of the engine. It starts with the first of them,
/// and gives the memory that they have freed back to the system.
class GRANARY_EXPORT BackgroundThread final : public MetaScheduler::Background {
 public:
  BackgroundThread() = default;
  /// Ends the work that is under way, which is not wanted any more, and drops what has not begun.
  ~BackgroundThread() override;
  BackgroundThread(BackgroundThread const&) = delete;
  BackgroundThread& operator=(BackgroundThread const&) = delete;

  /// Works are called one after the other. If the system refuses the thread, calls the work at once.
  void start(Work work) override;
  /// The same policies, whose scheduler computes here if it has long computations.
  [[nodiscard]] PolicySet serve(PolicySet policies);

 private:
  void run();
  [[nodiscard]] bool stopping();

  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::deque<Work> m_works;  // not begun
  bool m_stopping = false;
  std::thread m_thread;
};

}  // namespace granary::detail
