// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <span>
#include <vector>

namespace granary::detail {

/// Workers whose speed changes during a simulated run, such as a GPU that clocks down.
///
/// ```cpp
/// using namespace std::chrono_literals;
/// granary::Machine machine;
/// auto const host = machine.add_node({.name = "host", .kind = granary::NodeKind::Host});
/// auto const core = machine.add_worker({.name = "core", .node = host});
/// granary::detail::SlowWorkers::From const half_speed{core, 2, granary::detail::Instant(10s)};
/// granary::detail::SlowWorkers const slow(machine, {{half_speed}});
/// assert(slow.slowed(core, granary::detail::Instant(4s), 6s) == 6s);
/// assert(slow.slowed(core, granary::detail::Instant(8s), 6s) == 10s);  // two at full speed, then four at half
/// ```
class GRANARY_EXPORT SlowWorkers {
 public:
  static constexpr double least_factor = 1e-3;
  static constexpr double most_factor = 1e3;
  /// From this instant on, and until the worker's next one, kernels take `factor` times as long as the ground truth
  /// says.
  struct From {
    WorkerId worker;
    double factor = 1;
    Instant start{};
  };

  SlowWorkers() = default;
  /// Throws InvalidArgument when a factor is out of range, or the machine does not have the worker.
  SlowWorkers(Machine const& machine, std::span<From const> changes);

  /// The time of a kernel on the worker that starts at `start` and takes `alone` at full speed. A change takes effect
  /// during the kernel. O(1), O(changes of the worker) when it has some.
  [[nodiscard]] Duration slowed(WorkerId worker, Instant start, Duration alone) const;

 private:
  std::vector<std::vector<From>> m_changes;  // by worker, by start; empty: no worker has any
};

}  // namespace granary::detail
