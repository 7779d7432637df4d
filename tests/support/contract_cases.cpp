// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/contract_cases.hpp"

#include <algorithm>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace granary::test {
namespace {

void make_restartable(RandomGraph& graph) {
  for (auto& codelet : graph.codelets) codelet.restartable = true;
}

PolicyCase without_faults(std::uint64_t seed) { return draw_case(seed, false); }
PolicyCase with_faults(std::uint64_t seed) { return draw_case(seed, true); }

// Two thirds of the tasks come back once from their workers.
PolicyCase giving_back(std::uint64_t seed) {
  auto drawn = draw_case(seed, seed % 2 == 0);
  for (std::uint64_t task = 0; task < faulty_tasks; ++task) {
    if ((task + seed) % 3 != 0) drawn.faults.returns.emplace(task);
  }
  return drawn;
}

// Half of the tasks that need no worker are external, half of the data have more places, tasks are stopped halfway,
// followers taken back, values flushed in mid-run, and sometimes all is cancelled.
PolicyCase with_external_tasks(std::uint64_t seed) {
  auto drawn = draw_case(seed, seed % 2 == 0);
  detail::Random random(seed);
  make_restartable(drawn.graph);
  if (seed % 3 != 0) add_places(drawn.graph, drawn.machine, random);
  drawn.wilful = true;
  if (seed % 5 != 0) make_external(drawn.graph, random);
  for (std::uint64_t task = 0; task < faulty_tasks; ++task) {
    if ((task + seed) % 3 != 0) drawn.faults.stops.emplace(task);
    if ((task + seed) % 4 == 0) drawn.faults.recalls.emplace(task);
  }
  return drawn;
}

// Tasks change half of the data in any order. Half of the cases have faults; in a third of them each, workers give
// tasks back, or all happens that happens in the cases above.
PolicyCase commuting(std::uint64_t seed) {
  auto drawn = draw_case(seed, seed % 2 == 0);
  detail::Random random(seed);
  make_commuting(drawn.graph, random);
  if (seed % 3 == 1) {
    make_restartable(drawn.graph);
    add_places(drawn.graph, drawn.machine, random);
    drawn.wilful = true;
    make_external(drawn.graph, random);
  }
  for (std::uint64_t task = 0; task < faulty_tasks; ++task) {
    if (seed % 3 == 1 && (task + seed) % 2 == 0) drawn.faults.stops.emplace(task);
    if (seed % 3 != 0 && (task + seed) % 3 == 0) drawn.faults.returns.emplace(task);
  }
  return drawn;
}

// Most data without a home keep no old value. All cases have faults; tasks commute in half of them, and come back in a
// third.
PolicyCase keeping_no_old_value(std::uint64_t seed) {
  auto drawn = draw_case(seed, true);
  detail::Random random(seed);
  keep_no_old_values(drawn.graph, random);
  drawn.wilful = seed % 5 == 0;
  if (seed % 2 == 0) make_commuting(drawn.graph, random);
  if (seed % 4 == 0) make_restartable(drawn.graph);
  for (std::uint64_t task = 0; task < faulty_tasks && seed % 3 == 0; ++task) {
    if ((task + seed) % 2 == 0) drawn.faults.stops.emplace(task);
    if ((task + seed) % 3 == 0) drawn.faults.returns.emplace(task);
  }
  return drawn;
}

// Any scheduler has running tasks stopped at random, or heteroprio by its rules. Half of the cases have faults; in some
// tasks commute, share bytes, have further places, run as inner graphs, or come back by themselves, and all is
// cancelled now and then.
PolicyCase aborting_tasks(std::uint64_t seed) {
  static char const* const rules[] = {"sp", "pp", "pc", "pcep", "pcept"};
  auto drawn = seed % 4 == 3 ? draw_families_case(seed) : draw_case(seed, seed % 2 == 0);
  detail::Random random(seed);
  drawn.aborts = seed % 3 != 0;
  if (!drawn.aborts) drawn.scheduler = std::string("heteroprio:spoliation=") + rules[random.below(5)];
  if (!drawn.aborts && random.chance(0.3)) drawn.scheduler += ":limit=0.5:count=bucket";
  for (auto& codelet : drawn.graph.codelets) codelet.restartable = !codelet.external && random.chance(0.9);
  bool const plain = seed % 4 != 3;
  if (plain && seed % 5 == 0) make_commuting(drawn.graph, random);
  if (plain && seed % 7 == 0) add_places(drawn.graph, drawn.machine, random);
  drawn.wilful = drawn.wilful || seed % 6 < 2;
  for (std::uint64_t task = 0; task < faulty_tasks && seed % 8 == 0; ++task) {
    if ((task + seed) % 4 == 0) drawn.faults.stops.emplace(task);
    if ((task + seed) % 5 == 0) drawn.faults.returns.emplace(task);
  }
  return drawn;
}

constexpr ContractCases kinds[] = {
    {"OnRandomCases", 1, 3000, without_faults},
    {"WhenCopiesAndTasksFail", 1'000'001, 2000, with_faults},
    {"WhenWorkersGiveTasksBack", 2'000'001, 1000, giving_back},
    {"WithExternalTasksPlacesAndRestarts", 3'000'001, 1000, with_external_tasks},
    {"WhereTasksCommute", 4'000'001, 1000, commuting},
    // Matrices, blocks of them, rows and columns, used in any order.
    {"WhereDataShareBytes", 5'000'001, 1000, draw_families_case},
    {"WhereNoOldValueIsKept", 6'000'001, 1000, keeping_no_old_value},
    {"WhereSchedulersAbortTasks", 7'000'001, 2000, aborting_tasks},
    // Values of any size up to their bound, in memories that are often the least that tasks need.
    {"WhereDataVaryInSize", 9'000'001, 6400, draw_varying_case},
    // Data whose homes are devices of a few kilobytes, with parts, mirrors and values of varying size.
    {"WhereDataAreOnSmallDevices", 10'000'001, 1600, draw_device_views_case},
};

void add(CaseResult& sums, CaseResult const& result) {
  for (auto const part :
       {&CaseResult::tasks_run, &CaseResult::tasks_cancelled, &CaseResult::tasks_returned, &CaseResult::tasks_stopped,
        &CaseResult::tasks_aborted, &CaseResult::values_kept, &CaseResult::values_sized, &CaseResult::tasks_outside,
        &CaseResult::turns, &CaseResult::copies, &CaseResult::tasks_refused}) {
    sums.*part += result.*part;
  }
  for (auto const part :
       {&CaseResult::evictions, &CaseResult::failures, &CaseResult::redefined, &CaseResult::policy_faults}) {
    sums.*part += result.*part;
  }
}

}  // namespace

std::span<ContractCases const> contract_cases() { return kinds; }

ContractCases const& contract_cases(std::string_view name) {
  auto const found = std::ranges::find_if(kinds, [&](auto const& kind) { return kind.name == name; });
  if (found == std::ranges::end(kinds)) throw std::logic_error("no contract cases " + std::string(name));
  return *found;
}

std::string ContractTotals::summary() const {
  std::ostringstream text;
  text << sums.tasks_run << " tasks run, " << sums.tasks_cancelled << " cancelled, " << sums.copies << " copies, "
       << sums.evictions << " evictions, " << sums.failures << " failures reported, " << sums.redefined
       << " tasks that define poisoned data again, " << sums.tasks_outside << " external, " << sums.tasks_returned
       << " given back, " << sums.tasks_stopped << " stopped halfway, " << sums.tasks_aborted << " of these aborted, "
       << sums.values_kept << " values kept aside, " << sums.values_sized << " values sized, " << sums.turns
       << " took turns, " << sums.tasks_refused << " refused";
  return text.str();
}

ContractTotals run_cases(Seeds const& seeds, std::function<PolicyCase(std::uint64_t)> const& draw) {
  ContractTotals totals;
  for (auto seed = seeds.first; seed < seeds.end && totals.broken.size() < 5; ++seed) {
    PolicyCase const drawn = draw(seed);
    try {
      auto const result = run_case(drawn, seeds.one_alone ? &std::cout : nullptr);
      add(totals.sums, result);
      totals.pairs.emplace(drawn.scheduler, drawn.eviction);
      if (seed % 8 == 0 && run_case(drawn).acts != result.acts) {
        totals.broken.push_back(drawn.describe() + ": other commands when run again");
      }
    } catch (std::exception const& error) {
      totals.broken.push_back(drawn.describe() + ": " + error.what());
    }
  }
  return totals;
}

}  // namespace granary::test
