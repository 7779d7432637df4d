// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/policies/heteroprio/heteroprio_orders.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace granary::detail {

/// P(node, bucket) of LAHeteroprio, equation 11, for a kind of worker: the bucket's level, 0 if the kind does not use
/// it.
[[nodiscard]] GRANARY_EXPORT std::vector<std::uint32_t> bucket_priorities(BucketLevels const& levels,
                                                                          std::size_t buckets);

/// LAHeteroprio, equation 11: 1 - sum over the buckets of |P(i,k) - P(j,k)| / ((NP+1)(NP+2)/2), with NP the larger
/// number of priorities, including 0. It is 1 for workers that visit the buckets in the same order, and at least 0.
///
/// The paper's text says that 0 means the same order; its equation, Table 2 and use say 1.
[[nodiscard]] GRANARY_EXPORT double priority_distance(std::span<std::uint32_t const> i,
                                                      std::span<std::uint32_t const> j);

/// LAHeteroprio, equation 10, row by row: entry (i, j) is the time of 1 GiB from node j to node i, divided by the
/// longest of these times.
[[nodiscard]] GRANARY_EXPORT std::vector<double> transfer_distances(Topology const& topology,
                                                                    std::span<NodeId const> nodes);

/// LAHeteroprio, equation 12: nodes are near when they are well connected and their workers prefer different buckets.
[[nodiscard]] constexpr double node_distance(double priority, double transfer, double alpha) {
  return priority * alpha + transfer * (1 - alpha);
}

/// A level of buckets of one node's lists.
struct GRANARY_EXPORT GridStop {
  std::uint32_t level = 0;
  std::uint32_t column = 0;
  friend bool operator==(GridStop const&, GridStop const&) = default;
};

/// The order in which workers of column `own` visit the grid (LAHeteroprio, "Memory node subgroups"): `run` levels of
/// their own, then as many of each of the `near` nearest columns, until these are complete; then the others, level by
/// level. `distances` holds one value per column; nearer columns come first, ties by number. `run` is at least 1.
[[nodiscard]] GRANARY_EXPORT std::vector<GridStop> grid_order(std::size_t levels, std::uint32_t own,
                                                              std::span<double const> distances, std::size_t near,
                                                              std::size_t run);

}  // namespace granary::detail
