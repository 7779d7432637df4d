// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks that change data in any order, one at a time.
#include "hand.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/random.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace granary::test {

using namespace detail;

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Four workers, and two data that are in memory.
class Commuting : public ::testing::Test {
 protected:
  Commuting() {
    hand.finish(hand.submit({write(a)}));
    hand.finish(hand.submit({write(b)}));
    hand.log.clear();
  }
  void finish(TaskId task) {
    ASSERT_TRUE(hand.runs_now(task));
    hand.finish(task);
  }
  [[nodiscard]] std::vector<TaskId> running() const {
    std::vector<TaskId> tasks;
    for (auto const& run : hand.runs) tasks.push_back(run.task);
    return tasks;
  }

  Hand hand{disk_and_host(1000, 8, 4), {.write_back_early = false}};
  DataId a = hand.stored("a", 100);
  DataId b = hand.stored("b", 100);
};

TEST_F(Commuting, OneTaskAtATimeHasItsTurn) {
  TaskId const first = hand.submit({commute(a)});
  TaskId const second = hand.submit({commute(a)});
  TaskId const other = hand.submit({commute(b)});
  EXPECT_THAT(running(), ElementsAre(first, other));
  finish(first);
  EXPECT_THAT(running(), ElementsAre(other, second));
  hand.finish_all();
  EXPECT_TRUE(hand.planner.idle());
}

TEST_F(Commuting, WhoIsReadyEarlierRunsEarlier) {
  TaskId const slow = hand.submit({read_write(b)});
  TaskId const waits = hand.submit({commute(a), read(b)});
  TaskId const next = hand.submit({commute(a)});
  TaskId const reader = hand.submit({read(a)});
  EXPECT_THAT(running(), ElementsAre(slow, next)) << "the one submitted later is not kept";
  finish(next);
  EXPECT_THAT(running(), ElementsAre(slow)) << "the reader follows both";
  finish(slow);
  EXPECT_THAT(running(), ElementsAre(waits));
  finish(waits);
  EXPECT_THAT(running(), ElementsAre(reader));
}

TEST_F(Commuting, HoldsNoTurnWhileItWaitsForAnother) {
  TaskId const on_b = hand.submit({commute(b)});
  TaskId const both = hand.submit({commute(a), commute(b)});
  TaskId const on_a = hand.submit({commute(a)});
  EXPECT_THAT(running(), ElementsAre(on_b, on_a));
  finish(on_b);
  EXPECT_THAT(running(), ElementsAre(on_a));
  finish(on_a);
  EXPECT_THAT(running(), ElementsAre(both));
}

TEST_F(Commuting, TheMostUrgentHasTheNextTurnThenTheFirstSubmitted) {
  TaskId const first = hand.submit({commute(a)});
  TaskId const last = hand.submit({commute(a)}, 0);
  TaskId const urgent = hand.submit({commute(a)}, 5);
  TaskId const urgent_too = hand.submit({commute(a)}, 5);
  hand.finish_all();
  EXPECT_THAT(hand.order_of_runs(), ElementsAre(first.value(), urgent.value(), urgent_too.value(), last.value()));
}

TEST_F(Commuting, TurnsOnSeveralDataGoToTheMostUrgentThatCanHaveAllOfItsOwn) {
  TaskId const both = hand.submit({commute(a), commute(b)});
  TaskId const on_a = hand.submit({commute(a)}, 1);
  TaskId const both_too = hand.submit({commute(b), commute(a)}, 2);
  TaskId const on_b = hand.submit({commute(b)}, 3);
  EXPECT_THAT(running(), ElementsAre(both));
  finish(both);
  EXPECT_THAT(running(), testing::UnorderedElementsAre(on_b, on_a)) << "the second has to wait for b";
  finish(on_a);
  EXPECT_THAT(running(), ElementsAre(on_b));
  finish(on_b);
  EXPECT_THAT(running(), ElementsAre(both_too));
}

TEST_F(Commuting, AFailureTakesTheValueAndCancelsTheOthers) {
  TaskId const first = hand.submit({commute(a), commute(b)});
  hand.submit({commute(a)});
  hand.submit({commute(b)});
  hand.submit({commute(b)});
  hand.submit({read(a)});
  hand.fail(first);
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
  EXPECT_EQ(hand.planner.statistics().tasks_cancelled, 4U);
  EXPECT_TRUE(hand.planner.inspect().poisoned(a));
  EXPECT_EQ(hand.planner.handle(TakeFailures{}).size(), 1U);
  hand.finish(hand.submit({write(b)}));
  hand.finish(hand.submit({commute(b)}));
  hand.finish_all();
}

// The one that has its turn runs to its end, and its result stays; but what follows would miss the other's part.
TEST_F(Commuting, WhatFollowsACancelledTaskIsCancelledAlthoughAnotherRanMeanwhile) {
  TaskId const input = hand.submit({read_write(b)});
  TaskId const running_one = hand.submit({commute(a)});
  hand.submit({commute(a), read(b)});
  hand.submit({commute(a)});
  hand.submit({read(a)});
  hand.fail(input);
  EXPECT_THAT(running(), ElementsAre(running_one));
  EXPECT_EQ(hand.planner.live_tasks(), 3U) << "one is cancelled already";
  finish(running_one);
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
  EXPECT_FALSE(hand.planner.inspect().poisoned(a));
  EXPECT_EQ(hand.planner.handle(TakeFailures{}).size(), 1U);
  TaskId const reader = hand.submit({read(a)});
  EXPECT_EQ(hand.planner.view().task(reader).accesses[0].version, 2U) << "its own write, and the one that ran";
  EXPECT_THAT(running(), ElementsAre(reader));
}

TEST_F(Commuting, ATaskThatComesBackKeepsItsTurn) {
  TaskId const first = hand.submit({commute(a)});
  TaskId const second = hand.submit({commute(a)}, 9);
  hand.runs.clear();
  hand.planner.handle(TaskReturned{first});
  hand.absorb();
  EXPECT_THAT(running(), ElementsAre(first));
  finish(first);
  EXPECT_THAT(running(), ElementsAre(second));
}

TEST_F(Commuting, CancelledTasksPassTheirTurnsOn) {
  TaskId const first = hand.submit({commute(a)});
  TaskId const reader = hand.submit({read(b)});
  hand.submit({commute(a), commute(b)});
  hand.submit({commute(a)});
  hand.submit({commute(b)});
  hand.cancel_all();
  EXPECT_THAT(running(), ElementsAre(first, reader));
  finish(reader);
  finish(first);
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
}

TEST_F(Commuting, ATaskThatAlsoReadsTheDatumKeepsItsPlace) {
  TaskId const first = hand.submit({commute(a)});
  TaskId const middle = hand.submit({commute(a), read(a)});
  TaskId const urgent = hand.submit({commute(a), commute(a)}, 5);
  hand.finish_all();
  EXPECT_THAT(hand.order_of_runs(), ElementsAre(first.value(), middle.value(), urgent.value()));
}

TEST_F(Commuting, TheLastValueHasTheVersionThatReadersExpect) {
  TaskId const slow = hand.submit({read_write(b)});
  TaskId const waits = hand.submit({commute(a), read(b)});
  TaskId const next = hand.submit({commute(a)});
  TaskId const reader = hand.submit({read(a)});
  EXPECT_EQ(hand.planner.view().task(reader).accesses[0].version, 3U) << "of three writes";
  finish(next);
  hand.flush();
  hand.finish_copies();
  finish(slow);
  finish(waits);
  finish(reader);
  hand.flush();
  hand.finish_copies();
  std::vector<std::uint32_t> versions;
  for (auto const& copy : hand.logged<CopyCommand>()) {
    if (copy.data == a) versions.push_back(copy.version);
  }
  EXPECT_THAT(versions, ElementsAre(2U, 3U));
}

TEST_F(Commuting, VersionsThatWereSkippedAreNotGivenToOthers) {
  TaskId const first = hand.submit({commute(a)});
  hand.submit({commute(a)});
  hand.cancel_all();
  finish(first);
  hand.planner.handle(TakeFailures{});
  TaskId const reader = hand.submit({read(a)});
  EXPECT_EQ(hand.planner.view().task(reader).accesses[0].version, 2U) << "the value that is there";
  for (int t = 0; t < 3; ++t) hand.submit({commute(a)});
  TaskId const later = hand.submit({read(a)});
  hand.finish_all();
  hand.flush();
  ASSERT_EQ(hand.copies.size(), 2U);
  EXPECT_EQ(hand.copies[0].data, a);
  EXPECT_EQ(hand.copies[0].version, 6U) << "task " << later.value() << " read it";
}

TEST_F(Commuting, NoExternalTaskDoes) {
  CodeletId const outside = hand.planner.handle(AddCodelet{{.name = "incoming value", .external = true}});
  std::array const accesses{commute(a)};
  EXPECT_THAT(message_of([&] { hand.planner.handle(TaskSubmission{.codelet = outside, .accesses = accesses}); }),
              HasSubstr("task 'incoming value' writes data 'a', which it reads, too, and no worker runs the task"));
}

TEST_F(Commuting, IsDescribed) {
  hand.submit({commute(a)});
  hand.submit({commute(a), commute(b)});
  EXPECT_THAT(hand.planner.inspect().describe_waiting(), HasSubstr("task 'work' 3: waits for task 'work' 2\n"));
}

// Gives the last of the ready tasks that may take their turns.
class LastTurnFirst final : public Scheduler {
 public:
  void attach(SystemView const& view, PlanBoard&) override { m_view = &view; }
  void ready(TaskId task) override { m_ready.push_back(task); }
  [[nodiscard]] TaskId next(GroupId) override {
    auto const found =
        std::find_if(m_ready.rbegin(), m_ready.rend(), [&](TaskId t) { return m_view->may_take_turn(t); });
    TaskId const task = found == m_ready.rend() ? TaskId() : *found;
    std::erase(m_ready, task);
    return task;
  }
  void withdrawn(TaskId task, Withdrawal, GroupId) override { std::erase(m_ready, task); }
  [[nodiscard]] Traits traits() const override { return {.chooses_turns = true}; }

 private:
  SystemView const* m_view = nullptr;
  std::vector<TaskId> m_ready;
};
SchedulerRegistration const last_turn_first("test-last-turn-first",
                                            [](PolicyOptions&) { return std::make_unique<LastTurnFirst>(); });

// The scheduler chooses the order of turns.
class ChosenTurns : public ::testing::Test {
 protected:
  ChosenTurns() {
    for (DataId const data : {a, b}) hand.finish(hand.submit({write(data)}));
    hand.log.clear();
  }
  // One task has its turn on both, and these wait for it.
  void submit_behind_one(std::vector<TaskId>& tasks) {
    first = hand.submit({commute(a), commute(b)});
    tasks = {hand.submit({commute(a)}), hand.submit({commute(a), commute(b)}), hand.submit({commute(a)})};
  }

  Hand hand{disk_and_host(1000, 8, 2), {.write_back_early = false}, "test-last-turn-first"};
  DataId a = hand.stored("a", 100);
  DataId b = hand.stored("b", 100);
  TaskId first;
};

TEST_F(ChosenTurns, AreThoseOfTheScheduler) {
  std::vector<TaskId> tasks;
  submit_behind_one(tasks);
  TaskId const reader = hand.submit({read(a)});
  EXPECT_EQ(hand.runs.size(), 1U) << "the others are ready, and have no turn";
  hand.finish_all();
  EXPECT_THAT(hand.order_of_runs(),
              ElementsAre(first.value(), tasks[2].value(), tasks[1].value(), tasks[0].value(), reader.value()));
}

TEST_F(ChosenTurns, AFailureCancelsThoseThatHaveNone) {
  std::vector<TaskId> tasks;
  submit_behind_one(tasks);
  hand.fail(first);
  EXPECT_EQ(hand.planner.live_tasks(), 0U);
  EXPECT_EQ(hand.planner.statistics().tasks_cancelled, 3U);
  EXPECT_EQ(hand.planner.handle(TakeFailures{}).size(), 1U);
}

TEST_F(ChosenTurns, AreLostByATaskThatComesBack) {
  std::vector<TaskId> tasks;
  submit_behind_one(tasks);
  std::erase_if(hand.runs, [&](RunCommand const& run) { return run.task == first; });
  hand.planner.handle(TaskReturned{first});
  hand.absorb();
  ASSERT_EQ(hand.runs.size(), 1U);
  EXPECT_EQ(hand.runs[0].task, first) << "the last that became ready";
  hand.finish_all();
  EXPECT_EQ(hand.planner.statistics().tasks_run, 6U);
}

// A worker's lane would run it while another task has its turn.
TEST(CommutingOnDevices, NoTaskFollowsAnotherWithoutItsTurn) {
  Hand hand(three_levels(4000, 1000), {.issue_ahead = Duration{0}, .device_issue = 2});
  DataId const a = hand.temporary("a", 100);
  DataId const b = hand.temporary("b", 100);
  for (auto const datum : {a, b}) hand.finish(hand.submit({write(datum)}));
  TaskId const first = hand.submit({read_write(a)});
  hand.submit({read(a), commute(b)});
  EXPECT_EQ(hand.runs.size(), 1U);
  hand.finish_all();
  TaskId const alone = hand.submit({commute(a)});
  TaskId const reader = hand.submit({read(a), read_write(b)});
  ASSERT_EQ(hand.runs.size(), 2U);
  EXPECT_EQ(hand.runs[0].task, alone) << "after task " << first.value();
  EXPECT_EQ(hand.runs[1].task, reader);
  EXPECT_TRUE(hand.runs[1].follows);
  hand.finish_all();
}

// Memory for two data, and tasks on two of them in either order: none of them holds what another one needs for ever.
TEST(CommutingInLittleMemory, TasksOnPairsOfDataAllRun) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    Hand hand(disk_and_host(200, 8, 4), {.depth = 3, .write_back_early = false});
    std::vector<DataId> data;
    for (int d = 0; d < 4; ++d) data.push_back(hand.stored("d" + std::to_string(d), 100));
    for (int t = 0; t < 100; ++t) {
      auto const one = data[random.below(4)];
      auto const other = data[random.below(4)];
      if (random.chance(0.8)) {
        hand.submit({commute(one), commute(other)}, random.between(-2, 2));
      } else {
        hand.submit({commute(one), read(other)}, random.between(-2, 2));
      }
    }
    hand.finish_all();
    EXPECT_EQ(hand.planner.statistics().tasks_run, 100U) << "seed " << seed;
    EXPECT_EQ(hand.planner.live_tasks(), 0U) << "seed " << seed;
  }
}

}  // namespace
}  // namespace granary::test
