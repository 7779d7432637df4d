// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/policy/scheduler.hpp>
#include <granary/policies/schedulers/queues_by_mask.hpp>

#include <cstdint>
#include <queue>
#include <vector>

namespace granary {

/// PaRSEC's absolute priority, AP (DARTS, section 4.4): one queue that all groups share; the ready task of the highest
/// priority runs next, of equal ones the one that was submitted first.
class PrioScheduler final : public Scheduler {
 public:
  void attach(SystemView const& view, PlanBoard& board) override;
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  void cancelled(TaskId task) override;

 private:
  class Heap {
   public:
    struct Entry {
      std::int64_t priority;
      TaskId task;
      bool operator<(Entry const& other) const {
        return priority != other.priority ? priority > other.priority : task < other.task;
      }
    };
    [[nodiscard]] bool empty() const { return m_entries.empty(); }
    [[nodiscard]] Entry const& front() const { return m_entries.top(); }
    void push(Entry entry) { m_entries.push(entry); }
    void pop() { m_entries.pop(); }

   private:
    struct Later {
      bool operator()(Entry const& a, Entry const& b) const { return b < a; }
    };
    std::priority_queue<Entry, std::vector<Entry>, Later> m_entries;
  };

  SystemView const* m_view = nullptr;
  QueuesByMask<Heap> m_queues;
};

}  // namespace granary
