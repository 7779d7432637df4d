// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/task_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace granary {

/// The bottom level of each task in nanoseconds: the time from its start to the end of the graph on an unbounded
/// machine (DARTS, section 6.1). `time(n)` is the Duration of the n-th task; none has finished. O(tasks + edges).
template <class Time>
[[nodiscard]] std::vector<std::int64_t> bottom_levels(TaskGraph const& graph, Time&& time) {
  std::vector<std::int64_t> levels(graph.submitted());
  for (std::size_t i = levels.size(); i-- > 0;) {
    std::int64_t below = 0;
    graph.for_each_successor(graph[TaskId(i)], [&](TaskId after) { below = std::max(below, levels[after.index()]); });
    levels[i] = below + time(i).count();
  }
  return levels;
}

}  // namespace granary
