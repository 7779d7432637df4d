// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/schedules/search/list_problem.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace granary::search {

/// The input of a list schedule: by task, a priority (higher ones first, then the task submitted first) and the class
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

/// Makes schedules of plans: whenever a worker is idle, it starts the ready task of its class with the highest
/// priority.
class GRANARY_EXPORT PlanScheduler {
 public:
  virtual ~PlanScheduler() = default;
  /// The makespan in nanoseconds. Each task's class must be able to run it.
  virtual Duration::rep schedule(ListPlan const& plan) = 0;
  /// Of the latest schedule.
  [[nodiscard]] virtual ListTimes const& times() const = 0;
};

/// Without transfers, O(tasks log tasks + edges) for each schedule. Keeps its memory from one to the next.
///
/// ```cpp
/// #include <granary/workloads.hpp>
/// granary::GraphRecorder graph;
/// granary::workloads::TiledCholesky({.tiles = 2}).submit(graph, {granary::NodeId(0)});
/// granary::Machine machine;
/// machine.add_worker({.name = "core", .node = machine.add_node({.name = "host"})});
/// granary::search::ListProblem const problem(graph, machine, [](auto const&, double, auto const&) {
///   return std::optional<granary::Duration>(std::chrono::seconds(1));
/// });
/// granary::search::ListScheduler scheduler(problem);
/// granary::search::ListPlan const in_order{.priorities = {4, 3, 2, 1}, .classes = {0, 0, 0, 0}};
/// assert(scheduler.schedule(in_order) == 4'000'000'000);  // four tasks, one after the other
/// ```
class GRANARY_EXPORT ListScheduler final : public PlanScheduler {
 public:
  /// The problem must outlive the scheduler.
  explicit ListScheduler(ListProblem const& problem);

  Duration::rep schedule(ListPlan const& plan) override;
  [[nodiscard]] ListTimes const& times() const override { return m_times; }

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

}  // namespace granary::search
