// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/graph_recorder.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace granary {

namespace detail {

struct GRANARY_EXPORT LongestPath {
  double length = 0;
  std::vector<std::size_t> tasks;  ///< numbers in the recorder, in the order in which they run
};

}  // namespace detail

/// The longest path of dependent tasks, where task t takes `time_of_class[class_of[t]]`, at least 0. A reader depends
/// on the last writer of a datum, a writer on the last writer and the readers since, as in TaskGraph; tasks that
/// commute do not depend on each other. Ties go to the path whose last task was submitted first. Costs O(tasks +
/// accesses).
///
/// ```cpp
/// #include <granary/workloads.hpp>
/// granary::GraphRecorder graph;
/// granary::workloads::TiledCholesky({.tiles = 10}).submit(graph, {granary::NodeId(0)});
/// std::vector<std::uint32_t> class_of;
/// for (auto const& task : graph.tasks()) class_of.push_back(task.codelet.value());
/// std::vector<double> const times(graph.codelets().size(), 1.0);  // by codelet
/// assert(granary::longest_path(graph, class_of, times).length == 28);  // potrf, trsm, syrk, potrf, ...
/// ```
[[nodiscard]] GRANARY_EXPORT detail::LongestPath longest_path(detail::GraphRecorder const& graph,
                                                              std::span<std::uint32_t const> class_of,
                                                              std::span<double const> time_of_class);

}  // namespace granary
