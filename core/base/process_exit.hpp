// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <atomic>

namespace granary::detail {

/// While it lives, the calling thread works with what exit() destroys: the state of libraries and static objects. When
/// the process exits, each thread stops where it begins to work, or at `stop_if_exiting`, and static objects are
/// destroyed when none works any more. The thread that exits is never stopped.
///
/// Costs an atomic addition at each end, on a counter of the process.
class GRANARY_EXPORT Working {
 public:
  Working() { begin(); }
  ~Working() { end(); }
  Working(Working const&) = delete;
  Working& operator=(Working const&) = delete;

  /// While it lives, the thread sleeps, and does not work whatever it has begun.
  class GRANARY_EXPORT Rest {
   public:
    Rest() : m_begun(rest()) {}
    ~Rest() { resume(m_begun); }
    Rest(Rest const&) = delete;
    Rest& operator=(Rest const&) = delete;

   private:
    int m_begun;
  };

  /// A working thread calls this before it takes on more work. Takes nanoseconds.
  static void stop_if_exiting() {
    if (exiting().load(std::memory_order_relaxed)) stop();
  }

 private:
  static std::atomic<bool>& exiting();
  static void begin();
  static void end();
  static int rest();
  static void resume(int begun);
  static void stop();
  friend GRANARY_EXPORT void stop_work_at_exit();
  static void end_work(int status, void*);
};

/// From now on exit() stops the work of this process's threads, before the exit handlers that are registered now: call
/// it when what they use has registered its own. If a thread still works after 5 s, the process ends without these
/// handlers, with a sentence on standard error. A child that was forked has no such threads: its exit stops nobody.
GRANARY_EXPORT void stop_work_at_exit();

/// True if the calling thread is in exit(), which has stopped the work: it must not wait for any. Other threads that
/// wait do so until the process has ended.
[[nodiscard]] GRANARY_EXPORT bool exits_here();

}  // namespace granary::detail
