// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/planner/command.hpp>
#include <granary/detail/core/planner/event.hpp>
#include <granary/detail/core/planner/notice.hpp>

namespace granary::detail {

class Planner;

/// Told all that enters and leaves a planner, as it happens: journals, traces and statistics. All functions are called
/// by the thread that drives the planner, must be quick, and must not throw or change the planner.
class GRANARY_EXPORT PlannerObserver {
 public:
  virtual ~PlannerObserver() = default;

  /// The planner handled the event. Its commands are the last of `planner().commands()`, and not performed yet.
  virtual void handled(Event const& /*event*/, NewIds /*ids*/) {}
  /// A driver took the command, to perform it at `planner().view().now()`.
  virtual void performed(Command const& /*command*/) {}
  /// Called while an event is handled: after the commands that are in `planner().commands()` at that time, and before
  /// those that the planner adds later.
  virtual void noticed(Notice const& /*notice*/) {}

 protected:
  /// The planner to which it is attached.
  [[nodiscard]] Planner const& planner() const { return *m_planner; }

 private:
  friend class Planner;
  Planner const* m_planner = nullptr;
};

}  // namespace granary::detail
