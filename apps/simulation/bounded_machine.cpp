// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bounded_machine.hpp"

#include <algorithm>
#include <set>

namespace granary::app {

detail::Machine with_whole_devices(Platform const& platform) {
  detail::Machine machine = platform.machine;
  if (!platform.shared_devices) return machine;
  std::set<NodeId> seen;
  std::erase_if(machine.workers, [&](detail::Worker const& worker) {
    return worker.kind == detail::WorkerKind::Device && !seen.insert(worker.node).second;
  });
  return machine;
}

detail::KernelTime times_for_bounds(Platform const& platform, PlatformTruth const& truth, detail::Precision precision) {
  return [&platform, &truth, precision](detail::Codelet const& codelet, double flops,
                                        detail::Worker const& worker) -> std::optional<Duration> {
    auto const times = platform.times(codelet.name, precision_of(codelet, precision), Platform::model_of(worker));
    if (!times) return std::nullopt;
    // Small kernels run beside each other.
    bool const shared = platform.shared_devices && worker.kind == detail::WorkerKind::Device && flops > 0;
    double const factor = truth.factor(codelet, worker.kind) * (shared ? times->share(flops) : 1);
    return from_seconds(times->seconds(flops) * factor);
  };
}

Bytes set_memory(Platform& platform, Memory const& memory, Bytes working_set) {
  auto const nodes = platform.limited_nodes();
  if (memory.size) platform.limit(*memory.size);
  if (memory.fraction && !nodes.empty()) {
    double const share = *memory.fraction * static_cast<double>(working_set) / static_cast<double>(nodes.size());
    platform.limit(std::max<Bytes>(1, static_cast<Bytes>(std::min(share, static_cast<double>(detail::unbounded)))));
  } else if (memory.fraction) {
    platform.limit(working_set);  // throws if the limit is wrong
  }
  return platform.machine[nodes.empty() ? platform.home_node() : nodes.front()].capacity;
}

}  // namespace granary::app
