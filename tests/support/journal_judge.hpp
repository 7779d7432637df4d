// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/coherence_oracle.hpp"

#include <granary/detail/core/planner/journal.hpp>
#include <granary/detail/core/planner/options.hpp>
#include <granary/detail/core/policy/policy_set.hpp>

#include <cstdint>
#include <map>
#include <optional>

namespace granary::test {

using namespace detail;

/// The content of a home: nothing readable, or the value of a task (0: the initial value; otherwise its number + 1).
using HomeContents = std::map<DataId, std::optional<std::uint64_t>>;

/// Replays a journal through a fresh planner: its invariants are checked after every event, an oracle judges every
/// command, and the commands must be those of the run. Returns the contents of the homes of data that were not
/// forgotten. Throws at the first broken promise. At the end of the journal the run must be at rest.
HomeContents judge(Journal const& journal, Topology const& topology, PolicySet policies, PlannerOptions const& options);

}  // namespace granary::test
