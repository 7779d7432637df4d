// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/group_set.hpp>

#include <cstdint>

namespace granary {

namespace detail {

/// The phases of a task, in order; a worker may give a task back: then it is Ready or Waiting again.
enum class GRANARY_EXPORT TaskPhase : std::uint8_t {
  Waiting,    ///< some predecessor has not finished, or another task has its turn on a datum (AccessMode::Commute)
  Ready,      ///< the scheduler has it
  Committed,  ///< next to run in its group: waits for room on the group's node
  Fetching,   ///< its data are allocated on the node; some inputs are still in transfer
  Issued,     ///< handed to a worker; begun, if no worker runs it
};

}  // namespace detail

/// A task that has not ended, as it was submitted.
struct GRANARY_EXPORT Task {
  TaskId id;
  detail::CodeletId codelet;
  std::uint32_t predecessors = 0;       ///< unfinished ones, counted once per datum that links them
  std::uint32_t last_successor = none;  ///< end of its list of edges in the task graph
  std::int64_t priority = 0;
  double flops = 0;
  std::uint64_t position = 0;       ///< in the order of submission; ids count this planner's tasks only
  SourceLine source_line;           ///< that submitted it, if that is the application's
  detail::GroupSet allowed_groups;  ///< those that can run it: they have a kernel, and its data fit on their node
  detail::AccessList accesses;

  static constexpr std::uint32_t none = 0xffffffffU;
  [[nodiscard]] bool allowed_on(GroupId g) const { return allowed_groups.contains(g); }
  /// True if no worker runs it (Codelet::external).
  [[nodiscard]] bool external() const { return allowed_groups.empty(); }
};

namespace detail {

/// How far a task has come, and where.
struct GRANARY_EXPORT Assignment {
  Duration estimate{0};  ///< its expected time in the group
  GroupId group{};       ///< from Committed on
  WorkerId worker{};     ///< from Issued on; invalid if no worker runs it
  TaskPhase phase = TaskPhase::Waiting;
};

}  // namespace detail

}  // namespace granary
