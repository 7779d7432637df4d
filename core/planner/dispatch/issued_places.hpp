// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/planner/command.hpp>
#include <granary/detail/core/planner/dispatch/live_task.hpp>
#include <granary/detail/core/planner/movement/movement.hpp>

#include <cstdint>
#include <vector>

namespace granary::detail {

/// The memory to which the RunCommands of the tasks that workers have point. It is used again: nothing is allocated
/// once as many tasks as now were with workers before.
class GRANARY_EXPORT IssuedPlaces {
 public:
  explicit IssuedPlaces(Movement const& movement) : m_movement(movement) {}

  /// Completes the command with the places of the task's data on the node, valid until `let_go`. The task works there
  /// already (`Movement::begin_work`). O(accesses).
  void show(LiveTask& task, NodeId node, Keep keep, RunCommand& command);
  void let_go(LiveTask& task);

 private:
  struct Buffer {
    std::vector<Place> places;
    std::vector<VaryingPlaces> varying;
    std::vector<KeptValue> kept;
  };

  void list_varying(LiveTask const& task, Buffer& buffer) const;
  void list_kept(LiveTask const& task, Buffer& buffer) const;

  Movement const& m_movement;
  std::vector<Buffer> m_buffers;
  std::vector<std::uint32_t> m_free;  // of these
};

}  // namespace granary::detail
