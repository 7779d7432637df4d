// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/core/policy/task_table.hpp>
#include <granary/detail/policies/policy_options.hpp>
#include <granary/detail/policies/queues/queues_by_groups.hpp>

#include <cstdint>
#include <queue>
#include <string>
#include <vector>

namespace granary::detail {

/// PaRSEC's absolute priority, AP (DARTS, section 4.4): all groups share one queue; the ready task of the highest
/// priority runs next, among equals the first submitted.
///
/// If workers differ, load is balanced by theoretical performance: when a group asks, the head of the queue is assigned
/// to the group with the smallest load + cost. A task's cost is its operations at the peak of the group's workers (the
/// estimated kernel time if either is unknown), plus the time to bring its inputs, except those that another task
/// assigned to the group brings. A group's load is the cost of its assigned, unfinished tasks divided by its workers.
/// So a group skips heads that are better elsewhere; these wait in the other group's plan, and more urgent tasks may
/// still pass them. A slow group that would end last gets nothing. A busy group skips at most `look_ahead` heads. An
/// idle group skips until it finds a head or has assigned all: then there is no task left that it should run, and every
/// task waits for a group that works or has yet to ask.
///
/// The option `balance`: `auto` (if workers differ, the default), `always`, `never`, or `parsec`: the head goes to the
/// group that PaRSEC would choose (Hierarchical paper, section IV.D; gpu_zgemm of DPLASMA at the time of the paper), by
/// numbers of tasks, without times or transfers. A group's weight is the inverse of the theoretical peak of all its
/// workers, and its load the number of its assigned, unfinished tasks times its weight. The task goes to the device
/// that has most of the data that it writes, else to the group with the smallest load + weight. Locality counts written
/// data only: with data that are only read, the first device to have a panel would get all tasks that read it.
class GRANARY_EXPORT PrioScheduler final : public Scheduler {
 public:
  explicit PrioScheduler(PolicyOptions& options)
      : m_balance(options.choice("balance", "auto", {"auto", "always", "never", "parsec"})) {}

  void attach(SystemView const& view, PlanBoard& board) override;
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override;
  void finished(TaskId task) override { unload(task); }
  [[nodiscard]] bool keeps_plans() const override { return true; }

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
  struct Load {
    Duration cost{0};
    std::size_t tasks = 0;
  };
  struct Assigned {
    GroupId group;
    Duration cost{0};
  };

  [[nodiscard]] Assigned best_group(Task const& task) const;
  [[nodiscard]] Assigned owner(Task const& task) const;
  [[nodiscard]] Assigned least_loaded(Task const& task) const;
  [[nodiscard]] Duration weight(GroupId group) const;
  [[nodiscard]] Duration computation(Task const& task, GroupId group) const;
  void load(TaskId task, Assigned assigned);
  void unload(TaskId task);

  std::string m_balance;
  bool m_balances = false;
  SystemView const* m_view = nullptr;
  PlanBoard* m_board = nullptr;
  QueuesByGroups<Heap> m_queues;
  std::vector<Load> m_loads;  // by group
  TaskTable<Assigned> m_assigned;
};

}  // namespace granary::detail
