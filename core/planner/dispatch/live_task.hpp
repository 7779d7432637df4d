// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/task_graph.hpp>

#include <cstdint>

namespace granary::detail {

struct TaskPlaces;

/// A task that has not ended, and how far it has come.
struct LiveTask : Task {
  [[no_unique_address]] Assignment assignment;
  bool varies = false;     ///< it accesses varying data
  bool cancelled = false;  ///< will not run: it depends on a failure, or the run was cancelled
  /// Of a handover: how many data of its list are home.
  std::uint32_t home = 0;
  TaskPlaces* places = nullptr;  ///< of a task that a worker has (IssuedPlaces)

  /// True if it is a handover (Overlaps): the planner itself performs it, and nobody outside knows of it.
  [[nodiscard]] bool handover() const { return !codelet.valid(); }
};

using LiveTasks = BasicTaskGraph<LiveTask>;

}  // namespace granary::detail
