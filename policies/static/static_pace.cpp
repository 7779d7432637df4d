// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/static/static_pace.hpp>

#include <algorithm>

namespace granary::detail {
namespace {

constexpr double codelet_weight = 1.0 / 16;
constexpr double worker_weight = 1.0 / 3;
constexpr double most = 8;

void average(double& mean, double value, double weight) { mean += weight * (std::clamp(value, 1 / most, most) - mean); }

}  // namespace

void StaticPace::measured(CodeletId codelet, WorkerKind kind, WorkerId worker, Duration expected, Duration taken) {
  if (expected <= Duration{0}) return;
  if (codelet.index() >= m_codelets.size()) m_codelets.resize(codelet.index() + 1);
  double const ratio = static_cast<double>(taken.count()) / static_cast<double>(expected.count());
  auto& of_codelet = m_codelets[codelet.index()][static_cast<std::size_t>(kind)];
  auto& of_worker = m_workers[worker.index()];
  if (of_codelet == 0) of_codelet = std::clamp(ratio / of_worker.slowness, 1 / most, most);
  average(of_worker.slowness, ratio / of_codelet, worker_weight);
  average(of_codelet, ratio / of_worker.slowness, codelet_weight);
  average(of_worker.pace, ratio, worker_weight);
}

double StaticPace::of_codelet(CodeletId codelet, WorkerKind kind) const {
  if (codelet.index() >= m_codelets.size()) return 1;
  double const pace = m_codelets[codelet.index()][static_cast<std::size_t>(kind)];
  return pace == 0 ? 1 : pace;
}

Duration scaled(Duration duration, double factor) {
  return from_seconds(seconds(std::min(duration, longest_duration)) * factor);
}

}  // namespace granary::detail
