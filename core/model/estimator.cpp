// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/estimator.hpp>

#include <algorithm>

namespace granary {
namespace {

constexpr double newest_weight = 0.125;

void average_in(double& average, double measured) {
  average = average == 0 ? measured : average + newest_weight * (measured - average);
}

}  // namespace

Duration detail::AveragingEstimator::kernel_time(detail::CodeletId codelet, double flops,
                                                 detail::WorkerKind kind) const {
  Average const known =
      codelet.index() < m_averages.size() ? m_averages[codelet.index()][static_cast<std::size_t>(kind)] : Average{};
  Duration estimate{};
  if (flops > 0) {
    estimate =
        from_seconds(flops * (known.seconds_per_flop > 0 ? known.seconds_per_flop : 1 / m_prior_flops_per_second));
  } else {
    estimate = known.seconds > 0 ? from_seconds(known.seconds) : m_prior_without_flops;
  }
  return std::max(estimate, Duration{1});
}

bool detail::AveragingEstimator::measured(detail::CodeletId codelet, detail::WorkerKind kind) const {
  if (codelet.index() >= m_averages.size()) return false;
  auto const& known = m_averages[codelet.index()][static_cast<std::size_t>(kind)];
  return known.seconds_per_flop > 0 || known.seconds > 0;
}

void detail::AveragingEstimator::observe_kernel(detail::CodeletId codelet, double flops, detail::WorkerKind kind,
                                                Duration measured) {
  if (codelet.index() >= m_averages.size()) m_averages.resize(codelet.index() + 1);
  auto& average = m_averages[codelet.index()][static_cast<std::size_t>(kind)];
  double const s = std::max(seconds(measured), 1e-9);
  if (flops > 0) {
    average_in(average.seconds_per_flop, s / flops);
  } else {
    average_in(average.seconds, s);
  }
}

}  // namespace granary
