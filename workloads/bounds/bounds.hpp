// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>
#include <granary/core/model/graph_recorder.hpp>
#include <granary/core/model/machine.hpp>

#include <cstdint>
#include <functional>
#include <optional>

#pragma GCC visibility push(default)

namespace granary {

/// The time of a codelet's kernel of `flops` operations on a worker; empty when it cannot run there. Asked once
/// for each worker and each pair of codelet and operations.
using KernelTime = std::function<std::optional<Duration>(Codelet const& codelet, double flops, Worker const& worker)>;

/// What every schedule of a graph on a machine takes at least, transfers left aside (Agullo, Beaumont, Eyraud-Dubois,
/// Kumar, "Are Static Schedules so Bad?", IPDPS 2016, section III; hal-01223573). Rounded down to nanoseconds.
struct TimeBounds {
  Duration area{0};           ///< dependencies left aside: the work, shared out as well as can be
  Duration critical_path{0};  ///< workers without number: the longest chain, each task on its fastest worker
  Duration mixed{0};          ///< both at once; at least as good as either
  double flops = 0;           ///< of all tasks
  std::uint32_t paths = 0;    ///< chains that the mixed bound took in

  /// Operations per second that no schedule exceeds: flops / mixed. 0 without operations, infinite when they take no
  /// time.
  [[nodiscard]] double upper_bound_flops() const;
};

struct BoundOptions {
  std::uint32_t most_paths = 64;  ///< chains that the mixed bound takes in at most, at least 1
  double tolerance = 1e-4;        ///< it stops early when no chain exceeds it by more than this, relatively
  /// Where there are more pairs of codelet and operations, their times are rounded down until no more differ, for the
  /// area and the mixed bound: these stay valid and lose some percent at most.
  std::uint32_t most_types = 2000;
};

/// The three bounds. Throws InvalidArgument when a time or a number of operations is negative or not a number, or no
/// worker can run a task. Costs, per chain, one pass over the tasks and a linear program of task types x classes of
/// workers.
[[nodiscard]] TimeBounds time_bounds(GraphRecorder const& graph, Machine const& machine, KernelTime const& kernel_time,
                                     BoundOptions options = {});

/// One of them; errors as above.
[[nodiscard]] Duration area_bound(GraphRecorder const& graph, Machine const& machine, KernelTime const& kernel_time,
                                  BoundOptions options = {});
[[nodiscard]] Duration critical_path(GraphRecorder const& graph, Machine const& machine, KernelTime const& kernel_time);
[[nodiscard]] Duration mixed_bound(GraphRecorder const& graph, Machine const& machine, KernelTime const& kernel_time,
                                   BoundOptions options = {});

}  // namespace granary

#pragma GCC visibility pop
