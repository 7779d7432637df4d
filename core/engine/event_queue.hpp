// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/planner/event.hpp>

#include <mutex>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// Events from any thread, for the next thread that drains the planner. Workers' results do not pass here: each worker
/// has its own ring.
class EventQueue {
 public:
  void push(Event event) {
    std::lock_guard const lock(m_mutex);
    m_events.push_back(std::move(event));
  }
  /// All events, oldest first. `taken` is overwritten; its memory is reused.
  void take(std::vector<Event>& taken) {
    taken.clear();
    std::lock_guard const lock(m_mutex);
    std::swap(m_events, taken);
  }

 private:
  std::mutex m_mutex;
  std::vector<Event> m_events;
};

}  // namespace granary

#pragma GCC visibility pop
