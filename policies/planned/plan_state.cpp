// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/planned/plan_state.hpp>

#include <algorithm>
#include <limits>

namespace granary::detail {

void PlanState::attach(SystemView const& of, PlanBoard& plans) {
  view = &of;
  board = &plans;
  slower.attach(of);
  auto const& topology = of.topology();
  auto const& all = topology.machine().nodes;
  auto const has_workers = [&](std::size_t n) {
    return !topology.groups_on(NodeId(static_cast<std::uint32_t>(n))).empty();
  };
  bool devices = false;
  for (std::size_t n = 0; n < all.size(); ++n) devices = devices || (has_workers(n) && all[n].kind == NodeKind::Device);
  memory = std::numeric_limits<Bytes>::max();
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (!has_workers(n) || (devices && all[n].kind != NodeKind::Device)) continue;
    NodeId const node(static_cast<std::uint32_t>(n));
    only_node = nodes++ == 0 ? node : NodeId{};
    for (GroupId const group : topology.groups_on(node)) {
      groups.insert(group);
      workers += topology.group(group).workers.size();
    }
    memory = std::min(memory, all[n].capacity);
  }
}

GroupSet PlanState::groups_on(NodeId node) const {
  GroupSet found;
  for (GroupId const group : view->topology().groups_on(node)) found.insert(group);
  return found;
}

}  // namespace granary::detail
