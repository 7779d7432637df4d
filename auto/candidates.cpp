// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/auto/candidates.hpp>

#include <algorithm>
#include <utility>

namespace granary::detail {
namespace {

using AutoUse = SchedulerEntry::AutoUse;

// The scheduler that says so in the registry; if none does, any one.
std::string registered_for(AutoUse::Start start) {
  auto const names = scheduler_names();
  auto const found =
      std::ranges::find(names, start, [](auto const& name) { return scheduler_entry(name).in_auto.start; });
  return found != names.end() ? *found : names.front();
}

std::vector<std::string> registered(bool fits, bool kinds_differ) {
  std::vector<std::pair<int, std::string>> places;
  for (auto const& name : scheduler_names()) {
    auto const use = scheduler_entry(name).in_auto;
    auto const place = fits ? use.place_if_data_fit : use.place_if_larger;
    if (place > 0 && (kinds_differ || !use.only_if_kinds_differ)) places.emplace_back(place, name);
  }
  std::ranges::sort(places);
  std::vector<std::string> names;
  for (auto& [place, name] : places) names.push_back(std::move(name));
  return names;
}

}  // namespace

Candidates::Candidates(AutoOptions options) : m_options(std::move(options)) {
  if (m_options.first.empty()) m_options.first = registered_for(AutoUse::Start::UntilMeasured);
}

std::string Candidates::first_measured(bool one_memory) {
  return registered_for(one_memory ? AutoUse::Start::OnOneMemory : AutoUse::Start::OnSeveralMemories);
}

Candidate Candidates::with_eviction(std::string const& scheduler) const {
  if (!m_eviction.empty()) return {scheduler, m_eviction};
  auto const entry = scheduler_entry(scheduler);
  return {scheduler, entry.in_auto.eviction.empty() ? entry.eviction : entry.in_auto.eviction};
}

std::vector<Candidate> Candidates::likely(bool fits, bool kinds_differ) const {
  auto names = m_options.candidates.empty() ? registered(fits, kinds_differ) : m_options.candidates;
  if (!m_options.schedule.empty()) names.insert(names.begin(), m_options.schedule);
  std::vector<Candidate> found;
  for (auto const& name : names) found.push_back(with_eviction(name));
  return found;
}

}  // namespace granary::detail
