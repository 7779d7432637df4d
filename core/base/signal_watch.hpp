// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace granary {

/// The run was ended by a signal.
class GRANARY_EXPORT Interrupted : public Error {
 public:
  explicit Interrupted(int signal);
  [[nodiscard]] int signal() const { return m_signal; }
  /// The exit status of a program that this ended: 128 + number.
  [[nodiscard]] int status() const { return 128 + m_signal; }

 private:
  int m_signal;
};

namespace detail {
class SignalListeners;
}

/// While it lives, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR2 and SIGXCPU end the run in order, and SIGUSR1 asks for its
/// state. Make it the first object of `main`; there is one at a time. With `Runtime::cancel_on(signals)` the first of
/// these signals cancels the tasks of that Runtime, whose waits throw Interrupted, and SIGUSR1 prints
/// `Runtime::describe` to standard error while the run goes on. A signal that is ignored when it begins, as SIGHUP
/// under nohup, stays ignored.
///
/// The application then has 0.5 s to end: it may catch Interrupted and return `status()`, or catch nothing, which ends
/// the process with the same status. After that, at a second signal, or at the first one if nothing listens, a thread
/// removes incomplete output files and ends the process with that status. It does not wait for other threads: kernels,
/// HDF5 and system calls do not return for a signal.
///
/// SIGUSR1 does not end the process from the constructor on, nor afterwards: after the destructor it is ignored unless
/// the application had a handler for it. Costs two threads, which sleep.
///
/// ```cpp
/// #include <granary/signals.hpp>
/// granary::SignalWatch signals;
/// granary::Runtime runtime;
/// runtime.cancel_on(signals);
/// try {
///   // ... runtime.submit(...)
///   runtime.wait();
/// } catch (granary::Interrupted const& error) {
///   std::exit(error.status());
/// }
/// ```
class GRANARY_EXPORT SignalWatch {
 public:
  /// Functions called on a thread of the watch. If one throws, standard error says so, and the others are called.
  struct Actions {
    std::function<void(Interrupted const&)> on_signal = {};  ///< once, for the first signal that ends the run
    std::function<void()> on_state_request = {};             ///< for SIGUSR1, once for all that arrived meanwhile
  };

  /// Throws InvalidArgument if there is one already, and Error if the system has no thread or descriptor for it.
  SignalWatch();
  SignalWatch(SignalWatch const&) = delete;
  SignalWatch& operator=(SignalWatch const&) = delete;
  ~SignalWatch();

  /// Throws Interrupted if a signal has arrived; for long work outside of tasks.
  void check() const;
  /// These are called while the result exists, which may outlive the watch: `on_signal` at once if a signal has arrived
  /// already. No call is running when the destructor of the result has ended. Without any `on_state_request`, SIGUSR1
  /// prints that no tasks are running.
  [[nodiscard]] std::shared_ptr<void const> listen(Actions actions) const;

 private:
  void start_threads();
  void watch();
  void serve();
  void end_server();

  std::shared_ptr<detail::SignalListeners> m_listeners;
  std::atomic<bool> m_stop = false;
  // The first thread only waits and ends the process; the second one makes the calls, which may be slow.
  std::mutex m_work_mutex;
  std::condition_variable m_work;
  bool m_has_work = false;
  bool m_no_more_work = false;
  std::thread m_watcher;
  std::thread m_server;
};

}  // namespace granary
