// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/policy/system_view.hpp>

#include <algorithm>

namespace granary::detail {

/// The estimated time of the task's kernel on the fastest of its groups. O(groups that may run it).
[[nodiscard]] inline Duration shortest_time(SystemView const& view, TaskId task) {
  Duration shortest = Duration::max();
  for (GroupId const group : view.task(task).allowed_groups)
    shortest = std::min(shortest, view.kernel_time(task, group));
  return shortest;
}

}  // namespace granary::detail
