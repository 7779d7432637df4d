// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/planner/journal.hpp>
#include <granary/core/planner/planner.hpp>

namespace granary {

void Journal::handled(Event const& event, NewIds /*ids*/) {
  auto& entry =
      m_entries.emplace_back(Entry{planner().view().now(), event, m_commands.size() + planner().commands().size()});
  if (auto* const submission = std::get_if<TaskSubmission>(&entry.event)) {
    submission->accesses = m_accesses.emplace_back(submission->accesses.begin(), submission->accesses.end());
  }
}

}  // namespace granary
