// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/bounds/kernel_time.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/graph_recorder.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <cstdint>

namespace granary {

/// Lower bounds of the time of any schedule of a graph on a machine, without transfers (Agullo, Beaumont,
/// Eyraud-Dubois, Kumar, "Are Static Schedules so Bad?", IPDPS 2016, section III; hal-01223573). Rounded down to
/// nanoseconds.
struct GRANARY_EXPORT TimeBounds {
  Duration area{0};           ///< without dependencies: the work, distributed optimally
  Duration critical_path{0};  ///< unlimited workers: the longest path, each task on its fastest worker
  Duration mixed{0};          ///< both combined; at least as large as either
  double flops = 0;           ///< of all tasks
  std::uint32_t paths = 0;    ///< paths that the mixed bound uses
  /// The mixed bound of all paths is larger by at most this part of it: what the longest path takes beyond it in the
  /// optimum for the paths used. Below the tolerance, or 1e-9, no path was left to add.
  double excess = 0;

  /// Upper bound of the operations per second of any schedule: flops / mixed. 0 without operations, infinite if they
  /// take no time.
  [[nodiscard]] double upper_bound_flops() const;
};

struct GRANARY_EXPORT BoundOptions {
  std::uint32_t most_paths = 64;  ///< maximum number of paths in the mixed bound, at least 1
  double tolerance = 1e-4;        ///< the mixed bound stops early if no path exceeds it by more than this, relatively
  /// If there are more pairs of codelet and operations, their times are rounded down until at most this many differ,
  /// for the area and the mixed bound. These stay valid and lose a few percent at most.
  std::uint32_t most_types = 2000;
};

/// The three bounds. Throws InvalidArgument if a time or a number of operations is negative or NaN, or no worker can
/// run a task. Cost per path: one pass over the tasks and a linear program of task types x classes of workers.
///
/// ```cpp
/// #include <granary/simulator.hpp>
/// #include <granary/workloads.hpp>
/// auto const platform = granary::Platform::find("v100x1");
/// granary::GraphRecorder graph;
/// granary::workloads::TiledCholesky({.tiles = 10}).submit(graph, {platform.home_node()});
/// auto const time = [&](granary::Codelet const& codelet, double flops, granary::Worker const& worker)
/// {
///   auto const model = granary::Platform::model_of(worker);
///   return std::optional(platform.kernel_time(codelet.name, flops, granary::Precision::Double, model));
/// };
/// auto const bounds = granary::time_bounds(graph, platform.machine, time);
/// std::printf("at least %g s, at most %g flop/s\n", granary::seconds(bounds.mixed), bounds.upper_bound_flops());
/// ```
[[nodiscard]] GRANARY_EXPORT TimeBounds time_bounds(detail::GraphRecorder const& graph, detail::Machine const& machine,
                                                    detail::KernelTime const& kernel_time, BoundOptions options = {});

/// One of the bounds; errors as above.
[[nodiscard]] GRANARY_EXPORT Duration area_bound(detail::GraphRecorder const& graph, detail::Machine const& machine,
                                                 detail::KernelTime const& kernel_time, BoundOptions options = {});
[[nodiscard]] GRANARY_EXPORT Duration critical_path(detail::GraphRecorder const& graph, detail::Machine const& machine,
                                                    detail::KernelTime const& kernel_time);

}  // namespace granary
