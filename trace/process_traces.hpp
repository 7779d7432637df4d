// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/trace.hpp>

#include <vector>

namespace granary {

/// Merges the traces of all processes of a run, which name the same codelets in the same order. The names of nodes,
/// workers and buses begin with the number of their process: "3: cpu0", and Trace::process_of_node is set. The
/// configuration and the totals are the first process's. The trace of a single process stays as it is.
///
/// ```cpp
/// granary::Trace one;
/// one.machine.add_worker({.name = "cpu0", .node = one.machine.add_node({.name = "host"})});
/// granary::Trace const both = granary::trace_of_processes({one, one});
/// assert(both.machine.workers[1].name == "1: cpu0" && both.machine.workers[1].node == granary::NodeId(1));
/// assert(both.processes() == 2 && both.process_of(granary::detail::WorkerId(1)) == 1);
/// ```
[[nodiscard]] GRANARY_EXPORT Trace trace_of_processes(std::vector<Trace> const& processes);

}  // namespace granary
