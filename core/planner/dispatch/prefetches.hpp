// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/planner/dispatch/dispatch.hpp>
#include <granary/detail/core/policy/plan_board.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace granary::detail {

/// Brings the inputs of planned tasks to their groups' nodes before the tasks are committed, where the scheduler wants
/// that (PlanBoard::want_inputs). No task waits for these transfers, so they give way, as StarPU's do:
///
/// - Each link takes them in the order of the tasks' positions, at most two at once, while no other transfer waits for
///   it.
/// - They go to free bytes of a node on which nobody waits for room. If there are too few, a replica makes room that no
///   committed or planned task of the node uses, in about the order of their last uses, whatever the eviction policy.
///   If there is none, they wait until something changes on the node.
/// - A value that would come through another node, or that shares bytes with others, is left to the committed task, and
///   so is one that is evicted again.
///
/// Nothing is done twice: a committed task takes over what is on its way. An input costs O(links to the node + log
/// inputs) when it is wanted and when its task is committed; each event costs O(links), and O(log inputs) for each
/// transfer that starts. Without wanted inputs an event costs one comparison.
class GRANARY_EXPORT Prefetches {
 public:
  Prefetches(PlannerContext const& context, PlanBoard const& board, Dispatch const& dispatch, Movement& movement);

  /// The inputs of the planned task are wanted on the group's node.
  void want(TaskId task, GroupId group, PlanPosition position);
  /// The task leaves its plan.
  void give_up(TaskId task, GroupId group, PlanPosition position);
  /// Starts what may start; returns whether the agenda may have new items.
  bool start();
  /// Throws InternalError if an input is wanted for a task that is not planned there.
  void check_invariants() const;

 private:
  static constexpr std::uint32_t most_at_once = 2;
  struct Input {
    PlanPosition position;
    DataId data;
    TaskId task;
    auto operator<=>(Input const&) const = default;
  };

  [[nodiscard]] bool free(LinkId link) const;
  [[nodiscard]] bool start_on(LinkId link);
  [[nodiscard]] bool used(DataId data, NodeId node) const;

  PlannerContext const& m_context;
  PlanBoard const& m_board;
  Dispatch const& m_dispatch;
  Movement& m_movement;
  std::vector<std::set<Input>> m_inputs;        // by link
  std::size_t m_wanted = 0;                     // of all links
  std::vector<std::vector<LinkId>> m_links_to;  // by node
  std::vector<std::uint64_t> m_full;            // by node: its count of changes when no room could be made
};

}  // namespace granary::detail
