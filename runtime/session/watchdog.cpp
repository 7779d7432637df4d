// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/session/watchdog.hpp>

#include <granary/detail/core/base/start_thread.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace granary {

using namespace detail;

namespace {

std::uint64_t count_ended(Statistics const& statistics) {
  auto ended = statistics.tasks_run + statistics.tasks_failed + statistics.tasks_cancelled;
  for (auto const& link : statistics.links) ended += link.transfers;
  return ended;
}

}  // namespace

Watchdog::Watchdog(Engine& engine, Duration timeout, Report report)
    : m_engine(engine),
      m_timeout(timeout),
      m_report(std::move(report)),
      m_thread(start_thread("the watchdog", [this] { watch(); })) {}

Watchdog::~Watchdog() {
  {
    std::lock_guard const lock(m_mutex);
    m_stop = true;
  }
  m_changed.notify_all();
  m_thread.join();
}

void Watchdog::watch() {
  using std::chrono::steady_clock;
  auto const interval = std::clamp<Duration>(m_timeout / 8, std::chrono::milliseconds(1), std::chrono::seconds(1));
  std::uint64_t ended = 0;
  auto since = steady_clock::now();
  bool reported = false;
  std::unique_lock lock(m_mutex);
  while (!m_changed.wait_for(lock, interval, [this] { return m_stop; })) {
    lock.unlock();  // the engine may start copies, and writing a report takes time
    auto const statistics = m_engine.statistics();
    auto const now = steady_clock::now();
    if (auto const count = count_ended(statistics.planner); statistics.idle || count != ended) {
      ended = count;
      since = now;
      reported = false;
    } else if (!reported && now - since >= m_timeout) {
      reported = true;
      m_report(std::chrono::duration_cast<Duration>(now - since), m_engine.describe());
    }
    lock.lock();
  }
}

}  // namespace granary
