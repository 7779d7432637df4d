// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#pragma GCC visibility push(default)

namespace granary {

/// Starts a thread that receives no signals, named `name` (at most 15 characters) for debuggers.
[[nodiscard]] std::thread start_io_thread(char const* name, std::function<void()> body);

/// One thread that performs actions in order, and sleeps while there is none. For libraries that only one thread at a
/// time may use. The destructor performs the remaining actions and joins the thread.
class SerialThread {
 public:
  explicit SerialThread(char const* name);
  SerialThread(SerialThread const&) = delete;
  SerialThread& operator=(SerialThread const&) = delete;
  ~SerialThread();

  /// Returns at once; the action must not throw.
  void post(std::function<void()> action);

 private:
  void run();

  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::deque<std::function<void()>> m_actions;
  bool m_stop = false;
  std::thread m_thread;
};

}  // namespace granary

#pragma GCC visibility pop
