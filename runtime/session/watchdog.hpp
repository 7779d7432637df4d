// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/engine.hpp>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace granary {

/// A thread that monitors progress. When there is work and no task and no transfer has ended for `timeout`, it calls
/// `report` with the elapsed time and the engine's state as text, once until something ends again.
class GRANARY_EXPORT Watchdog {
 public:
  using Report = std::function<void(Duration, std::string const&)>;

  /// The engine must outlive it.
  Watchdog(detail::Engine& engine, Duration timeout, Report report);
  Watchdog(Watchdog const&) = delete;
  Watchdog& operator=(Watchdog const&) = delete;
  ~Watchdog();

 private:
  void watch();

  detail::Engine& m_engine;
  Duration const m_timeout;
  Report m_report;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  bool m_stop = false;
  std::thread m_thread;
};

}  // namespace granary
