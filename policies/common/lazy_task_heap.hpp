// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace granary::detail {

/// A task and its priority; the one that runs first is the greatest: higher priority, then earlier submission.
struct GRANARY_EXPORT RankedTask {
  std::int64_t priority = 0;
  TaskId task;
  friend bool operator==(RankedTask const&, RankedTask const&) = default;
  friend bool operator<(RankedTask const& a, RankedTask const& b) {
    return a.priority != b.priority ? a.priority < b.priority : b.task < a.task;
  }
};

/// A heap of tasks with lazy deletion: tasks that left the set are dropped when they reach the top, or outnumber the
/// rest.
///
/// `live(task)` tells whether the task is still in the set; a task may be pushed several times. Push and top cost O(log
/// size) amortised.
class GRANARY_EXPORT LazyTaskHeap {
 public:
  /// `live_count` is the size of the set, including this task.
  template <class Live>
  void push(RankedTask task, std::size_t live_count, Live&& live) {
    m_tasks.push_back(task);
    if (m_tasks.size() > 2 * live_count + 16) {
      clean(live);
    } else {
      std::push_heap(m_tasks.begin(), m_tasks.end());
    }
  }

  /// The first task of the set; an invalid id when the set is empty.
  template <class Live>
  [[nodiscard]] RankedTask top(Live&& live) {
    while (!m_tasks.empty() && !live(m_tasks.front().task)) {
      std::pop_heap(m_tasks.begin(), m_tasks.end());
      m_tasks.pop_back();
    }
    return m_tasks.empty() ? RankedTask{} : m_tasks.front();
  }

  void assign(std::vector<RankedTask> tasks) {
    m_tasks = std::move(tasks);
    std::make_heap(m_tasks.begin(), m_tasks.end());
  }

 private:
  template <class Live>
  void clean(Live&& live) {
    std::erase_if(m_tasks, [&](RankedTask const& entry) { return !live(entry.task); });
    std::sort(m_tasks.begin(), m_tasks.end(), [](RankedTask const& a, RankedTask const& b) { return b < a; });
    m_tasks.erase(std::unique(m_tasks.begin(), m_tasks.end()), m_tasks.end());  // a sorted array is a heap
  }

  std::vector<RankedTask> m_tasks;
};

}  // namespace granary::detail
