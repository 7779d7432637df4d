// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/error.hpp>

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

/// Turns SIGINT, SIGTERM and SIGHUP, which end a run, and SIGUSR1, which asks for its state, into calls on a thread of
/// its own, from its construction to its destruction. There is one at a time.
class SignalWatch {
 public:
  SignalWatch();
  SignalWatch(SignalWatch const&) = delete;
  SignalWatch& operator=(SignalWatch const&) = delete;
  ~SignalWatch();

  /// Throws Interrupted when a signal has arrived.
  void check();
  /// From now on, the first signal also calls `function`, at once if it has arrived already; null: none. No call is
  /// under way on return.
  void on_signal(std::function<void(Interrupted const&)> function);
  /// From now on, SIGUSR1 calls `function`; null: it is told that nothing runs. No call is under way on return.
  void on_state_request(std::function<void()> function);

 private:
  void watch();

  std::mutex m_mutex;
  int m_signal = 0;
  std::function<void(Interrupted const&)> m_function;
  std::function<void()> m_tell_state;
  std::thread m_thread;
};

}  // namespace granary::app
