// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/planner/dispatch/dispatch.hpp>

#include <map>
#include <span>
#include <utility>
#include <vector>

namespace granary::detail {

/// Handovers between data that share bytes (Overlaps), as tasks that the planner itself performs. They are in the task
/// graph, so that the dependencies of all tasks follow from their accesses as usual.
class Handovers {
 public:
  Handovers(PlannerContext& context, Dispatch& dispatch, Movement& movement)
      : m_context(context), m_dispatch(dispatch), m_movement(movement) {}

  /// A datum was registered.
  void registered(DataId data);
  /// The task with these accesses is submitted next: first adds the handovers that it needs.
  void precede(AccessList const& accesses);
  /// It was submitted. Cancels it if it touches bytes that wait for the report of a failure.
  void submitted(LiveTask& task);
  /// Performs those that are ready, as far as values are home.
  void perform();
  /// The task ended with the claims that it took.
  void ended(TaskId task) {
    if (!m_claims.empty()) m_claims.erase(task);
  }
  /// The task will not run: if claims changed for it, they are as before, and later tasks that rely on the change are
  /// cancelled, too. O(live tasks) if so.
  void undo(LiveTask const& task);
  /// The same for all tasks that no worker has and that have not begun; they are cancelled.
  void undo_all();

 private:
  void add(std::vector<Claimed> claims);

  PlannerContext& m_context;
  Dispatch& m_dispatch;
  Movement& m_movement;
  std::map<TaskId, std::vector<Claimed>> m_claims;  // before each live handover, or task that redefines bytes
  std::vector<Claimed> m_redefined;                 // by the task that is submitted next
};

}  // namespace granary::detail
