// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/policy/plan_board.hpp>
#include <granary/detail/core/policy/system_view.hpp>

#include <algorithm>

namespace granary::detail {

/// True if the datum is on the node or will be there without the task in question: it is in transfer, or an input of a
/// committed or planned task of one of the node's groups. O(groups on the node).
[[nodiscard]] inline bool arrives_anyway(SystemView const& view, PlanBoard const& board, DataId data, NodeId node) {
  return view.expected(data, node) || view.committed_uses(data, node) > 0 ||
         std::ranges::any_of(view.topology().groups_on(node), [&](GroupId g) { return board.uses(data, g) > 0; });
}

/// The sum of equation 4.2 of DARTS: the estimated time to bring the task's inputs to the node, without those that
/// arrive there anyway.
[[nodiscard]] inline Duration input_transfers(SystemView const& view, PlanBoard const& board, Task const& task,
                                              NodeId node) {
  Duration total{0};
  for (auto const& access : task.accesses) {
    if (access.repeated || !reads(access.mode) || arrives_anyway(view, board, access.data, node)) continue;
    total += view.transfer_time(access.data, node);
  }
  return total;
}

}  // namespace granary::detail
