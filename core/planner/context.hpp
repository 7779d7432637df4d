// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/model/codelet.hpp>
#include <granary/core/model/machine.hpp>
#include <granary/core/planner/agenda.hpp>
#include <granary/core/planner/command.hpp>
#include <granary/core/planner/options.hpp>
#include <granary/core/planner/statistics.hpp>

#include <deque>
#include <vector>

namespace granary::detail {

/// What the parts of a planner share. They read the first three, post work on the agenda, and add commands and counts.
struct PlannerContext {
  Topology topology;
  PlannerOptions options;
  std::deque<Codelet> codelets = {};  // lanes keep pointers to their names
  Agenda agenda = {topology.machine().nodes.size(), topology.groups().size()};
  std::vector<Command> commands = {};
  Statistics statistics = {};
};

}  // namespace granary::detail
