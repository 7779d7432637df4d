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

/// From its construction to its destruction, ends the process at SIGINT, SIGTERM, SIGHUP and SIGQUIT, and passes
/// SIGUSR1 on, which asks for the run's state. There is one at a time.
///
/// Who asked to be told (on_signal) has 0.5 s to end the run in order. After that, at a second signal, and at the
/// first one where nobody asked, a thread of this removes what is half written (detail::abandon_partial_files) and ends
/// the process with status 128 + number, whatever the other threads do: kernels, HDF5 and calls of the system do not
/// return for a signal.
class SignalWatch {
 public:
  SignalWatch();
  SignalWatch(SignalWatch const&) = delete;
  SignalWatch& operator=(SignalWatch const&) = delete;
  ~SignalWatch();

  /// Throws Interrupted when a signal has arrived.
  void check() const;
  /// From now on, the first signal also calls `function`, at once if it has arrived already; null: none. No call is
  /// under way on return.
  void on_signal(std::function<void(Interrupted const&)> function);
  /// From now on, SIGUSR1 calls `function`, once for all that have arrived meanwhile; null: the answer is that nothing
  /// runs. No call is under way on return.
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
  // The first thread only waits and ends the process; the second one makes calls, which may take their time.
  std::mutex m_work_mutex;
  std::condition_variable m_work;
  bool m_has_work = false;
  bool m_no_more_work = false;
  std::thread m_watcher;
  std::thread m_server;
};

}  // namespace granary::app
