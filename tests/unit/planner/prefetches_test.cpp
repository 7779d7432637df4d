// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs that are brought for planned tasks, before these are committed.
#include "hand.hpp"

#include <granary/detail/core/planner/movement/idle_replicas.hpp>

#include <gmock/gmock.h>

namespace granary::test {

using namespace detail;

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Victims final : public PlannerObserver {
 public:
  std::vector<DataId> evicted;  // for prefetches

 private:
  void noticed(Notice const& notice) override {
    auto const* const eviction = std::get_if<Evicted>(&notice);
    if (eviction != nullptr && eviction->reason == EvictionReason::Prefetch) evicted.push_back(eviction->data);
  }
};

// One committed task at a time, and one with the worker.
class Planned : public Hand {
 public:
  explicit Planned(Bytes capacity, std::string const& scheduler = "dmda:prefetch=assign")
      : Planned(disk_and_host(capacity), scheduler) {}
  explicit Planned(Machine machine, std::string const& scheduler = "dmda:prefetch=assign")
      : Hand(std::move(machine), {.depth = 1, .issue_depth = 1, .write_back_early = false}, scheduler) {
    planner.attach(m_victims);
  }

  [[nodiscard]] std::vector<DataId> moving() const {
    std::vector<DataId> data;
    for (auto const& copy : copies) data.push_back(copy.data);
    return data;
  }
  [[nodiscard]] std::vector<DataId> const& evicted_for_prefetches() const { return m_victims.evicted; }

 private:
  Victims m_victims;
};

TEST(Prefetches, TheInputsOfPlannedTasksComeInTheirOrderTwoAtOnce) {
  for (bool const wanted : {false, true}) {
    Planned hand(1000, wanted ? "dmda:prefetch=assign" : "dmda");
    DataId const a = hand.stored("a", 100);
    DataId const b = hand.stored("b", 100);
    DataId const c = hand.stored("c", 100);
    DataId const d = hand.stored("d", 100);
    hand.submit({read(a)});
    hand.submit({read(b), write(d)});
    hand.submit({read(c)});
    if (!wanted) {
      EXPECT_THAT(hand.moving(), ElementsAre(a));
      continue;
    }
    EXPECT_THAT(hand.moving(), ElementsAre(a, b));
    hand.finish_copy();
    EXPECT_THAT(hand.moving(), ElementsAre(b, c)) << "d is not read";
    hand.finish_all();
    for (DataId const data : {a, b, c}) EXPECT_EQ(hand.copies_of(data), 1U) << "committed tasks take them over";
    EXPECT_TRUE(hand.planner.idle());
  }
}

TEST(Prefetches, UrgentTasksComeFirst) {
  Planned hand(1000, "dmdas:prefetch=assign");
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  DataId const c = hand.stored("c", 100);
  DataId const d = hand.stored("d", 100);
  hand.submit({read(a)});
  hand.submit({read(b)}, 1);
  hand.submit({read(c)}, 2);
  hand.submit({read(d)}, 3);
  EXPECT_THAT(hand.moving(), ElementsAre(a, b));
  hand.copies.erase(hand.copies.begin() + 1);  // b's copy takes long
  hand.finish_copy();
  EXPECT_EQ(hand.moving().front(), d);
}

TEST(Prefetches, NothingIsEvictedThatACommittedOrPlannedTaskUses) {
  Planned hand(250);
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  DataId const c = hand.stored("c", 100);
  TaskId const first = hand.submit({read(a)});
  TaskId const second = hand.submit({read(b)});
  hand.submit({read(c)});
  hand.submit({read(a)});
  hand.finish_copies();
  EXPECT_TRUE(hand.runs_now(first));
  EXPECT_FALSE(hand.allocated(c)) << "there is no room";
  hand.finish(first);
  EXPECT_TRUE(hand.runs_now(second));
  EXPECT_THAT(hand.evicted_for_prefetches(), IsEmpty()) << "the last task uses a";
  hand.finish_all();
  EXPECT_THAT(hand.evicted_for_prefetches(), IsEmpty());
}

TEST(Prefetches, WhatNoTaskUsesMakesRoom) {
  Planned hand(250);
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  DataId const c = hand.stored("c", 100);
  TaskId const first = hand.submit({read(a)});
  hand.submit({read(b)});
  hand.submit({read(b)});
  hand.submit({read(c)});
  hand.finish_copies();
  EXPECT_FALSE(hand.allocated(c));
  hand.finish(first);
  EXPECT_THAT(hand.evicted_for_prefetches(), ElementsAre(a));
  EXPECT_THAT(hand.moving(), ElementsAre(c)) << "two tasks before its own";
  hand.finish_all();
}

TEST(Prefetches, AChangedValueIsWrittenBackBeforeItMakesRoom) {
  Planned hand(250);
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  DataId const c = hand.stored("c", 100);
  TaskId const first = hand.submit({write(a)});
  hand.submit({read(b)});
  hand.submit({read(b)});
  hand.submit({read(c)});
  hand.finish_copies();
  hand.finish(first);
  ASSERT_THAT(hand.moving(), ElementsAre(a));
  EXPECT_EQ(hand.copies[0].to.slot, Slot::Home);
  hand.finish_copy();
  EXPECT_THAT(hand.moving(), ElementsAre(c));
  hand.finish_all();
}

// The second task needs all the memory, and waits for the first.
TEST(Prefetches, TasksThatWaitForRoomGetItFirst) {
  Planned hand(250);
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 240);
  DataId const c = hand.stored("c", 100);
  TaskId const first = hand.submit({read(a)});
  hand.finish_copy();
  hand.submit({read(b)});
  hand.submit({read(c)});
  EXPECT_THAT(hand.moving(), IsEmpty()) << "c would fit, but b's task waits for room";
  hand.finish(first);
  EXPECT_THAT(hand.moving(), ElementsAre(b));
  hand.finish_all();
  EXPECT_EQ(hand.copies_of(c), 1U);
}

TEST(Prefetches, AFailedCopyIsTriedAgainByTheCommittedTask) {
  Planned hand(1000);
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  TaskId const first = hand.submit({read(a)});
  hand.submit({read(a)});
  hand.submit({read(b)});
  hand.finish_copy();
  ASSERT_THAT(hand.moving(), ElementsAre(b));
  EXPECT_TRUE(hand.runs_now(first));
  hand.fail_copy();
  EXPECT_FALSE(hand.planner.failed());
  EXPECT_THAT(hand.moving(), IsEmpty());
  hand.finish(first);
  EXPECT_THAT(hand.moving(), ElementsAre(b));
  hand.finish_all();
  EXPECT_FALSE(hand.planner.failed());
}

TEST(Prefetches, CancelledTasksWantNothing) {
  Planned hand(1000);
  std::vector<DataId> data;
  for (int i = 0; i < 6; ++i) data.push_back(hand.stored("d" + std::to_string(i), 100));
  for (DataId const datum : data) hand.submit({read(datum)});
  EXPECT_EQ(hand.copies.size(), 2U);
  hand.cancel_all();
  hand.finish_copies();
  EXPECT_EQ(hand.logged<CopyCommand>().size(), 2U);
  EXPECT_TRUE(hand.planner.idle());
}

TEST(Prefetches, NoWayThroughOtherMemories) {
  Planned hand(three_levels(1000, 1000));
  DataId const a = hand.stored("a", 100);
  DataId const b = hand.stored("b", 100);
  hand.submit({read(a)});
  hand.submit({read(b)});
  EXPECT_THAT(hand.moving(), ElementsAre(a));
  hand.finish_all();
  EXPECT_TRUE(hand.planner.idle());
}

TEST(Prefetches, TheReplicaThatIsIdleForLongestIsTaken) {
  detail::IdleReplicas idle;
  auto const all = [](DataId) { return true; };
  for (std::uint32_t const data : {3U, 1U, 2U, 3U}) idle.add(DataId(data));
  EXPECT_EQ(idle.take(all), DataId(1));
  EXPECT_EQ(idle.take([](DataId data) { return data != DataId(2); }), DataId(3)) << "it was used again";
  EXPECT_EQ(idle.take(all), DataId());
  idle.add(DataId(2));
  EXPECT_EQ(idle.take(all), DataId(2));
}

}  // namespace
}  // namespace granary::test
