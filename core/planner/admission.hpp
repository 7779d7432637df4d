// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/submitter.hpp>
#include <granary/detail/core/planner/context.hpp>
#include <granary/detail/core/planner/movement/movement.hpp>

#include <cstdint>
#include <vector>

namespace granary::detail {

/// Decides whether a task can be accepted, and where it can run.
class Admission {
 public:
  Admission(PlannerContext const& context, Movement const& movement);

  /// The groups that can run the task: they have a kernel, and its data fit in their node's memory; none for an
  /// external task. Throws InvalidArgument and MemoryLimitError as Submitter::submit documents.
  [[nodiscard]] GroupSet check(TaskSubmission const& submission, AccessList const& accesses) const;
  /// The accepted task's position in the order of submission.
  [[nodiscard]] std::uint64_t take_position(TaskSubmission const& submission);

 private:
  void check_position(Codelet const& codelet, std::uint64_t position) const;
  void check_varying(Codelet const& codelet, AccessList const& accesses, Access const& access) const;
  void check_write(Codelet const& codelet, Datum const& datum, AccessMode mode) const;
  [[nodiscard]] Bytes check_accesses(Codelet const& codelet, AccessList const& accesses) const;
  [[nodiscard]] GroupSet groups(Codelet const& codelet, AccessList const& accesses, Bytes most) const;
  void check_nodes_between(Codelet const& codelet, AccessList const& accesses) const;

  PlannerContext const& m_context;
  Movement const& m_movement;
  std::vector<NodeId> m_between;  // nodes through which data pass on their way
  Bytes m_largest_alignment = 0;
  std::uint64_t m_next_position = 0;
};

}  // namespace granary::detail
