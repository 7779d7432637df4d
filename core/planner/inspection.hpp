// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/policy/plan_board.hpp>

#include <string>

namespace granary::detail {

struct PlannerImplementation;

/// What tests and messages say about the state of a planner; neither policies nor drivers decide by it.
class GRANARY_EXPORT PlannerInspection {
 public:
  /// The planner must outlive the object.
  explicit PlannerInspection(PlannerImplementation const& planner) : m_planner(&planner) {}

  [[nodiscard]] PlanBoard const& board() const;
  [[nodiscard]] bool poisoned(DataId data) const;
  /// Throws InternalError with the first broken invariant; O(everything). Tests call it after every event.
  void check_invariants() const;
  /// Lists what tasks wait for, and the bytes in use of memories; at most 20 lines of a kind. O(live tasks and edges).
  [[nodiscard]] std::string describe_waiting() const;
  /// "no room in memory node …": the first one in which tasks or values to be sent wait for room; empty if none does.
  [[nodiscard]] std::string describe_lack_of_room() const;

 private:
  PlannerImplementation const* m_planner;
};

}  // namespace granary::detail
