// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/error.hpp>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace granary::app {

/// The run was ended by a signal.
class Interrupted : public Error {
 public:
  explicit Interrupted(int signal);
  [[nodiscard]] int signal() const { return m_signal; }

 private:
  int m_signal;
};

/// While it lives, ends the process at SIGINT, SIGTERM, SIGHUP and SIGQUIT, and forwards SIGUSR1, which requests the
/// run's state. There is one at a time.
///
/// The function given to on_signal has 0.5 s to end the run in order. After that, at a second signal, or at the first
/// one without such a function, a thread removes incomplete files (detail::abandon_partial_files) and ends the process
/// with status 128 + number. It does not wait for other threads: kernels, HDF5 and system calls do not return for a
/// signal.
class SignalWatch {
 public:
  SignalWatch();
  SignalWatch(SignalWatch const&) = delete;
  SignalWatch& operator=(SignalWatch const&) = delete;
  ~SignalWatch();

  /// Throws Interrupted if a signal has arrived.
  void check() const;
  /// From now on, the first signal also calls `function`, at once if it has arrived already; null: none. No call is
  /// running on return.
  void on_signal(std::function<void(Interrupted const&)> function);
  /// From now on, SIGUSR1 calls `function`, once for all that arrived meanwhile; null: prints that nothing runs. No
  /// call is running on return.
  void on_state_request(std::function<void()> function);

 private:
  void watch();
  void serve();
  void end_server();

  std::mutex m_mutex;  // held during calls
  std::function<void(Interrupted const&)> m_function;
  std::function<void()> m_tell_state;
  bool m_called = false;
  std::atomic<bool> m_has_function = false;
  std::atomic<bool> m_stop = false;
  // The first thread only waits and ends the process; the second one makes the calls, which may be slow.
  std::mutex m_work_mutex;
  std::condition_variable m_work;
  bool m_has_work = false;
  bool m_no_more_work = false;
  std::thread m_watcher;
  std::thread m_server;
};

}  // namespace granary::app
