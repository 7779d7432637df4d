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

/// Progress on stderr, from construction to destruction: what is being done, tasks done, speed, time left. A line that
/// changes five times a second where that is a terminal; or, wherever it is, a line every `seconds`.
class Progress {
 public:
  struct How {
    bool quiet = false;  ///< nothing at all
    double seconds = 0;  ///< 0: a line that changes, and nothing where stderr is no terminal
  };
  /// `done` gives the number of tasks that have ended, of `tasks`; it is called on a thread of the line's own.
  Progress(std::string what, std::uint64_t tasks, double flops, How how, std::function<std::uint64_t()> done);
  Progress(Progress const&) = delete;
  Progress& operator=(Progress const&) = delete;
  /// Takes the line that changes away.
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

/// `factoring  1234/5984 tasks  98.7 GFlop/s  12 s left`; the rate counts every task as an equal share of the flops.
/// Once there were more tasks than that, as where a solution is refined, `solving  6012 tasks`.
[[nodiscard]] std::string format_progress(std::string const& what, std::uint64_t done, std::uint64_t tasks,
                                          double flops, double seconds);

}  // namespace granary::app
