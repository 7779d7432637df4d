// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <vector>

namespace granary {

/// Predicts durations for policies. It learns from measurements and is never the simulator's ground truth.
class GRANARY_EXPORT Estimator {
 public:
  virtual ~Estimator() = default;
  /// Registers a codelet under `id`.
  virtual void codelet_added(detail::CodeletId /*id*/, detail::Codelet const& /*codelet*/) {}
  /// A copy of the present state, from which a journal can start; null if every estimator of the class starts alike.
  [[nodiscard]] virtual std::unique_ptr<Estimator> copy() const { return nullptr; }
  /// The time of a kernel of `flops` operations on one worker; at least 1 ns.
  [[nodiscard]] virtual Duration kernel_time(detail::CodeletId codelet, double flops,
                                             detail::WorkerKind kind) const = 0;
  /// True if `kernel_time` rests on a measurement of the codelet on this kind of worker.
  [[nodiscard]] virtual bool measured(detail::CodeletId, detail::WorkerKind) const { return true; }
  /// Records that a kernel took `measured`.
  virtual void observe_kernel(detail::CodeletId codelet, double flops, detail::WorkerKind kind, Duration measured) = 0;
};

namespace detail {

/// Predicts from the latest measurements of each codelet and kind of worker: an exponential moving average (weight 1/8)
/// of the time per flop, or of the time if tasks state no flops. Before any measurement it assumes a given speed.
class GRANARY_EXPORT AveragingEstimator final : public Estimator {
 public:
  explicit AveragingEstimator(double prior_flops_per_second = 1e10,
                              Duration prior_without_flops = std::chrono::microseconds(10))
      : m_prior_flops_per_second(prior_flops_per_second), m_prior_without_flops(prior_without_flops) {}
  [[nodiscard]] Duration kernel_time(CodeletId codelet, double flops, WorkerKind kind) const override;
  [[nodiscard]] bool measured(CodeletId codelet, WorkerKind kind) const override;
  void observe_kernel(CodeletId codelet, double flops, WorkerKind kind, Duration measured) override;

 private:
  struct Average {
    double seconds_per_flop = 0;  // 0: not measured
    double seconds = 0;           // 0: not measured
  };
  double m_prior_flops_per_second;
  Duration m_prior_without_flops;
  std::vector<std::array<Average, worker_kinds>> m_averages;  // by codelet
};

}  // namespace detail

}  // namespace granary
