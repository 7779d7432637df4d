// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every registered policy on random applications and machines. A failure prints its seed; GRANARY_TEST_SEED=<seed> runs
// only that seed and prints it; GRANARY_TEST_CASES=<n> runs n of each kind instead of the default number.
#include "support/policy_case.hpp"
#include "support/seeds.hpp"

#include <granary/policies/registry.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <iostream>
#include <set>

namespace granary::test {
namespace {

struct Totals {
  std::uint64_t tasks = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t copies = 0;
  std::uint64_t evictions = 0;
  std::uint64_t failures = 0;
  std::uint64_t redefined = 0;
  std::set<std::pair<std::string, std::string>> pairs;
};

/// Every eighth case runs twice and must give the same commands.
Totals run_cases(Seeds const& seeds, bool with_faults) {
  Totals totals;
  int broken = 0;
  for (auto seed = seeds.first; seed < seeds.end && broken < 5; ++seed) {
    auto const drawn = draw_case(seed, with_faults);
    try {
      auto const result = run_case(drawn, seeds.one_alone ? &std::cout : nullptr);
      totals.tasks += result.tasks_run;
      totals.cancelled += result.tasks_cancelled;
      totals.copies += result.copies;
      totals.evictions += result.evictions;
      totals.failures += result.failures;
      totals.redefined += result.redefined;
      totals.pairs.emplace(drawn.scheduler, drawn.eviction);
      if (seed % 8 == 0) {
        EXPECT_TRUE(run_case(drawn).acts == result.acts) << drawn.describe() << ": other commands when run again";
      }
    } catch (std::exception const& error) {
      ++broken;
      ADD_FAILURE() << drawn.describe() << ": " << error.what();
    }
  }
  GTEST_LOG_(INFO) << "seeds " << seeds.first << " to " << seeds.end - 1 << ": " << totals.tasks << " tasks run, "
                   << totals.cancelled << " cancelled, " << totals.copies << " copies, " << totals.evictions
                   << " evictions, " << totals.failures << " failures reported, " << totals.redefined
                   << " tasks that define poisoned data again";
  return totals;
}

std::size_t pairs() { return scheduler_names().size() * eviction_names().size(); }

TEST(PolicyContract, EveryPromiseIsKeptOnRandomCases) {
  Seeds const seeds(1, 3000);
  auto const totals = run_cases(seeds, false);
  if (seeds.one_alone) return;
  EXPECT_EQ(totals.pairs.size(), pairs());
  EXPECT_EQ(totals.failures, 0U);
  EXPECT_GT(totals.evictions, 1000U) << "the memories are not tight enough to test anything";
}

TEST(PolicyContract, EveryPromiseIsKeptWhenCopiesAndTasksFail) {
  Seeds const seeds(1000001, 2000);
  auto const totals = run_cases(seeds, true);
  if (seeds.one_alone) return;
  EXPECT_EQ(totals.pairs.size(), pairs());
  EXPECT_GT(totals.failures, 500U);
  EXPECT_GT(totals.cancelled, 500U);
  EXPECT_GT(totals.redefined, 50U);
}

// Two thirds of the tasks come back once from their workers.
TEST(PolicyContract, EveryPromiseIsKeptWhenWorkersGiveTasksBack) {
  Seeds const seeds(2000001, 1000);
  std::uint64_t returned = 0;
  for (auto seed = seeds.first; seed < seeds.end && !HasFailure(); ++seed) {
    auto drawn = draw_case(seed, seed % 2 == 0);
    for (std::uint64_t task = 0; task < 400; ++task) {
      if ((task + seed) % 3 != 0) drawn.faults.returns.emplace(task);
    }
    try {
      returned += run_case(drawn, seeds.one_alone ? &std::cout : nullptr).tasks_returned;
    } catch (std::exception const& error) {
      ADD_FAILURE() << drawn.describe() << ": " << error.what();
    }
  }
  if (seeds.one_alone) return;
  EXPECT_GT(returned, 4000U);
}

// Half of the tasks that need no worker are external, half of the data have more places, tasks are stopped halfway,
// followers taken back, values flushed in mid-run, and sometimes all is cancelled.
TEST(PolicyContract, EveryPromiseIsKeptWithExternalTasksPlacesAndRestarts) {
  Seeds const seeds(3000001, 1000);
  std::uint64_t outside = 0;
  std::uint64_t stopped = 0;
  std::uint64_t returned = 0;
  for (auto seed = seeds.first; seed < seeds.end && !HasFailure(); ++seed) {
    auto drawn = draw_case(seed, seed % 2 == 0);
    Random random(seed);
    for (auto& codelet : drawn.graph.codelets) codelet.restartable = true;
    if (seed % 3 != 0) add_places(drawn.graph, drawn.machine, random);
    drawn.wilful = true;
    if (seed % 5 != 0) make_external(drawn.graph, random);
    for (std::uint64_t task = 0; task < 400; ++task) {
      if ((task + seed) % 3 != 0) drawn.faults.stops.emplace(task);
      if ((task + seed) % 4 == 0) drawn.faults.recalls.emplace(task);
    }
    try {
      auto const result = run_case(drawn, seeds.one_alone ? &std::cout : nullptr);
      outside += result.tasks_outside;
      stopped += result.tasks_stopped;
      returned += result.tasks_returned;
    } catch (std::exception const& error) {
      ADD_FAILURE() << drawn.describe() << ": " << error.what();
    }
  }
  if (seeds.one_alone) return;
  EXPECT_GT(outside, 2000U);
  EXPECT_GT(stopped, 2000U);
  EXPECT_GT(returned, 1000U);
}

// Transfers of a few bytes take no time, so that all sources are equally near: nodes must not wait for each other.
TEST(PolicyContract, EveryPromiseIsKeptWhereAllSourcesAreEquallyNear) {
  EXPECT_NO_THROW(run_case(draw_case(621956, false)));
}

// Several values that go home in opposite directions stand in reserves that grew around them.
TEST(PolicyContract, EveryPromiseIsKeptWhereReservesGrowAroundValuesOnTheirWay) {
  EXPECT_NO_THROW(run_case(draw_case(1353128, true)));
}

}  // namespace
}  // namespace granary::test
