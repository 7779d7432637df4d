// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every registered policy on random applications and machines. A failure prints its seed; GRANARY_TEST_SEED=<seed> runs
// only that seed and prints it; GRANARY_TEST_CASES=<n> runs n of each kind instead of the default number.
#include "support/contract_cases.hpp"
#include "support/schedule_case.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace granary::test {
namespace {

/// Runs the cases of the seeds; each broken promise is a failure of the test.
template <class Draw>
ContractTotals judge_cases(Seeds const& seeds, Draw&& draw) {
  auto totals = run_cases(seeds, draw);
  for (auto const& broken : totals.broken) ADD_FAILURE() << broken;
  GTEST_LOG_(INFO) << "seeds " << seeds.first << " to " << seeds.end - 1 << ": " << totals.summary();
  return totals;
}

ContractTotals judge_cases(std::string_view kind) {
  auto const& cases = contract_cases(kind);
  return judge_cases(cases.seeds(), cases.draw);
}

bool few_cases() { return Seeds(0, 1).few; }

std::size_t pairs() { return tested_schedulers().size() * tested_evictions().size(); }

TEST(PolicyContract, EveryPromiseIsKeptOnRandomCases) {
  auto const totals = judge_cases("OnRandomCases");
  if (few_cases()) return;
  EXPECT_EQ(totals.pairs.size(), pairs());
  EXPECT_EQ(totals.sums.failures, 0U);
  EXPECT_GT(totals.sums.evictions, 1000U) << "the memories are not tight enough to test anything";
}

TEST(PolicyContract, EveryPromiseIsKeptWhenCopiesAndTasksFail) {
  auto const totals = judge_cases("WhenCopiesAndTasksFail");
  if (few_cases()) return;
  EXPECT_EQ(totals.pairs.size(), pairs());
  EXPECT_GT(totals.sums.failures, 500U);
  EXPECT_GT(totals.sums.tasks_cancelled, 500U);
  EXPECT_GT(totals.sums.redefined, 50U);
}

TEST(PolicyContract, EveryPromiseIsKeptWhenWorkersGiveTasksBack) {
  auto const sums = judge_cases("WhenWorkersGiveTasksBack").sums;
  if (few_cases()) return;
  EXPECT_GT(sums.tasks_returned, 4000U);
}

TEST(PolicyContract, EveryPromiseIsKeptWithExternalTasksPlacesAndRestarts) {
  auto const sums = judge_cases("WithExternalTasksPlacesAndRestarts").sums;
  if (few_cases()) return;
  EXPECT_GT(sums.tasks_outside, 2000U);
  EXPECT_GT(sums.tasks_stopped, 2000U);
  EXPECT_GT(sums.tasks_returned, 1000U);
}

TEST(PolicyContract, EveryPromiseIsKeptWhereTasksCommute) {
  auto const sums = judge_cases("WhereTasksCommute").sums;
  if (few_cases()) return;
  EXPECT_GT(sums.turns, 5000U);
  EXPECT_GT(sums.tasks_cancelled, 500U);
  EXPECT_GT(sums.tasks_outside, 500U);
  EXPECT_GT(sums.tasks_returned + sums.tasks_stopped, 1000U);
}

TEST(PolicyContract, EveryPromiseIsKeptWhereNoOldValueIsKept) {
  auto const sums = judge_cases("WhereNoOldValueIsKept").sums;
  if (few_cases()) return;
  EXPECT_GT(sums.failures, 500U);
  EXPECT_GT(sums.tasks_cancelled, 1000U);
  EXPECT_GT(sums.redefined, 50U);
}

TEST(PolicyContract, EveryPromiseIsKeptWhereDataShareBytes) {
  auto const sums = judge_cases("WhereDataShareBytes").sums;
  if (few_cases()) return;
  EXPECT_GT(sums.tasks_run, 10000U);
  EXPECT_GT(sums.tasks_cancelled, 1000U);
  EXPECT_GT(sums.redefined, 20U);
}

TEST(PolicyContract, EveryPromiseIsKeptWhereSchedulersAbortTasks) {
  auto const sums = judge_cases("WhereSchedulersAbortTasks").sums;
  if (few_cases()) return;
  EXPECT_GT(sums.tasks_aborted, 4000U);
  EXPECT_GT(sums.values_kept, 4000U);
  EXPECT_GT(sums.failures, 300U);
}

TEST(PolicyContract, EveryPromiseIsKeptWhereDataVaryInSize) {
  auto const sums = judge_cases("WhereDataVaryInSize").sums;
  if (few_cases()) return;
  EXPECT_GT(sums.values_sized, 40000U);
  EXPECT_GT(sums.evictions, 1000U);
  EXPECT_GT(sums.tasks_cancelled, 500U);
  EXPECT_GT(sums.tasks_returned + sums.tasks_stopped, 500U);
}

TEST(PolicyContract, EveryPromiseIsKeptWhereDataAreOnSmallDevices) {
  auto const sums = judge_cases("WhereDataAreOnSmallDevices").sums;
  if (few_cases()) return;
  EXPECT_GT(sums.tasks_run, 40000U);
  EXPECT_GT(sums.evictions, 10000U);
  EXPECT_GT(sums.tasks_refused, 2000U);
  EXPECT_GT(sums.tasks_cancelled, 500U);
  EXPECT_GT(sums.tasks_outside, 500U);
}

// Schedules that are mostly nonsense, with all that happens in the cases above. Every task runs.
TEST(PolicyContract, EveryPromiseIsKeptWhateverAScheduleSays) {
  Seeds const seeds(8000001, 2000);
  auto const sums = judge_cases(seeds, [](auto seed) {
                      auto drawn = seed % 3 == 0   ? draw_families_case(seed)
                                   : seed % 3 == 1 ? draw_case(seed, seed % 4 < 2)
                                                   : draw_device_case(seed, seed % 4 < 2);
                      detail::Random random(seed);
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

// Policies throw, keep tasks back, or answer what they must not, at any call: the run ends, names them, and loses no
// value. In some cases tasks fail, too, share bytes, commute, are external, or come back.
TEST(PolicyContract, OthersAreKeptWhenAPolicyBreaksItsOwn) {
  Seeds const seeds(11000001, 2000);
  auto const sums = judge_cases(seeds, [](std::uint64_t seed) {
                      auto drawn = seed % 4 == 0   ? draw_families_case(seed)
                                   : seed % 4 == 1 ? draw_device_case(seed, seed % 8 < 4)
                                   : seed % 4 == 2 ? draw_varying_case(seed)
                                                   : draw_case(seed, seed % 8 < 4);
                      detail::Random random(seed);
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
