// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/planner/dispatch/dispatch.hpp>
#include <granary/detail/core/planner/dispatch/outgoing_values.hpp>

namespace granary::detail {

/// Throws InternalError with the first broken invariant of a planner's parts. O(everything).
class Invariants {
 public:
  Invariants(PlannerContext const& context, Movement const& movement, Booking const& booking, Dispatch const& dispatch,
             OutgoingValues const& outgoing_values)
      : m_topology(context.topology),
        m_booked(context.statistics.booking.booked),
        m_movement(movement),
        m_booking(booking),
        m_dispatch(dispatch),
        m_outgoing_values(outgoing_values) {}

  void check() const;

 private:
  void check_nodes() const;
  void check_links() const;
  void check_data() const;
  void check_tasks() const;
  void check_turns() const;
  void check_pins() const;
  void check_booking() const;

  Topology const& m_topology;
  Bytes m_booked;
  Movement const& m_movement;
  Booking const& m_booking;
  Dispatch const& m_dispatch;
  OutgoingValues const& m_outgoing_values;
};

}  // namespace granary::detail
