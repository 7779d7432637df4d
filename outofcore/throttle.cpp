// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/outofcore/throttle.hpp>

#include <algorithm>
#include <utility>

#include <granary/detail/outofcore/io_thread.hpp>

namespace granary::detail {

Throttle::TimePoint Throttle::reserve(TimePoint now, Bytes bytes) {
  m_free_at = std::max(now, m_free_at) + from_seconds(static_cast<double>(bytes) / m_bytes_per_second);
  return m_free_at;
}

TimedCalls::TimedCalls() : m_thread(start_io_thread("granary-throttl", [this] { run(); })) {}

TimedCalls::~TimedCalls() {
  {
    std::lock_guard lock(m_mutex);
    m_stop = true;
  }
  m_changed.notify_one();
  m_thread.join();
}

void TimedCalls::call_at(Throttle::TimePoint when, std::function<void()> function) {
  std::lock_guard lock(m_mutex);
  m_calls.emplace(when, std::move(function));
  m_changed.notify_one();
}

void TimedCalls::run() {
  std::unique_lock lock(m_mutex);
  for (;;) {
    if (m_calls.empty()) {
      if (m_stop) return;
      m_changed.wait(lock);
      continue;
    }
    auto const when = m_calls.begin()->first;
    if (std::chrono::steady_clock::now() < when) {
      m_changed.wait_until(lock, when);
      continue;
    }
    auto function = std::move(m_calls.begin()->second);
    m_calls.erase(m_calls.begin());
    lock.unlock();
    function();
    function = nullptr;
    lock.lock();
  }
}

}  // namespace granary::detail
