// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/heteroprio/heteroprio_orders.hpp>

#include <algorithm>
#include <limits>

namespace granary::detail {
namespace {

constexpr auto of_cpu = static_cast<std::size_t>(WorkerKind::Cpu);
constexpr auto of_device = static_cast<std::size_t>(WorkerKind::Device);

bool within(double a, double b, double factor) { return a == b || (a <= b * factor && b <= a * factor); }

}  // namespace

double acceleration(KindTimes const& times) {
  if (times[of_cpu] <= 0) return std::numeric_limits<double>::infinity();
  return times[of_device] > 0 ? times[of_cpu] / times[of_device] : 0;
}

BucketLevels levels_by_acceleration(std::span<KindTimes const> times, WorkerKind kind, double merge) {
  std::vector<std::uint32_t> buckets;
  for (std::uint32_t b = 0; b < times.size(); ++b) {
    if (times[b][static_cast<std::size_t>(kind)] > 0) buckets.push_back(b);
  }
  std::ranges::stable_sort(buckets, [&](std::uint32_t a, std::uint32_t b) {
    double const first = acceleration(times[a]);
    double const second = acceleration(times[b]);
    return kind == WorkerKind::Device ? first > second : first < second;
  });
  BucketLevels levels;
  for (std::uint32_t const b : buckets) {
    bool const joins =
        !levels.empty() && within(acceleration(times[levels.back().front()]), acceleration(times[b]), merge);
    if (!joins) levels.emplace_back();
    levels.back().push_back(b);
  }
  return levels;
}

BucketLevels stated_levels(NamedLevels const& stated, std::span<std::string const> names,
                           BucketLevels const& otherwise) {
  auto const level_of = [&](std::uint32_t bucket) {
    auto const names_it = [&](auto const& level) { return std::ranges::find(level, names[bucket]) != level.end(); };
    return static_cast<std::size_t>(std::ranges::find_if(stated, names_it) - stated.begin());
  };
  BucketLevels levels(stated.size());
  for (auto const& level : otherwise) {
    std::vector<std::uint32_t> unnamed;
    for (std::uint32_t const bucket : level) {
      std::size_t const place = level_of(bucket);
      (place < stated.size() ? levels[place] : unnamed).push_back(bucket);
    }
    levels.push_back(std::move(unnamed));
  }
  std::erase_if(levels, [](auto const& level) { return level.empty(); });
  return levels;
}

SpeedUp speed_up(KindTimes const& times) {
  if (times[of_cpu] <= 0) return {WorkerKind::Device, times[of_device] > 0 ? 1.0 : 0.0};
  if (times[of_device] <= 0) return {WorkerKind::Cpu, 1};
  if (times[of_cpu] == times[of_device]) return {};
  return times[of_cpu] > times[of_device] ? SpeedUp{WorkerKind::Device, times[of_cpu] / times[of_device]}
                                          : SpeedUp{WorkerKind::Cpu, times[of_device] / times[of_cpu]};
}

}  // namespace granary::detail
