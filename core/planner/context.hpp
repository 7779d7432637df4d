// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/core/planner/agenda.hpp>
#include <granary/detail/core/planner/command.hpp>
#include <granary/detail/core/planner/observer.hpp>
#include <granary/detail/core/planner/options.hpp>
#include <granary/detail/core/planner/statistics.hpp>

#include <deque>
#include <exception>
#include <vector>

namespace granary::detail {

/// State that the parts of a planner share. They read the first three, post work on the agenda, add commands and
/// counts, and call observers.
struct PlannerContext {
  Topology topology;
  PlannerOptions options;
  std::deque<Codelet> codelets = {};  // lanes keep pointers to their names
  Agenda agenda = Agenda(topology);
  std::vector<Command> commands = {};  // decided, and not performed yet
  Statistics statistics = {};
  std::vector<PlannerObserver*> observers = {};
  std::exception_ptr policy_fault = {};  // what a policy threw or did wrong: it has ended the run (PolicyCalls)

  void notice(Notice const& notice) const {
    for (auto* const observer : observers) observer->noticed(notice);
  }
};

}  // namespace granary::detail
