// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/export.hpp>
#include <granary/core/policy/scheduler.hpp>
#include <granary/policies/schedulers/queues_by_groups.hpp>

#include <cstdint>
#include <deque>

namespace granary {

/// EAGER (DARTS, section 4.1): all groups share one queue; tasks run in the order in which they became ready.
class GRANARY_EXPORT EagerScheduler final : public Scheduler {
 public:
  void attach(SystemView const& view, PlanBoard& board) override;
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override;
  [[nodiscard]] bool heeds_priorities() const override { return false; }
  [[nodiscard]] bool hand_over(TaskId, GroupId) override { return true; }

 private:
  class Fifo {
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

  SystemView const* m_view = nullptr;
  QueuesByGroups<Fifo> m_queues;
  std::uint64_t m_arrivals = 0;
};

}  // namespace granary
