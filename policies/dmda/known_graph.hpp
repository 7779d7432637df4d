// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/task_graph.hpp>
#include <granary/detail/core/policy/system_view.hpp>
#include <granary/detail/core/policy/task_table.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace granary::detail {

/// The unfinished tasks of which a scheduler was told, with the dependencies that follow from their accesses in the
/// order of submission. The scheduler that owns it forwards its notifications. Dependencies through tasks that no
/// worker runs are missing, since schedulers are not told of these.
///
/// Costs are as for BasicTaskGraph; memory is O(unfinished tasks and their accesses).
class GRANARY_EXPORT KnownGraph {
 public:
  struct Node : Task {
    TaskId told;  ///< the scheduler's id of it
    bool waits = true;
    // Notes of a simulation.
    std::uint64_t simulation = 0;  ///< for which `left` and `placed` hold
    std::uint32_t left = 0;        ///< predecessors that have not ended there
    bool placed = false;           ///< some group has it there
    std::uint64_t timed = 0;       ///< the simulation for which `times` were asked
    std::array<Duration, worker_kinds> times{};
  };

  void attach(SystemView const& view) { m_view = &view; }
  void submitted(TaskId task);
  void ready(TaskId task);
  /// It has ended, unless the next notification says that it was submitted again.
  void finished(TaskId task);
  /// It was cancelled.
  void cancelled(TaskId task);

  /// Null for a task of which nothing was told.
  [[nodiscard]] Node* find(TaskId task);
  /// The tasks that the last one to end has released, and that were not reported ready yet. O(these).
  [[nodiscard]] std::vector<Node*> const& released();
  template <class Function>
  void for_each_successor(Node const& node, Function&& function) {
    m_graph.for_each_successor(node, [&](TaskId after) { function(m_graph[after]); });
  }

 private:
  void end_finished();
  void erase(TaskId task);

  SystemView const* m_view = nullptr;
  BasicTaskGraph<Node> m_graph;
  TaskTable<TaskId> m_ids;  // in the graph
  TaskId m_finished;        // may be submitted again
  std::vector<Node*> m_released;
};

}  // namespace granary::detail
