// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/policies/planned/find_order.hpp>
#include <granary/detail/policies/planned/plan_state.hpp>
#include <granary/detail/policies/planned/planned_ready.hpp>

#include <cstdint>
#include <vector>

namespace granary::detail {

/// Deals the blocks of the plan of `planned` to several nodes, and publishes their tasks on the board.
class BlockDealing {
 public:
  BlockDealing(PlanState& state, PlannedReady& ready) : m_state(state), m_ready(ready) {}

  /// Finds the order between the blocks of a new plan of several nodes, and the chains of tasks, before its tasks join
  /// their blocks.
  void link(std::vector<TaskId> const& tasks, FoundOrder const& order, OrderGraph const& graph);
  /// Begins a block for the group's node if it needs one. Data of the block are fetched while the last tasks of the
  /// blocks before run.
  void deal(GroupId group);
  /// The block is not planned again. If it had no owner, its tasks go to the node.
  void begin_block(std::uint32_t number, NodeId owner);
  /// The ready task of the group's blocks that is first in the plan, unless a task is urgent.
  [[nodiscard]] TaskId first_own(GroupId group) const;
  /// True if the group leaves the rest of its tasks to nodes that could take them over.
  [[nodiscard]] bool leaves_rest(GroupId group) const;
  /// A ready task of another node's block that would end here before it began there.
  [[nodiscard]] TaskId take_over(GroupId group);

  /// Puts the task of a block with an owner on the plan of one of the owner's groups.
  void publish(TaskId task);
  /// The inputs of a ready task that is in a plan may be fetched before a group gets it.
  void want_inputs(TaskId task);

 private:
  [[nodiscard]] std::uint32_t block_for(NodeId node);
  [[nodiscard]] double part_held(PlannedTasks::Block& block, NodeId node) const;
  [[nodiscard]] bool is_open(PlannedTasks::Block& block) const;
  [[nodiscard]] GroupId planned_group(TaskId task) const;
  void take_chain(TaskId task, NodeId node);

  PlanState& m_state;
  PlannedReady& m_ready;
  bool m_has_plan = false;
  bool m_has_plane = false;  // FoundOrder::has_plane, of the last plan
};

}  // namespace granary::detail
