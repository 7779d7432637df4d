// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/export.hpp>
#include <granary/core/base/units.hpp>
#include <granary/workloads/search/list_problem.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace granary {

/// What a list schedule follows: by task, a priority (higher ones first, then the task submitted first) and the class
/// of workers that runs it.
struct GRANARY_EXPORT ListPlan {
  std::vector<double> priorities;
  std::vector<std::uint32_t> classes;
};

/// When and where each task runs.
struct GRANARY_EXPORT ListTimes {
  std::vector<Duration::rep> starts;   ///< nanoseconds
  std::vector<std::uint32_t> workers;  ///< numbers in the machine
  /// The task whose end let this one start: a predecessor, or the one before it on a worker of its class; the task
  /// itself if it starts at 0.
  std::vector<std::uint32_t> causes;
  std::uint32_t last = 0;  ///< a task that ends last
};

/// List scheduling: whenever a worker is idle, it starts the ready task of its class with the highest priority. Keeps
/// its memory from one schedule to the next.
class GRANARY_EXPORT ListScheduler {
 public:
  /// The problem must outlive the scheduler.
  explicit ListScheduler(ListProblem const& problem);

  /// The makespan in nanoseconds. Each task's class must be able to run it. O(tasks log tasks + edges).
  Duration::rep operator()(ListPlan const& plan);
  /// Of the latest schedule.
  [[nodiscard]] ListTimes const& times() const { return m_times; }

 private:
  struct Ready {
    double priority;
    std::uint32_t task;
    // The one that runs first is the greatest.
    bool operator<(Ready const& other) const {
      return priority != other.priority ? priority < other.priority : task > other.task;
    }
  };
  struct Running {
    Duration::rep end;
    std::uint32_t task;
    bool operator<(Running const& other) const { return end != other.end ? end > other.end : task > other.task; }
  };
  struct ClassState {
    std::vector<Ready> ready;         // a heap
    std::vector<std::uint32_t> idle;  // workers; the last one is the next to get a task
    std::uint32_t freed_by = 0;       // the task that ended last on one of its workers
  };

  void start_ready(Duration::rep now);
  void end_tasks(Duration::rep now, ListPlan const& plan);
  void release(std::uint32_t task, ListPlan const& plan, std::uint32_t cause);

  ListProblem const& m_problem;
  std::vector<ClassState> m_classes;
  std::vector<Running> m_running;  // a heap
  std::vector<std::uint32_t> m_missing;
  std::vector<Duration::rep> m_ready_since;  // by task
  ListTimes m_times;
};

}  // namespace granary
