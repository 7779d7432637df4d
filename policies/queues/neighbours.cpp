// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/policies/queues/neighbours.hpp>

#include <algorithm>
#include <cstdint>

namespace granary::detail {
namespace {

// Distances are the transfer times of this many bytes.
constexpr Bytes distance_bytes = 1_MiB;

}  // namespace

std::vector<std::vector<GroupId>> neighbours_of_groups(Topology const& topology) {
  auto const count = static_cast<std::uint32_t>(topology.groups().size());
  std::vector<std::vector<GroupId>> neighbours(count);
  for (std::uint32_t g = 0; g < count; ++g) {
    auto& others = neighbours[g];
    for (std::uint32_t i = 1; i < count; ++i) others.emplace_back((g + i) % count);
    std::ranges::stable_sort(others, {}, [&](GroupId other) {
      return topology.route_time(topology.group(other).node, topology.group(GroupId(g)).node, distance_bytes);
    });
  }
  return neighbours;
}

}  // namespace granary::detail
