// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace granary::detail {

/// The ratio of measured to expected times of recent tasks: by codelet and kind of worker, and by worker in comparison.
/// Exponential moving averages, limited to a factor of 8 either way; 1 before any measurement. O(1) each.
class GRANARY_EXPORT StaticPace {
 public:
  explicit StaticPace(std::size_t workers) : m_workers(workers) {}

  void measured(CodeletId codelet, WorkerKind kind, WorkerId worker, Duration expected, Duration taken);
  [[nodiscard]] double of_codelet(CodeletId codelet, WorkerKind kind) const;
  /// Relative to the ratios of the codelets.
  [[nodiscard]] double of_worker(WorkerId worker) const { return m_workers[worker.index()].slowness; }
  /// Of all that the worker ran.
  [[nodiscard]] double of_work(WorkerId worker) const { return m_workers[worker.index()].pace; }

 private:
  struct OfWorker {
    double slowness = 1;
    double pace = 1;
  };
  std::vector<std::array<double, worker_kinds>> m_codelets;  // 0: not measured
  std::vector<OfWorker> m_workers;
};

[[nodiscard]] GRANARY_EXPORT Duration scaled(Duration duration, double factor);

}  // namespace granary::detail
