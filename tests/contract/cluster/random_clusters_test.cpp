// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every registered policy on random applications and clusters. A failure prints its seed; GRANARY_TEST_SEED=<seed> runs
// only that seed and prints it; GRANARY_TEST_CASES=<n> runs n of each kind instead of the default number.
#include "cluster_case.hpp"

#include "support/seeds.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <iostream>
#include <set>
#include <string>

namespace granary::test {
namespace {

struct ClusterTotals {
  ClusterCaseResult sums;  // without acts
  std::set<std::string> schedulers;
  std::set<std::string> evictions;

  void add(ClusterCase const& drawn, ClusterCaseResult const& result) {
    using Counts = ClusterOracle::Counts;
    for (auto const part : {&Counts::tasks_run, &Counts::tasks_cancelled, &Counts::incoming_values, &Counts::sent,
                            &Counts::copies, &Counts::turns}) {
      sums.counts.*part += result.counts.*part;
    }
    for (auto const part :
         {&ClusterCaseResult::evictions, &ClusterCaseResult::failures, &ClusterCaseResult::remote_failures,
          &ClusterCaseResult::refused, &ClusterCaseResult::returned, &ClusterCaseResult::messages}) {
      sums.*part += result.*part;
    }
    for (auto const& [scheduler, eviction] : drawn.policies) {
      schedulers.insert(scheduler);
      evictions.insert(eviction);
    }
  }
};

/// Every eighth case runs twice and must give the same commands.
ClusterTotals run_clusters(Seeds const& seeds, ClusterCaseOptions options) {
  ClusterTotals totals;
  int broken = 0;
  for (auto seed = seeds.first; seed < seeds.end && broken < 5; ++seed) {
    ClusterCase const drawn = draw_cluster_case(seed, options);
    try {
      auto const result = run_cluster_case(drawn, seeds.one_alone ? &std::cout : nullptr);
      totals.add(drawn, result);
      if (seed % 8 == 0) {
        EXPECT_TRUE(run_cluster_case(drawn).acts == result.acts)
            << drawn.describe() << ": other commands when run again";
      }
    } catch (std::exception const& error) {
      ++broken;
      ADD_FAILURE() << drawn.describe() << ": " << error.what();
    }
  }
  auto const& sums = totals.sums;
  GTEST_LOG_(INFO) << "seeds " << seeds.first << " to " << seeds.end - 1 << ": " << sums.counts.tasks_run
                   << " tasks run, " << sums.counts.tasks_cancelled << " cancelled, " << sums.counts.incoming_values
                   << " incoming values, " << sums.counts.sent << " values sent, " << sums.counts.copies << " copies, "
                   << sums.evictions << " evictions, " << sums.messages << " messages, " << sums.failures
                   << " failures reported, " << sums.remote_failures << " of values from elsewhere, " << sums.refused
                   << " tasks refused, " << sums.returned << " given back, " << sums.counts.turns << " took turns";
  return totals;
}

TEST(ClusterContract, EveryPromiseIsKeptOnRandomClusters) {
  Seeds const seeds(1, 2000);
  auto const totals = run_clusters(seeds, {});
  if (seeds.few) return;
  EXPECT_EQ(totals.sums.failures, 0U);
  EXPECT_GT(totals.sums.counts.sent, totals.sums.counts.incoming_values) << "no value was asked for again";
}

TEST(ClusterContract, EveryPromiseIsKeptInTheLeastMemory) {
  Seeds const seeds(1000001, 2000);
  auto const totals = run_clusters(seeds, {.exact = true});
  if (seeds.few) return;
  EXPECT_EQ(totals.sums.failures, 0U);
  EXPECT_GT(totals.sums.evictions, 1000U);
}

TEST(ClusterContract, EveryPromiseIsKeptOnAnyMachine) {
  Seeds const seeds(3000001, 1000);
  auto const totals = run_clusters(seeds, {.any_machine = true});
  if (seeds.few) return;
  EXPECT_EQ(totals.sums.failures, 0U);
}

// A third of the cases each in the least memory, with faults, and on any machine.
TEST(ClusterContract, EveryPromiseIsKeptWhereDataVaryInSize) {
  Seeds const seeds(4000001, 1200);
  ClusterCaseOptions const kinds[] = {
      {.varying = true, .exact = true}, {.faults = true, .varying = true}, {.any_machine = true, .varying = true}};
  for (auto const& kind : kinds) {
    auto const totals = run_clusters(seeds, kind);
    if (seeds.few) continue;
    EXPECT_EQ(totals.sums.failures > 0, kind.faults);
    EXPECT_GT(totals.sums.counts.incoming_values, 1000U);
  }
}

// Values two nodes from the send node, whose way needs write-backs that pass the send node.
TEST(ClusterContract, OutgoingValuesLetOthersPassTheAreSent) {
  for (std::uint64_t const seed : {3004034U, 3017536U})
    run_clusters(Seeds(seed, 1), {.any_machine = true, .booking = false});
}

TEST(ClusterContract, EveryPromiseIsKeptWhenCopiesAndTasksFail) {
  Seeds const seeds(2000001, 2000);
  auto const totals = run_clusters(seeds, {.faults = true});
  if (seeds.few) return;
  EXPECT_GT(totals.sums.failures, 100U);
  EXPECT_GT(totals.sums.remote_failures, 100U);
  EXPECT_GT(totals.sums.counts.tasks_cancelled, 100U);
}

// Each of two processes waits for a value of the other one, which has to pass through memory that the waiting task
// holds.
TEST(ClusterContract, EveryPromiseIsKeptWhereValuesForOthersPassThroughMemoryOfTasks) {
  EXPECT_NO_THROW(run_cluster_case(draw_cluster_case(3001995, {.any_machine = true, .booking = false})));
}

}  // namespace
}  // namespace granary::test
