// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/journal.hpp>
#include <granary/detail/core/planner/planner.hpp>

namespace granary::detail {

void Journal::handled(Event const& event, NewIds /*ids*/) {
  auto& entry =
      m_entries.emplace_back(Entry{planner().view().now(), event, m_commands.size() + planner().commands().size()});
  if (auto* const submission = std::get_if<TaskSubmission>(&entry.event)) {
    submission->accesses = m_accesses.emplace_back(submission->accesses.begin(), submission->accesses.end());
  } else if (auto* const data = std::get_if<AddData>(&entry.event)) {
    if (!data->places.empty()) data->places = m_places.emplace_back(data->places.begin(), data->places.end());
    if (!data->shares.empty()) data->shares = m_shares.emplace_back(data->shares.begin(), data->shares.end());
  }
}

}  // namespace granary::detail
