// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/group_set.hpp>
#include <granary/detail/core/policy/plan_board.hpp>
#include <granary/detail/core/policy/system_view.hpp>
#include <granary/detail/policies/common/slower_groups.hpp>
#include <granary/detail/policies/planned/planned_tasks.hpp>

#include <cstddef>

namespace granary::detail {

/// What the parts of `planned` share: the system, the nodes that are planned for, and the tasks.
struct PlanState {
  void attach(SystemView const& of, PlanBoard& plans);
  [[nodiscard]] bool one_node() const { return nodes == 1; }
  [[nodiscard]] GroupSet groups_on(NodeId node) const;
  [[nodiscard]] NodeId node_of(GroupId group) const { return view->topology().group(group).node; }

  SystemView const* view = nullptr;
  PlanBoard* board = nullptr;
  SlowerGroups slower;
  // The nodes that are planned for are devices, or else those with workers.
  GroupSet groups;          // of these nodes
  std::size_t workers = 0;  // of these
  NodeId only_node;         // of these; invalid: there are several
  std::size_t nodes = 0;    // how many they are
  Bytes memory = 0;         // the smallest of their memories
  PlannedTasks tasks;
};

}  // namespace granary::detail
