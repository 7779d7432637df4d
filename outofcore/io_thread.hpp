// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace granary::detail {

/// Starts a thread that receives no signals, named `name` (at most 15 characters) for debuggers.
[[nodiscard]] GRANARY_EXPORT std::thread start_io_thread(char const* name, std::function<void()> body);

/// One thread that performs actions in order, and sleeps while there is none. For libraries that only one thread at a
/// time may use. The destructor performs the remaining actions and joins the thread.
class GRANARY_EXPORT SerialThread {
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

}  // namespace granary::detail
