// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/inspection.hpp>

#include <granary/detail/core/planner/description.hpp>
#include <granary/detail/core/planner/implementation.hpp>
#include <granary/detail/core/planner/invariants.hpp>

namespace granary::detail {

PlanBoard const& PlannerInspection::board() const { return m_planner->board; }

bool PlannerInspection::poisoned(DataId data) const { return m_planner->movement.data()[data].value.lost(); }

void PlannerInspection::check_invariants() const {
  auto const& parts = *m_planner;
  Invariants(parts.context, parts.movement, parts.booking, parts.dispatch, parts.outgoing_values).check();
  parts.prefetches.check_invariants();
}

std::string PlannerInspection::describe_waiting() const {
  auto const& parts = *m_planner;
  return Description(parts.context, parts.movement, parts.dispatch, parts.outgoing_values).text();
}

std::string PlannerInspection::describe_lack_of_room() const {
  auto const& parts = *m_planner;
  return Description(parts.context, parts.movement, parts.dispatch, parts.outgoing_values).lack_of_room();
}

}  // namespace granary::detail
