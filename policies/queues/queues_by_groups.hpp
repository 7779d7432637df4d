// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/group_set.hpp>

#include <cstdint>
#include <deque>
#include <unordered_set>
#include <utility>
#include <vector>

namespace granary::detail {

/// A queue for QueuesByGroups: tasks in the order of their arrival.
class GRANARY_EXPORT FifoQueue {
 public:
  struct Entry {
    std::uint64_t arrival;
    TaskId task;
    bool operator<(Entry const& other) const { return arrival < other.arrival; }
  };
  [[nodiscard]] bool empty() const { return m_entries.empty(); }
  [[nodiscard]] Entry const& front() const { return m_entries.front(); }
  void push(Entry entry) { m_entries.push_back(entry); }
  void pop() { m_entries.pop_front(); }

 private:
  std::deque<Entry> m_entries;
};

/// Queues of tasks, one per set of allowed groups, so that tasks for one group never block tasks of another.
///
/// `Queue` has empty(), front(), push(Entry) and pop(). Its `Entry` has `task` and operator<, which orders entries by
/// when they should run. Cancelled tasks stay until they reach the front. Taking costs O(distinct sets) plus the
/// queue's own cost.
template <class Queue>
class GRANARY_EXPORT QueuesByGroups {
 public:
  using Entry = typename Queue::Entry;

  void push(GroupSet allowed_groups, Entry entry) { of(allowed_groups).push(entry); }

  /// The first entry that is allowed on the group, valid until the next call; null when there is none.
  [[nodiscard]] Entry const* first(GroupId group) {
    Queue* const best = best_for(group);
    return best == nullptr ? nullptr : &best->front();
  }

  /// Takes the first task that is allowed on the group; invalid when there is none.
  [[nodiscard]] TaskId take(GroupId group) {
    Queue* const best = best_for(group);
    if (best == nullptr) return {};
    TaskId const task = best->front().task;
    best->pop();
    return task;
  }

  void cancel(TaskId task) { m_cancelled.insert(task); }

 private:
  Queue& of(GroupSet groups) {
    for (auto& [key, queue] : m_queues) {
      if (key == groups) return queue;
    }
    return m_queues.emplace_back(groups, Queue{}).second;
  }
  [[nodiscard]] Queue* best_for(GroupId group) {
    Queue* best = nullptr;
    for (auto& [groups, queue] : m_queues) {
      if (!groups.contains(group)) continue;
      drop_cancelled(queue);
      if (queue.empty()) continue;
      if (best == nullptr || queue.front() < best->front()) best = &queue;
    }
    return best;
  }
  void drop_cancelled(Queue& queue) {
    while (!m_cancelled.empty() && !queue.empty() && m_cancelled.erase(queue.front().task) != 0) queue.pop();
  }

  std::vector<std::pair<GroupSet, Queue>> m_queues;
  std::unordered_set<TaskId> m_cancelled;
};

}  // namespace granary::detail
