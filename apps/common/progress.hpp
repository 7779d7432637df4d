// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace granary::app {

/// Shows progress on stderr while it lives: current phase, tasks done, speed, time left. On a terminal it redraws one
/// line five times per second; with `seconds` it prints a line every so many seconds, to files too.
class Progress {
 public:
  struct How {
    bool quiet = false;  ///< prints nothing
    double seconds = 0;  ///< 0: redraws one line, and prints nothing if stderr is not a terminal
  };
  /// `done` returns the number of ended tasks, of `tasks`; it is called on the progress thread.
  Progress(std::string what, std::uint64_t tasks, double flops, How how, std::function<std::uint64_t()> done);
  Progress(Progress const&) = delete;
  Progress& operator=(Progress const&) = delete;
  /// Erases the line that is redrawn.
  ~Progress();

 private:
  void draw();

  std::string m_what;
  std::uint64_t m_tasks;
  double m_flops;
  How m_how;
  std::function<std::uint64_t()> m_done;
  std::chrono::steady_clock::time_point const m_start = std::chrono::steady_clock::now();
  std::mutex m_mutex;
  std::condition_variable m_changed;
  bool m_stop = false;
  std::thread m_thread;
};

/// `factoring  1234/5984 tasks  98.7 GFlop/s  12 s left`; the rate assumes that all tasks have the same number of
/// flops. With more tasks than expected, as in iterative refinement: `solving  6012 tasks`.
[[nodiscard]] std::string format_progress(std::string const& what, std::uint64_t done, std::uint64_t tasks,
                                          double flops, double seconds);

}  // namespace granary::app
