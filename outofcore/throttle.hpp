// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

namespace granary::detail {

/// The bookkeeping of a channel of fixed bandwidth: each transfer occupies the channel for bytes / bandwidth, in the
/// order of `reserve`. It has no clock.
class GRANARY_EXPORT Throttle {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// `bytes_per_second` is at least 1.
  explicit Throttle(Bytes bytes_per_second) : m_bytes_per_second(static_cast<double>(bytes_per_second)) {}

  /// The earliest end of a transfer of `bytes` that is requested at `now`. Idle time is not saved up.
  TimePoint reserve(TimePoint now, Bytes bytes);

 private:
  double m_bytes_per_second;
  TimePoint m_free_at{};
};

/// Calls functions at given times, in the order of these times, on one thread that sleeps in between. The destructor
/// waits until every function was called.
class GRANARY_EXPORT TimedCalls {
 public:
  TimedCalls();
  TimedCalls(TimedCalls const&) = delete;
  TimedCalls& operator=(TimedCalls const&) = delete;
  ~TimedCalls();

  void call_at(Throttle::TimePoint when, std::function<void()> function);

 private:
  void run();

  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::multimap<Throttle::TimePoint, std::function<void()>> m_calls;
  bool m_stop = false;
  std::thread m_thread;
};

}  // namespace granary::detail
