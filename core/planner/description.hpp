// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/planner/dispatch/dispatch.hpp>
#include <granary/detail/core/planner/dispatch/outgoing_values.hpp>

#include <string>

namespace granary::detail {

/// A planner's state as text, to find out why nothing proceeds.
class Description {
 public:
  Description(PlannerContext const& context, Movement const& movement, Dispatch const& dispatch,
              OutgoingValues const& outgoing_values)
      : m_context(context), m_movement(movement), m_dispatch(dispatch), m_outgoing_values(outgoing_values) {}

  /// At most 20 lines of each kind. O(live tasks and their edges).
  [[nodiscard]] std::string text() const;
  /// PlannerInspection::describe_lack_of_room.
  [[nodiscard]] std::string lack_of_room() const;

 private:
  [[nodiscard]] std::string phases() const;
  [[nodiscard]] std::string start_of(LiveTask const& task) const;
  [[nodiscard]] std::string committed() const;
  [[nodiscard]] std::string uncommitted() const;
  [[nodiscard]] std::string memories() const;
  [[nodiscard]] std::string links() const;
  [[nodiscard]] std::string homeward() const;

  PlannerContext const& m_context;
  Movement const& m_movement;
  Dispatch const& m_dispatch;
  OutgoingValues const& m_outgoing_values;
};

}  // namespace granary::detail
