// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/outside_work.hpp>

#include <granary/detail/core/base/start_thread.hpp>
#include <granary/detail/core/engine/engine_scope.hpp>
#include <granary/detail/core/engine/poll_pause.hpp>

#include <chrono>

namespace granary::detail {

OutsideWork::~OutsideWork() {
  {
    std::lock_guard const lock(m_mutex);
    m_stopping = true;
  }
  m_changed.notify_one();
  if (m_thread.joinable()) m_thread.join();
}

void OutsideWork::expect() {
  if (m_thread.joinable()) return;
  m_thread = start_thread("work outside", [this] { run(); });
}

void OutsideWork::begin(TaskId task, Ended const& ended) {
  {
    std::lock_guard const lock(m_mutex);
    m_new.push_back({task, &ended});
  }
  m_changed.notify_one();
}

void OutsideWork::run() {
  EngineScope const scope(&m_engine);
  PollPause pause(std::chrono::milliseconds(1));
  Duration nap{0};
  std::vector<Begun> begun;
  for (;;) {
    {
      std::unique_lock lock(m_mutex);
      auto const changed = [this] { return m_stopping || !m_new.empty(); };
      if (begun.empty()) {
        m_changed.wait(lock, changed);
      } else if (nap > Duration{0}) {
        m_changed.wait_for(lock, nap, changed);
      }
      if (m_stopping) return;
      if (!m_new.empty()) pause.progress();
      begun.insert(begun.end(), m_new.begin(), m_new.end());
      m_new.clear();
    }
    auto const ended = std::erase_if(begun, [this](Begun const& one) { return report_end(one); });
    if (ended > 0) pause.progress();
    nap = pause.nap();
    if (nap == Duration{0}) spin_pause();
  }
}

bool OutsideWork::report_end(Begun const& begun) const {
  std::exception_ptr error;
  try {
    if (!(*begun.ended)()) return false;
  } catch (...) {
    error = std::current_exception();
  }
  m_report(begun.task, std::move(error));
  return true;
}

}  // namespace granary::detail
