// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/heteroprio/laheteroprio_distances.hpp>

#include <algorithm>
#include <numeric>

namespace granary::detail {

std::vector<std::uint32_t> bucket_priorities(BucketLevels const& levels, std::size_t buckets) {
  std::vector<std::uint32_t> priorities(buckets, 0);
  for (std::uint32_t level = 0; level < levels.size(); ++level) {
    for (std::uint32_t const bucket : levels[level]) priorities[bucket] = level;
  }
  return priorities;
}

double priority_distance(std::span<std::uint32_t const> i, std::span<std::uint32_t const> j) {
  double difference = 0;
  double highest = 0;
  for (std::size_t k = 0; k < i.size(); ++k) {
    difference += std::max(i[k], j[k]) - std::min(i[k], j[k]);
    highest = std::max({highest, static_cast<double>(i[k]), static_cast<double>(j[k])});
  }
  double const priorities = highest + 1;
  return std::max(0.0, 1 - difference / ((priorities + 1) * (priorities + 2) / 2));
}

std::vector<double> transfer_distances(Topology const& topology, std::span<NodeId const> nodes) {
  std::vector<double> times;
  for (NodeId const to : nodes) {
    for (NodeId const from : nodes) times.push_back(seconds(topology.route_time(from, to, Bytes{1} << 30)));
  }
  double const longest = *std::ranges::max_element(times);
  if (longest > 0) {
    for (double& time : times) time /= longest;
  }
  return times;
}

std::vector<GridStop> grid_order(std::size_t levels, std::uint32_t own, std::span<double const> distances,
                                 std::size_t near, std::size_t run) {
  std::vector<std::uint32_t> columns(distances.size());
  std::iota(columns.begin(), columns.end(), 0U);
  std::erase(columns, own);
  std::ranges::stable_sort(columns, {}, [&](std::uint32_t column) { return distances[column]; });
  std::size_t const close = std::min(near, columns.size());
  columns.insert(columns.begin(), own);

  std::vector<GridStop> order;
  for (std::size_t from = 0; from < levels; from += std::min(run, levels - from)) {
    std::size_t const to = from + std::min(run, levels - from);
    for (std::size_t c = 0; c <= close; ++c) {
      for (std::size_t level = from; level < to; ++level) {
        order.push_back({static_cast<std::uint32_t>(level), columns[c]});
      }
    }
  }
  for (std::size_t level = 0; level < levels; ++level) {
    for (std::size_t c = close + 1; c < columns.size(); ++c) {
      order.push_back({static_cast<std::uint32_t>(level), columns[c]});
    }
  }
  return order;
}

}  // namespace granary::detail
