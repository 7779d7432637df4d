// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/simulator/slow_workers.hpp>

#include <algorithm>
#include <string>

namespace granary::detail {

SlowWorkers::SlowWorkers(Machine const& machine, std::span<From const> changes) {
  if (!changes.empty()) m_changes.resize(machine.workers.size());
  for (auto const& change : changes) {
    if (change.worker.index() >= m_changes.size()) {
      throw InvalidArgument("a slow worker has the number " + std::to_string(change.worker.value()) +
                            "; the machine has " + std::to_string(m_changes.size()) + " workers");
    }
    if (!(change.factor >= least_factor && change.factor <= most_factor)) {
      throw InvalidArgument("the factor of a slow worker is " + std::to_string(change.factor) +
                            "; it must be from 0.001 to 1000");
    }
    m_changes[change.worker.index()].push_back(change);
  }
  for (auto& of_worker : m_changes) std::ranges::stable_sort(of_worker, {}, &From::start);
}

Duration SlowWorkers::slowed(WorkerId worker, Instant start, Duration alone) const {
  if (m_changes.empty()) return alone;
  double left = seconds(alone);
  double taken = 0;
  double factor = 1;
  for (auto const& change : m_changes[worker.index()]) {
    double const until = seconds(change.start - start) - taken;
    if (until > 0) {
      if (left * factor <= until) break;
      left -= until / factor;
      taken += until;
    }
    factor = change.factor;
  }
  return taken == 0 && factor == 1 ? alone : from_seconds(taken + left * factor);
}

}  // namespace granary::detail
