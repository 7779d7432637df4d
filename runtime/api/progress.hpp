// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace granary {

class Runtime;

/// The work of a Runtime since a Progress began, in this process.
struct GRANARY_EXPORT ProgressFigures {
  std::uint64_t tasks_done = 0;       ///< have ended: they ran, failed or were cancelled
  std::uint64_t tasks_submitted = 0;  ///< may still grow
  std::uint64_t tasks_expected = 0;   ///< ProgressOptions::tasks
  double seconds = 0;
  Bytes bytes_read = 0;  ///< from files: matrices and scratch
  Bytes bytes_written = 0;
  Bytes memory_used = 0;  ///< now, under the limit
  Bytes memory_limit = 0;
};

struct GRANARY_EXPORT ProgressOptions {
  std::uint64_t tasks = 0;  ///< that will be submitted while it lives; 0: unknown, those submitted so far count
  double flops = 0;         ///< of all these tasks: the speed is in GFlop/s; 0: in tasks per second
  bool quiet = false;       ///< nothing is printed
  double line_seconds = 0;  ///< between lines, also in files; 0: one line that is redrawn, and only on a terminal
  /// Called on a thread of the Progress, and a last time at its end. It may use the Runtime, but not destroy the
  /// Progress. If it throws, the error is logged and it is not called again.
  std::function<void(ProgressFigures const&)> callback = {};
  double callback_seconds = 1;  ///< between calls
};

/// Shows progress on standard error while it lives: what the run does, tasks done, speed, time left. On a terminal it
/// redraws one line five times per second; with `line_seconds` it prints a line every so many seconds. The time left
/// assumes that every task has the same amount of work, and that no more are submitted than those known. The Runtime
/// must outlive it. Without a line and a callback it costs nothing, otherwise one thread, and about 1 µs per look.
///
/// ```cpp
/// #include <granary/progress.hpp>
/// granary::Runtime runtime;
/// granary::Progress const bar(runtime, "kriging", {.callback = [](granary::ProgressFigures const& now) {
///                               std::printf("%g s: %d tasks\n", now.seconds, static_cast<int>(now.tasks_done));
///                             }});
/// // ... runtime.submit(...)
/// runtime.wait();
/// assert(bar.figures().tasks_done == bar.figures().tasks_submitted);
/// ```
class GRANARY_EXPORT Progress {
 public:
  /// Throws InvalidArgument unless `line_seconds` is finite and at least 0 and `callback_seconds` is finite and
  /// positive, and Error if the system starts no thread.
  Progress(Runtime& runtime, std::string what, ProgressOptions options = {});
  Progress(Progress const&) = delete;
  Progress& operator=(Progress const&) = delete;
  /// Erases the line that is redrawn.
  ~Progress();

  /// Up to now.
  [[nodiscard]] ProgressFigures figures() const;

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] ProgressFigures look() const;
  [[nodiscard]] bool shows() const;
  void follow();
  void show_line() const;
  void call();

  Runtime& m_runtime;
  std::string m_what;
  ProgressOptions m_options;
  Clock::time_point const m_start = Clock::now();
  ProgressFigures m_first;  // when it began
  std::mutex m_mutex;
  std::condition_variable m_changed;
  bool m_stop = false;
  std::thread m_thread;
};

/// `factoring  1234/5984 tasks  98.7 GFlop/s  12 s left`; without `flops` the speed is in tasks/s. With more tasks than
/// expected, as in iterative refinement: `solving  6012 tasks`.
[[nodiscard]] GRANARY_EXPORT std::string format_progress(std::string const& what, ProgressFigures const& figures,
                                                         double flops = 0);

}  // namespace granary
