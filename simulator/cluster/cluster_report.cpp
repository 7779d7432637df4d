// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/simulator/cluster/cluster_report.hpp>

namespace granary {

detail::LinkStatistics ClusterReport::sent() const {
  detail::LinkStatistics sum;
  for (auto const& process : processes) {
    sum.transfers += process.statistics.outgoing_values.transfers;
    sum.bytes += process.statistics.outgoing_values.bytes;
  }
  return sum;
}

detail::LinkStatistics ClusterReport::of(detail::TransferKind kind) const {
  detail::LinkStatistics sum;
  for (auto const& process : processes) {
    sum.transfers += process.of(kind).transfers;
    sum.bytes += process.of(kind).bytes;
  }
  return sum;
}

std::uint64_t ClusterReport::tasks_run() const {
  std::uint64_t sum = 0;
  for (auto const& process : processes) sum += process.statistics.tasks_run - process.statistics.tasks_outside;
  return sum;
}

std::uint64_t ClusterReport::evictions() const {
  std::uint64_t sum = 0;
  for (auto const& process : processes) sum += process.evictions;
  return sum;
}

}  // namespace granary
