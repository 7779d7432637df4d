// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/tiles/inner_tile.hpp>

#include <algorithm>
#include <vector>

namespace granary {
namespace {

constexpr std::int32_t smallest = 128;
constexpr std::int32_t largest = 512;
constexpr std::int32_t step = 64;
constexpr std::int32_t usual = 256;

struct Candidate {
  std::int32_t order;
  double rate;
};

}  // namespace

std::int32_t choose_inner_tile(Estimator const& estimator, CodeletId gemm, std::uint64_t tile, double flops_per_fma) {
  std::vector<Candidate> candidates;
  for (auto order = smallest; order <= largest && 2 * static_cast<std::uint64_t>(order) <= tile; order += step) {
    double const n = order;
    double const flops = flops_per_fma * n * n * n;
    candidates.push_back({order, flops / seconds(estimator.kernel_time(gemm, flops, WorkerKind::Cpu))});
  }
  if (candidates.empty()) return 0;
  auto const extremes = std::ranges::minmax(candidates, {}, &Candidate::rate);
  double const best = extremes.max.rate;
  if (extremes.min.rate > 0.999 * best) return std::min(usual, candidates.back().order);
  return std::ranges::find_if(candidates, [&](auto const& c) { return c.rate >= 0.95 * best; })->order;
}

}  // namespace granary
