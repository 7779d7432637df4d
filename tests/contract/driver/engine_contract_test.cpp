// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The random applications of the policy contract on the real engine. A failure prints its seed; tests/support/seeds.hpp
// describes how to run one seed alone, or many more.
#include "support/engine_player.hpp"
#include "support/seeds.hpp"

#include <gtest/gtest.h>

namespace granary::test {
namespace {

void play_cases(std::uint64_t first, std::uint64_t count, bool with_faults) {
  std::uint64_t inner_tasks = 0;
  std::uint64_t redefining = 0;
  Seeds const seeds(first, count);
  for (auto seed = seeds.first; seed < seeds.end; ++seed) {
    auto const drawn = draw_case(seed, with_faults);
    SCOPED_TRACE(drawn.describe());
    EnginePlayer player(drawn);
    ASSERT_NO_THROW(player.play());
    inner_tasks += player.inner_tasks();
    redefining += player.redefining_tasks();
    if (testing::Test::HasFailure()) return;
  }
  if (seeds.few) return;
  EXPECT_GT(inner_tasks, 0U) << "tasks of every third case may run as inner graphs";
  EXPECT_EQ(redefining > 0, with_faults) << "after a failure data are defined anew";
}

TEST(DriverContract, EveryReadSeesTheLastWriteAndHomesHoldTheLastValues) { play_cases(1, 1000, false); }

TEST(DriverContract, FailingTasksLeaveTheRestAlone) { play_cases(10'001, 500, true); }

// Bodies that are told to stop leave nonsense; what they read the next time is checked, and the journal is judged.
TEST(DriverContract, AbortedTasksRunAgainOnTheSameValues) {
  std::uint64_t aborted = 0;
  std::uint64_t redefining = 0;
  Seeds const seeds(40'001, 200);
  for (auto seed = seeds.first; seed < seeds.end && !HasFailure(); ++seed) {
    auto drawn = seed % 2 == 0 ? draw_device_case(seed, seed % 3 == 0) : draw_case(seed, seed % 3 == 0);
    drawn.aborts = seed % 4 != 0;
    if (!drawn.aborts) drawn.scheduler = seed % 8 == 0 ? "heteroprio:spoliation=sp" : "heteroprio:spoliation=pc";
    for (auto& codelet : drawn.graph.codelets) codelet.restartable = true;
    SCOPED_TRACE(drawn.describe());
    EnginePlayer player(drawn);
    ASSERT_NO_THROW(player.play());
    aborted += player.engine().statistics().planner.tasks_aborted;
    redefining += player.redefining_tasks();
  }
  if (seeds.few) return;
  EXPECT_GT(aborted, 500U);
  EXPECT_GT(redefining, 0U);
}

// All is cancelled while tasks are being stopped.
TEST(DriverContract, AnEngineMayEndWhileTasksAreAborted) {
  Seeds const seeds(41'001, 100);
  for (auto seed = seeds.first; seed < seeds.end && !HasFailure(); ++seed) {
    auto drawn = draw_case(seed, false);
    drawn.aborts = true;
    for (auto& codelet : drawn.graph.codelets) codelet.restartable = true;
    SCOPED_TRACE(drawn.describe());
    EnginePlayer(drawn).abandon();
  }
}

// The run ends with a sentence about the policy, whose function was not called any more.
TEST(DriverContract, PoliciesThatBreakTheirContractEndTheRunAndLoseNothing) {
  int thrown = 0, answered = 0, kept_back = 0;
  Seeds const seeds(50'001, 300);
  for (auto seed = seeds.first; seed < seeds.end && !HasFailure(); ++seed) {
    auto drawn = seed % 3 == 0 ? draw_device_case(seed, seed % 5 == 0) : draw_case(seed, seed % 5 == 0);
    drawn.misbehaves = true;
    SCOPED_TRACE(drawn.describe());
    EnginePlayer player(drawn);
    ASSERT_NO_THROW(player.play());
    auto const& misdeeds = player.misdeeds();
    EXPECT_FALSE(misdeeds.asked_after);
    bool const named = player.thrown().find(" 'mischief' ") != std::string::npos;
    EXPECT_TRUE(!named || misdeeds.any() || misdeeds.kept_back) << player.thrown();
    thrown += named && misdeeds.thrown ? 1 : 0;
    answered += named && misdeeds.answered ? 1 : 0;
    kept_back += named && misdeeds.kept_back ? 1 : 0;
  }
  if (seeds.few) return;
  EXPECT_GT(thrown, 30);
  EXPECT_GT(answered, 30);
  EXPECT_GT(kept_back, 10);
}

TEST(DriverContract, StoragesMayAnswerLateAndOutOfOrder) {
  Seeds const seeds(20'001, 150);
  for (auto seed = seeds.first; seed < seeds.end && !HasFailure(); ++seed) {
    auto const drawn = draw_case(seed, false);
    SCOPED_TRACE(drawn.describe());
    ASSERT_NO_THROW(EnginePlayer(drawn, {.storage = Faults{.hold = 1U << 30, .seed = seed}}).play());
  }
}

TEST(DriverContract, FailingAndShortStorageOperationsAreReportedAndCorruptNothing) {
  int reported = 0;
  Seeds const seeds(30'001, 200);
  for (auto seed = seeds.first; seed < seeds.end && !HasFailure(); ++seed) {
    auto const drawn = draw_case(seed, false);
    SCOPED_TRACE(drawn.describe());
    detail::Random random(seed);
    Faults faults{.half_done = random.chance(0.5), .hold = 1U << 30, .seed = seed};
    if (random.chance(0.5)) {
      faults.fail_read = 1 + random.below(8);
    } else {
      faults.fail_write = 1 + random.below(5);
    }
    EnginePlayer player(drawn, {.storage = faults});
    ASSERT_NO_THROW(player.play());
    reported += player.failed() ? 1 : 0;
  }
  if (seeds.few) return;
  EXPECT_GT(reported, 20);
}

}  // namespace
}  // namespace granary::test
