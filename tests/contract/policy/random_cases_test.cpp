// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every registered policy on random applications and machines. A failure prints its seed; GRANARY_TEST_SEED=<seed> runs
// only that seed and prints it; GRANARY_TEST_CASES=<n> runs n of each kind instead of the default number.
#include "support/policy_case.hpp"
#include "support/seeds.hpp"

#include <granary/policies/registry.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <iostream>
#include <set>
#include <string>
#include <utility>

namespace granary::test {
namespace {

struct Totals {
  CaseResult sums;  // without acts
  std::set<std::pair<std::string, std::string>> pairs;

  void add(PolicyCase const& drawn, CaseResult const& result) {
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
    pairs.emplace(drawn.scheduler, drawn.eviction);
  }
};

/// Runs `draw(seed)` for each seed. Every eighth case runs twice and must give the same commands.
template <class Draw>
Totals run_cases(Seeds const& seeds, Draw&& draw) {
  Totals totals;
  int broken = 0;
  for (auto seed = seeds.first; seed < seeds.end && broken < 5; ++seed) {
    PolicyCase const drawn = draw(seed);
    try {
      auto const result = run_case(drawn, seeds.one_alone ? &std::cout : nullptr);
      totals.add(drawn, result);
      if (seed % 8 == 0) {
        EXPECT_TRUE(run_case(drawn).acts == result.acts) << drawn.describe() << ": other commands when run again";
      }
    } catch (std::exception const& error) {
      ++broken;
      ADD_FAILURE() << drawn.describe() << ": " << error.what();
    }
  }
  auto const& sums = totals.sums;
  GTEST_LOG_(INFO) << "seeds " << seeds.first << " to " << seeds.end - 1 << ": " << sums.tasks_run << " tasks run, "
                   << sums.tasks_cancelled << " cancelled, " << sums.copies << " copies, " << sums.evictions
                   << " evictions, " << sums.failures << " failures reported, " << sums.redefined
                   << " tasks that define poisoned data again, " << sums.tasks_outside << " external, "
                   << sums.tasks_returned << " given back, " << sums.tasks_stopped << " stopped halfway, "
                   << sums.tasks_aborted << " of these aborted, " << sums.values_kept << " values kept aside, "
                   << sums.values_sized << " values sized, " << sums.turns << " took turns, " << sums.tasks_refused
                   << " refused";
  return totals;
}

std::size_t pairs() { return tested_schedulers().size() * tested_evictions().size(); }

// The submission numbers of tasks that may have faults.
constexpr std::uint64_t faulty_tasks = 400;

TEST(PolicyContract, EveryPromiseIsKeptOnRandomCases) {
  Seeds const seeds(1, 3000);
  auto const totals = run_cases(seeds, [](auto seed) { return draw_case(seed, false); });
  if (seeds.few) return;
  EXPECT_EQ(totals.pairs.size(), pairs());
  EXPECT_EQ(totals.sums.failures, 0U);
  EXPECT_GT(totals.sums.evictions, 1000U) << "the memories are not tight enough to test anything";
}

TEST(PolicyContract, EveryPromiseIsKeptWhenCopiesAndTasksFail) {
  Seeds const seeds(1000001, 2000);
  auto const totals = run_cases(seeds, [](auto seed) { return draw_case(seed, true); });
  if (seeds.few) return;
  EXPECT_EQ(totals.pairs.size(), pairs());
  EXPECT_GT(totals.sums.failures, 500U);
  EXPECT_GT(totals.sums.tasks_cancelled, 500U);
  EXPECT_GT(totals.sums.redefined, 50U);
}

// Two thirds of the tasks come back once from their workers.
TEST(PolicyContract, EveryPromiseIsKeptWhenWorkersGiveTasksBack) {
  Seeds const seeds(2000001, 1000);
  auto const sums = run_cases(seeds, [](auto seed) {
                      auto drawn = draw_case(seed, seed % 2 == 0);
                      for (std::uint64_t task = 0; task < faulty_tasks; ++task) {
                        if ((task + seed) % 3 != 0) drawn.faults.returns.emplace(task);
                      }
                      return drawn;
                    }).sums;
  if (seeds.few) return;
  EXPECT_GT(sums.tasks_returned, 4000U);
}

// Half of the tasks that need no worker are external, half of the data have more places, tasks are stopped halfway,
// followers taken back, values flushed in mid-run, and sometimes all is cancelled.
TEST(PolicyContract, EveryPromiseIsKeptWithExternalTasksPlacesAndRestarts) {
  Seeds const seeds(3000001, 1000);
  auto const sums = run_cases(seeds, [](auto seed) {
                      auto drawn = draw_case(seed, seed % 2 == 0);
                      Random random(seed);
                      for (auto& codelet : drawn.graph.codelets) codelet.restartable = true;
                      if (seed % 3 != 0) add_places(drawn.graph, drawn.machine, random);
                      drawn.wilful = true;
                      if (seed % 5 != 0) make_external(drawn.graph, random);
                      for (std::uint64_t task = 0; task < faulty_tasks; ++task) {
                        if ((task + seed) % 3 != 0) drawn.faults.stops.emplace(task);
                        if ((task + seed) % 4 == 0) drawn.faults.recalls.emplace(task);
                      }
                      return drawn;
                    }).sums;
  if (seeds.few) return;
  EXPECT_GT(sums.tasks_outside, 2000U);
  EXPECT_GT(sums.tasks_stopped, 2000U);
  EXPECT_GT(sums.tasks_returned, 1000U);
}

// Tasks change half of the data in any order. Half of the cases have faults; in a third of them each, workers give
// tasks back, or all happens that happens in the cases above.
TEST(PolicyContract, EveryPromiseIsKeptWhereTasksCommute) {
  Seeds const seeds(4000001, 1000);
  auto const sums = run_cases(seeds, [](auto seed) {
                      auto drawn = draw_case(seed, seed % 2 == 0);
                      Random random(seed);
                      make_commuting(drawn.graph, random);
                      if (seed % 3 == 1) {
                        for (auto& codelet : drawn.graph.codelets) codelet.restartable = true;
                        add_places(drawn.graph, drawn.machine, random);
                        drawn.wilful = true;
                        make_external(drawn.graph, random);
                      }
                      for (std::uint64_t task = 0; task < faulty_tasks; ++task) {
                        if (seed % 3 == 1 && (task + seed) % 2 == 0) drawn.faults.stops.emplace(task);
                        if (seed % 3 != 0 && (task + seed) % 3 == 0) drawn.faults.returns.emplace(task);
                      }
                      return drawn;
                    }).sums;
  if (seeds.few) return;
  EXPECT_GT(sums.turns, 5000U);
  EXPECT_GT(sums.tasks_cancelled, 500U);
  EXPECT_GT(sums.tasks_outside, 500U);
  EXPECT_GT(sums.tasks_returned + sums.tasks_stopped, 1000U);
}

// Most data without a home keep no old value. All cases have faults; tasks commute in half of them, and come back in a
// third.
TEST(PolicyContract, EveryPromiseIsKeptWhereNoOldValueIsKept) {
  Seeds const seeds(6000001, 1000);
  auto const sums = run_cases(seeds, [](auto seed) {
                      auto drawn = draw_case(seed, true);
                      Random random(seed);
                      keep_no_old_values(drawn.graph, random);
                      drawn.wilful = seed % 5 == 0;
                      if (seed % 2 == 0) make_commuting(drawn.graph, random);
                      if (seed % 4 == 0) {
                        for (auto& codelet : drawn.graph.codelets) codelet.restartable = true;
                      }
                      for (std::uint64_t task = 0; task < faulty_tasks && seed % 3 == 0; ++task) {
                        if ((task + seed) % 2 == 0) drawn.faults.stops.emplace(task);
                        if ((task + seed) % 3 == 0) drawn.faults.returns.emplace(task);
                      }
                      return drawn;
                    }).sums;
  if (seeds.few) return;
  EXPECT_GT(sums.failures, 500U);
  EXPECT_GT(sums.tasks_cancelled, 1000U);
  EXPECT_GT(sums.redefined, 50U);
}

// Data that share bytes: matrices, blocks of them, rows and columns, used in any order.
TEST(PolicyContract, EveryPromiseIsKeptWhereDataShareBytes) {
  Seeds const seeds(5000001, 1000);
  auto const sums = run_cases(seeds, draw_families_case).sums;
  if (seeds.few) return;
  EXPECT_GT(sums.tasks_run, 10000U);
  EXPECT_GT(sums.tasks_cancelled, 1000U);
  EXPECT_GT(sums.redefined, 20U);
}

// Any scheduler has running tasks stopped at random, or heteroprio by its rules. Half of the cases have faults; in some
// tasks commute, share bytes, have further places, run as inner graphs, or come back by themselves, and all is
// cancelled now and then.
TEST(PolicyContract, EveryPromiseIsKeptWhereSchedulersAbortTasks) {
  Seeds const seeds(7000001, 2000);
  auto const draw = [](std::uint64_t seed) {
    static char const* const rules[] = {"sp", "pp", "pc", "pcep", "pcept"};
    auto drawn = seed % 4 == 3 ? draw_families_case(seed) : draw_case(seed, seed % 2 == 0);
    Random random(seed);
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
  };
  auto const sums = run_cases(seeds, draw).sums;
  if (seeds.few) return;
  EXPECT_GT(sums.tasks_aborted, 4000U);
  EXPECT_GT(sums.values_kept, 4000U);
  EXPECT_GT(sums.failures, 300U);
}

// Schedules that are mostly nonsense, with all that happens in the cases above. Every task runs.
TEST(PolicyContract, EveryPromiseIsKeptWhateverAScheduleSays) {
  Seeds const seeds(8000001, 2000);
  auto const sums = run_cases(seeds, [](auto seed) {
                      auto drawn = seed % 3 == 0   ? draw_families_case(seed)
                                   : seed % 3 == 1 ? draw_case(seed, seed % 4 < 2)
                                                   : draw_device_case(seed, seed % 4 < 2);
                      Random random(seed);
                      if (seed % 3 != 0 && seed % 5 == 0) make_commuting(drawn.graph, random);
                      if (seed % 3 != 0 && seed % 7 == 0) {
                        drawn.wilful = true;
                        make_external(drawn.graph, random);
                      }
                      for (std::uint64_t task = 0; task < faulty_tasks && seed % 4 == 0; ++task) {
                        if ((task + seed) % 3 == 0) drawn.faults.returns.emplace(task);
                      }
                      return with_random_schedule(std::move(drawn));
                    }).sums;
  if (seeds.few) return;
  EXPECT_GT(sums.tasks_run, 10000U);
  EXPECT_GT(sums.evictions, 1000U);
  EXPECT_GT(sums.tasks_cancelled, 500U);
  EXPECT_GT(sums.tasks_returned, 1000U);
}

// Values of any size up to their bound, in memories that are often the least that tasks need.
TEST(PolicyContract, EveryPromiseIsKeptWhereDataVaryInSize) {
  Seeds const seeds(9000001, 6400);
  auto const totals = run_cases(seeds, draw_varying_case);
  auto const& sums = totals.sums;
  if (seeds.few) return;
  EXPECT_GT(sums.values_sized, 40000U);
  EXPECT_GT(sums.evictions, 1000U);
  EXPECT_GT(sums.tasks_cancelled, 500U);
  EXPECT_GT(sums.tasks_returned + sums.tasks_stopped, 500U);
}

// Data whose homes are devices of a few kilobytes, with parts, mirrors and values of varying size.
TEST(PolicyContract, EveryPromiseIsKeptWhereDataAreOnSmallDevices) {
  Seeds const seeds(10000001, 1600);
  auto const sums = run_cases(seeds, draw_device_views_case).sums;
  if (seeds.few) return;
  EXPECT_GT(sums.tasks_run, 40000U);
  EXPECT_GT(sums.evictions, 10000U);
  EXPECT_GT(sums.tasks_refused, 2000U);
  EXPECT_GT(sums.tasks_cancelled, 500U);
  EXPECT_GT(sums.tasks_outside, 500U);
}

// Policies throw, keep tasks back, or answer what they must not, at any call: the run ends, names them, and loses no
// value. In some cases tasks fail, too, share bytes, commute, are external, or come back.
TEST(PolicyContract, OthersAreKeptWhenAPolicyBreaksItsOwn) {
  Seeds const seeds(11000001, 2000);
  auto const sums = run_cases(seeds, [](std::uint64_t seed) {
                      auto drawn = seed % 4 == 0   ? draw_families_case(seed)
                                   : seed % 4 == 1 ? draw_device_case(seed, seed % 8 < 4)
                                   : seed % 4 == 2 ? draw_varying_case(seed)
                                                   : draw_case(seed, seed % 8 < 4);
                      Random random(seed);
                      bool const plain = seed % 4 == 1 || seed % 4 == 3;
                      if (plain && seed % 5 == 0) make_commuting(drawn.graph, random);
                      if (plain && seed % 7 == 0) {
                        drawn.wilful = true;
                        make_external(drawn.graph, random);
                      }
                      for (std::uint64_t task = 0; task < faulty_tasks && seed % 6 == 0; ++task) {
                        if ((task + seed) % 3 == 0) drawn.faults.returns.emplace(task);
                      }
                      drawn.misbehaves = true;
                      return drawn;
                    }).sums;
  if (seeds.few) return;
  EXPECT_GT(sums.policy_faults, 1200U);
  EXPECT_GT(sums.tasks_run, 10000U);
  EXPECT_GT(sums.tasks_cancelled, 5000U);
  EXPECT_GT(sums.evictions, 1000U);
}

PolicyCase with(std::string scheduler, PolicyCase drawn) {
  drawn.scheduler = std::move(scheduler);
  return drawn;
}

// Transfers of a few bytes take no time, so that all sources are equally near: nodes must not wait for each other.
TEST(PolicyContract, EveryPromiseIsKeptWhereAllSourcesAreEquallyNear) {
  EXPECT_NO_THROW(run_case(with("lws", draw_case(621956, false))));
}

// Several values that go home in opposite directions stand in reserves that grew around them.
TEST(PolicyContract, EveryPromiseIsKeptWhereReservesGrowAroundValuesOnTheirWay) {
  EXPECT_NO_THROW(run_case(with("dmdas", draw_case(1353128, true))));
}

// A datum is forgotten after its neighbour, which has read its value, failed to take it home.
TEST(PolicyContract, EveryPromiseIsKeptWhereANeighbourKeepsTheValueOfAForgottenDatum) {
  EXPECT_NO_THROW(run_case(with("eager", draw_families_case(5045188))));
}

// Bytes without a value are needed while the task that was to define them is cancelled, but has not ended.
TEST(PolicyContract, EveryPromiseIsKeptWhereBytesAreNotDefinedAfterAll) {
  EXPECT_NO_THROW(run_case(with("eager", draw_families_case(5076364))));
}

}  // namespace
}  // namespace granary::test
