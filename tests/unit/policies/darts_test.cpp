// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/registry.hpp>

#include <support/fake_system_view.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace granary::test {

using namespace detail;

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr GroupId g0{0};
constexpr GroupId g1{1};
constexpr NodeId n1{1};
constexpr NodeId n2{2};

class Darts : public testing::Test {
 public:
  explicit Darts(std::uint32_t count = 1) : view(devices(count)), run(view, make_scheduler("darts")) {}

  std::vector<DataId> data(std::initializer_list<Bytes> sizes) {
    std::vector<DataId> result;
    for (Bytes const bytes : sizes) result.push_back(view.add_data(bytes));
    return result;
  }
  TaskId ready(std::initializer_list<Access> accesses, std::int64_t priority = 0, std::int64_t nanoseconds = 100,
               std::uint64_t groups = ~std::uint64_t{0}) {
    TaskId const task = view.add_task(accesses, priority, Duration{nanoseconds}, groups);
    run.scheduler->ready(task);
    return task;
  }

  FakeSystemView view;
  FakeRun run;
};

class DartsOnTwo : public Darts {
 public:
  DartsOnTwo() : Darts(2) {}
};

// Line 6: one criterion at a time decides against the order of the ids; all criteria before it are equal and all after
// it favour the other datum.

TEST_F(Darts, smallest_ratio_of_transfer_to_computation) {
  auto const d = data({100, 50});
  ready({read(d[0])}, 9);
  ready({read(d[0])}, 9, 50);
  TaskId const best = ready({read(d[1])});
  EXPECT_EQ(run.next(g0), best);
}

TEST_F(Darts, ratios_are_compared_exactly) {
  Bytes const bytes = (Bytes{1} << 53) + 1;  // as a double it would equal 2^53
  auto const d = data({bytes, bytes - 1});
  ready({read(d[0])}, 9, 1000);
  TaskId const best = ready({read(d[1])}, 0, 1000);
  EXPECT_EQ(run.next(g0), best);
}

TEST_F(Darts, equal_ratios_most_free_tasks) {
  auto const d = data({100, 100});
  ready({read(d[0])}, 9, 100);
  TaskId const best = ready({read(d[1])}, 0, 50);
  TaskId const second = ready({read(d[1])}, 0, 50);
  EXPECT_EQ(run.next(g0), best);
  EXPECT_THAT(run.plan(), ElementsAre(second));
}

TEST_F(Darts, then_the_highest_priority_among_free_tasks) {
  auto const d = data({100, 100, 100, 100, 100});
  ready({read(d[0])}, 1);
  ready({read(d[0]), read(d[2])}, 9);  // of S1: does not count while there is S0
  ready({read(d[0]), read(d[3]), read(d[4])}, 9);
  TaskId const best = ready({read(d[1])}, 2);
  EXPECT_EQ(run.next(g0), best);
}

TEST_F(Darts, then_the_most_tasks_one_datum_further) {
  auto const d = data({100, 100, 100, 100, 100});
  ready({read(d[0])});
  ready({read(d[0]), read(d[3]), read(d[4])}, 0, 1000);
  TaskId const best = ready({read(d[1])});
  ready({read(d[1]), read(d[2])}, 0, 1);
  EXPECT_EQ(run.next(g0), best);
}

TEST_F(Darts, then_the_most_work_left) {
  auto const d = data({100, 100, 100, 100, 100});
  ready({read(d[0])});
  TaskId const best = ready({read(d[1])});
  ready({read(d[1]), read(d[3]), read(d[4])});
  EXPECT_EQ(run.next(g0), best);
}

TEST_F(Darts, then_the_lowest_id) {
  auto const d = data({100, 100});
  ready({read(d[1])});
  TaskId const best = ready({read(d[0])});
  EXPECT_EQ(run.next(g0), best);
}

// Lines 7 to 18

TEST_F(Darts, all_the_tasks_that_the_datum_frees_are_planned_by_priority) {
  auto const d = data({100, 100});
  TaskId const low = ready({read(d[0])}, 1);
  TaskId const first = ready({read(d[0])}, 7);
  TaskId const other = ready({read(d[0]), read(d[1])}, 9);
  TaskId const second = ready({read(d[0])}, 7);
  EXPECT_EQ(run.next_and_commit(), first);
  EXPECT_THAT(run.plan(), ElementsAre(second, low));
  EXPECT_EQ(run.next_and_commit(), second);
  EXPECT_EQ(run.next_and_commit(), low);
  EXPECT_EQ(run.next_and_commit(), other);
  EXPECT_EQ(run.next_and_commit(), TaskId{});
}

TEST_F(Darts, without_free_tasks_the_highest_priority_one_datum_further_decides) {
  auto const d = data({100, 100, 100, 100, 10, 10, 10});
  ready({read(d[0]), read(d[1])}, 1);
  ready({read(d[0]), read(d[1])}, 1);
  TaskId const best = ready({read(d[2]), read(d[3])}, 2);
  ready({read(d[4]), read(d[5]), read(d[6])}, 9);
  EXPECT_EQ(run.next(g0), best);
}

TEST_F(Darts, then_the_number_of_tasks_one_datum_further) {
  auto const d = data({100, 100, 100, 100, 100, 100, 100});
  ready({read(d[0]), read(d[5]), read(d[6])}, 0, 1000);
  ready({read(d[0]), read(d[1])}, 1);
  TaskId const best = ready({read(d[2]), read(d[3])}, 1);
  ready({read(d[2]), read(d[4])}, 0);
  EXPECT_EQ(run.next(g0), best);
}

TEST_F(Darts, one_task_is_planned_when_the_datum_frees_none_and_its_inputs_count_as_loaded) {
  auto const d = data({100, 100, 100});
  TaskId const later = ready({read(d[0]), read(d[2])}, 1);
  TaskId const best = ready({read(d[0]), read(d[1])}, 2);
  TaskId const shares_both = ready({read(d[0]), read(d[1])}, 0);
  EXPECT_EQ(run.next_and_commit(), best);
  EXPECT_THAT(run.plan(), IsEmpty());
  EXPECT_EQ(run.next_and_commit(), shares_both) << "it is free";
  EXPECT_EQ(run.next_and_commit(), later);
}

TEST_F(Darts, when_all_tasks_miss_three_data_the_highest_priority_runs) {
  auto const d = data({100, 100, 100, 100, 100});
  ready({read(d[0]), read(d[1]), read(d[2])}, 1);
  TaskId const best = ready({read(d[1]), read(d[2]), read(d[3])}, 2);
  ready({read(d[2]), read(d[3]), read(d[4])}, 2);
  EXPECT_EQ(run.next(g0), best);
}

// Section 5.3, at the end, and data that are evicted and loaded again

TEST_F(Darts, a_task_that_is_free_when_it_becomes_ready_goes_straight_to_the_plan) {
  auto const d = data({100, 100, 100});
  run.expect(d[0], n1);
  TaskId const on_node = ready({read(d[0])}, 0);
  EXPECT_THAT(run.plan(), ElementsAre(on_node)) << "its input is on its way";
  ready({read(d[1])}, 5);
  TaskId const user = ready({read(d[1])}, 4);
  EXPECT_EQ(run.next_and_commit(), on_node);
  run.next_and_commit();
  TaskId const planned_input = ready({read(d[0]), read(d[1])}, 9);
  EXPECT_THAT(run.plan(), ElementsAre(user, planned_input)) << "behind, whatever its priority";
}

TEST_F(Darts, inputs_of_committed_tasks_count_as_loaded) {
  auto const d = data({100});
  ready({read(d[0])});
  run.next_and_commit();
  TaskId const task = ready({read(d[0])});
  EXPECT_THAT(run.plan(), ElementsAre(task));
}

TEST_F(Darts, data_that_are_only_written_need_no_load_and_a_task_without_data_is_free) {
  auto const d = data({100, 100});
  TaskId const writes = ready({write(d[0])});
  TaskId const nothing = ready({});
  EXPECT_THAT(run.plan(), ElementsAre(writes, nothing));
  TaskId const updates = ready({read_write(d[1])}, 5);
  EXPECT_THAT(run.plan(), ElementsAre(writes, nothing)) << "read-write needs the value";
  run.next_and_commit();
  run.next_and_commit();
  EXPECT_EQ(run.next_and_commit(), updates);
}

TEST_F(Darts, a_datum_that_stands_twice_among_the_accesses_is_one_input) {
  auto const d = data({100, 100});
  TaskId const twice = ready({read(d[0]), read(d[0])}, 0);
  ready({read(d[0]), read(d[1])}, 9);
  EXPECT_EQ(run.next(g0), twice);
}

TEST_F(Darts, a_task_that_a_transfer_made_free_is_planned_before_a_datum_is_searched_for) {
  auto const d = data({100, 1});
  TaskId const freed = ready({read(d[0])}, 0);
  TaskId const cheap = ready({read(d[1])}, 9);
  run.load(d[0], n1);
  EXPECT_EQ(run.next_and_commit(), freed);
  EXPECT_EQ(run.next_and_commit(), cheap);
}

TEST_F(Darts, an_evicted_datum_must_be_loaded_again) {
  auto const d = data({100, 50});
  run.load(d[0], n1);
  TaskId const needs_both = ready({read(d[0]), read(d[1])});
  run.evict(d[0], n1);
  TaskId const best = ready({read(d[1])});
  EXPECT_EQ(run.next_and_commit(), best);
  EXPECT_EQ(run.next_and_commit(), needs_both);
}

TEST_F(Darts, withdrawn_tasks_return_and_are_found_again) {
  auto const d = data({100, 10});
  run.load(d[0], n1);
  TaskId const a = ready({read(d[0])}, 1);
  TaskId const b = ready({read(d[0])}, 2);
  EXPECT_THAT(run.plan(), ElementsAre(a, b));
  run.evict(d[0], n1);
  EXPECT_THAT(run.plan(), IsEmpty());
  TaskId const cheap = ready({read(d[1])});
  EXPECT_EQ(run.next_and_commit(), cheap);
  EXPECT_EQ(run.next_and_commit(), b);
  EXPECT_EQ(run.next_and_commit(), a);
  EXPECT_EQ(run.next_and_commit(), TaskId{});
}

TEST_F(Darts, a_withdrawn_task_is_not_planned_again_while_its_input_is_being_evicted) {
  auto const d = data({100});
  run.load(d[0], n1);
  ready({read(d[0])});
  ready({read(d[0])});
  run.withdraw_users(d[0], n1);
  EXPECT_THAT(run.plan(), IsEmpty());
}

TEST_F(Darts, cancelled_tasks_are_forgotten_planned_or_not) {
  auto const d = data({100, 100});
  run.load(d[0], n1);
  TaskId const planned = ready({read(d[0])});
  TaskId const waiting = ready({read(d[1])}, 9);
  TaskId const rest = ready({read(d[1])});
  run.scheduler->withdrawn(planned, Withdrawal::Cancelled, {});
  run.scheduler->withdrawn(waiting, Withdrawal::Cancelled, {});
  EXPECT_EQ(run.next_and_commit(), rest);
  EXPECT_EQ(run.next_and_commit(), TaskId{});
  EXPECT_FALSE(run.board.planned(planned));
}

TEST_F(Darts, durations_are_those_of_the_moment_when_the_task_became_ready) {
  auto const d = data({100, 100});
  TaskId const a = ready({read(d[0])}, 0, 100);
  TaskId const b = ready({read(d[1])}, 0, 200);
  view.set_duration(a, Duration{1000});
  run.scheduler->withdrawn(b, Withdrawal::Cancelled, {});
  TaskId const c = ready({read(d[1])}, 0, 200);
  EXPECT_EQ(run.next_and_commit(), c);
  EXPECT_EQ(run.next_and_commit(), a);
}

// Several groups

TEST_F(DartsOnTwo, a_free_task_goes_to_the_group_with_the_fewest_queued_tasks) {
  auto const d = data({100});
  run.load(d[0], n1);
  run.load(d[0], n2);
  TaskId const a = ready({read(d[0])});
  TaskId const b = ready({read(d[0])});
  TaskId const c = ready({read(d[0])});
  EXPECT_THAT(run.plan(g0), ElementsAre(a, c));
  EXPECT_THAT(run.plan(g1), ElementsAre(b));
  run.next_and_commit(g0);
  run.next_and_commit(g0);
  TaskId const e = ready({read(d[0])});
  EXPECT_THAT(run.plan(g1), ElementsAre(b, e)) << "committed tasks are queued too";
}

TEST_F(DartsOnTwo, a_task_is_considered_only_where_it_is_allowed) {
  auto const d = data({100, 100});
  TaskId const only0 = ready({read(d[0])}, 9, 1000, 1);
  TaskId const only1 = ready({read(d[1])}, 0, 1, 2);
  EXPECT_EQ(run.next_and_commit(g1), only1);
  EXPECT_EQ(run.next_and_commit(g1), TaskId{});
  EXPECT_EQ(run.next_and_commit(g0), only0);
  run.load(d[0], n2);
  TaskId const again = ready({read(d[0])}, 0, 1, 1);
  EXPECT_THAT(run.plan(g0), ElementsAre(again));
}

TEST_F(DartsOnTwo, a_replica_near_by_makes_a_datum_cheaper) {
  auto const d = data({100, 80});
  TaskId const far = ready({read(d[0])});
  TaskId const near = ready({read(d[1])});
  EXPECT_EQ(run.next_and_commit(g0), near);
  TaskId const other = ready({read(d[1])}, 0, 100, 2);
  run.load(d[0], n1);
  EXPECT_EQ(run.next_and_commit(g0), far);
  TaskId const cheaper = ready({read(d[0])}, 0, 100, 2);
  EXPECT_EQ(run.next_and_commit(g1), cheaper) << "50 ns from the other device against 80 ns from the host";
  EXPECT_EQ(run.next_and_commit(g1), other);
}

TEST_F(DartsOnTwo, transfer_times_follow_replicas_that_come_and_go_elsewhere) {
  auto const d = data({100, 80});
  ready({read(d[0])}, 0, 100, 2);
  TaskId const second = ready({read(d[1])}, 0, 100, 2);
  run.load(d[0], n1);
  ready({read(d[1])}, 0, 1, 2);  // makes the index look at d[1] only
  run.evict(d[0], n1);
  EXPECT_EQ(run.next_and_commit(g1), second);
}

TEST_F(DartsOnTwo, an_idle_group_takes_from_the_end_of_the_longest_plan) {
  auto const d = data({100});
  run.load(d[0], n1);
  TaskId const a = ready({read(d[0])});
  TaskId const b = ready({read(d[0])});
  TaskId const c = ready({read(d[0])}, 0, 100, 1);
  EXPECT_EQ(run.next_and_commit(g1), b);
  EXPECT_THAT(run.plan(g0), ElementsAre(a, c));
}

// On n1 a task takes 100 ns; moving a datum from there takes half a nanosecond per byte.
TEST_F(DartsOnTwo, an_idle_group_leaves_a_task_that_it_could_not_begin_sooner) {
  auto const d = data({300, 300, 100});
  for (DataId const x : d) run.load(x, n1);
  TaskId const a = ready({read(d[0])});
  TaskId const b = ready({read(d[1])});
  EXPECT_FALSE(run.next(g1).valid()) << "150 ns to move what waits for 100 ns";
  TaskId const c = ready({read(d[2])});
  EXPECT_EQ(run.next_and_commit(g1), c);
  EXPECT_EQ(run.next_and_commit(g0), a);
  EXPECT_FALSE(run.next(g1).valid());
  view.set_duration(a, Duration{150});
  EXPECT_EQ(run.next(g1), b);
}

TEST(DartsTwice, the_same_events_give_the_same_decisions) {
  std::vector<std::vector<TaskId>> orders;
  for (int repeat = 0; repeat < 2; ++repeat) {
    FakeSystemView view(devices(1));
    FakeRun run(view, make_scheduler("darts", static_cast<std::uint64_t>(repeat)));
    std::vector<DataId> data;
    for (int i = 0; i < 10; ++i) data.push_back(view.add_data());
    for (std::uint32_t i = 0; i < 40; ++i) {
      run.scheduler->ready(view.add_task({read(data[i % 10]), read(data[i * i % 7])}));
    }
    auto& order = orders.emplace_back();
    for (TaskId task = run.next_and_commit(); task.valid(); task = run.next_and_commit()) order.push_back(task);
    EXPECT_EQ(order.size(), 40U);
  }
  EXPECT_EQ(orders[0], orders[1]);
}

}  // namespace
}  // namespace granary::test
