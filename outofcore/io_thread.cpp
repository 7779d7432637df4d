// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/outofcore/io_thread.hpp>

#include <granary/detail/core/base/start_thread.hpp>

#include <pthread.h>
#include <signal.h>

#include <utility>

namespace granary::detail {

std::thread start_io_thread(char const* name, std::function<void()> body) {
  // A thread inherits the signal mask of the thread that starts it.
  sigset_t all;
  sigset_t previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  std::thread thread;
  try {
    thread = start_thread(std::string("input and output (") + name + ")", std::move(body));
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  pthread_setname_np(thread.native_handle(), name);
  return thread;
}

SerialThread::SerialThread(char const* name) : m_thread(start_io_thread(name, [this] { run(); })) {}

SerialThread::~SerialThread() {
  {
    std::lock_guard lock(m_mutex);
    m_stop = true;
  }
  m_changed.notify_one();
  m_thread.join();
}

void SerialThread::post(std::function<void()> action) {
  // Under the lock: once the action can run, a waiter may destroy this object.
  std::lock_guard lock(m_mutex);
  m_actions.push_back(std::move(action));
  m_changed.notify_one();
}

void SerialThread::run() {
  std::unique_lock lock(m_mutex);
  for (;;) {
    m_changed.wait(lock, [this] { return m_stop || !m_actions.empty(); });
    if (m_actions.empty()) return;
    auto action = std::move(m_actions.front());
    m_actions.pop_front();
    lock.unlock();
    action();
    action = nullptr;
    lock.lock();
  }
}

}  // namespace granary::detail
