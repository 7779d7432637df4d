// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/planner/command.hpp>
#include <granary/detail/core/planner/dispatch/live_task.hpp>
#include <granary/detail/core/planner/movement/movement.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace granary::detail {

/// The memory to which the RunCommand of one task points.
struct GRANARY_EXPORT TaskPlaces {
  std::vector<Place> places;  // by access as far as they go; the rest is of earlier tasks
  std::vector<VaryingPlaces> varying;
  std::vector<KeptValue> kept;
  TaskPlaces* next = nullptr;  // in the list of those without a task
};

/// The memory to which the RunCommands of the tasks that workers have point. It is used again: nothing is allocated
/// once as many tasks as now were with workers before.
class GRANARY_EXPORT IssuedPlaces {
 public:
  explicit IssuedPlaces(Movement const& movement) : m_movement(movement) {}

  /// Completes the command with the places of the task's data on the node, valid until `let_go`. The task works there
  /// already (`Movement::begin_work`). O(accesses).
  void show(LiveTask& task, NodeId node, Keep keep, RunCommand& command);
  void let_go(LiveTask& task) {
    task.places->next = m_free;
    m_free = std::exchange(task.places, nullptr);
  }

 private:
  void list_varying(LiveTask const& task) const;
  void list_kept(LiveTask const& task) const;

  Movement const& m_movement;
  std::vector<std::unique_ptr<TaskPlaces>> m_all;
  TaskPlaces* m_free = nullptr;  // the last that was let go
};

}  // namespace granary::detail
