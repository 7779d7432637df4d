// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/policies/dmda/expected_start.hpp>
#include <granary/detail/policies/registry.hpp>

#include <support/fake_system_view.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

namespace granary::test::dmda_test {

using namespace detail;

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr GroupId g0{0};
constexpr GroupId g1{1};
constexpr NodeId n1{1};
constexpr NodeId n2{2};
constexpr WorkerId w0{0};

class DmdaFamily {
 public:
  explicit DmdaFamily(std::string const& scheduler, std::uint32_t count = 2) : DmdaFamily(scheduler, devices(count)) {}
  DmdaFamily(std::string const& scheduler, Machine machine)
      : view(std::move(machine)), run(view, make_scheduler(scheduler)) {}

  TaskId ready(std::initializer_list<Access> accesses, std::int64_t nanoseconds = 100, std::int64_t priority = 0,
               std::uint64_t groups = ~std::uint64_t{0}) {
    TaskId const task = view.add_task(accesses, priority, Duration{nanoseconds}, groups);
    run.scheduler->ready(task);
    return task;
  }
  // Queued tasks keep their places when an input is evicted.
  void drop(DataId data, NodeId node) {
    view.set_expected(data, node, false);
    view.set_valid(data, node, false);
    run.events().replica_dropped(data, node);
  }
  void at(std::int64_t nanoseconds) { view.set_now(Instant{Duration{nanoseconds}}); }

  FakeSystemView view;
  FakeRun run;
};

TEST(Dmda, a_task_goes_where_its_data_are) {
  DmdaFamily t("dmda");
  auto const d = t.view.add_data(100);
  t.run.load(d, n2);
  TaskId const task = t.ready({read(d)});
  EXPECT_THAT(t.run.plan(g0), IsEmpty());
  EXPECT_THAT(t.run.plan(g1), ElementsAre(task));
}

TEST(Dmda, what_is_only_written_is_not_transferred) {
  DmdaFamily t("dmda");
  auto const d = t.view.add_data(100);
  t.run.load(d, n2);
  TaskId const task = t.ready({write(d)});
  EXPECT_THAT(t.run.plan(g0), ElementsAre(task));
}

// Equation 4.2: 50 ns of transfer from the other device and 100 of computation against 300 of computation.
TEST(Dmda, transfers_and_computation_are_weighed) {
  for (auto const& [scheduler, chosen] : {std::pair("dmda", g0), std::pair("dmda:beta=10", g1)}) {
    DmdaFamily t(scheduler);
    auto const d = t.view.add_data(100);
    t.run.load(d, n2);
    TaskId const task = t.view.add_task({read(d)});
    t.view.set_duration(task, g1, Duration{300});
    t.run.scheduler->ready(task);
    EXPECT_THAT(t.run.plan(chosen), ElementsAre(task)) << scheduler;
  }
}

// Two devices behind one bus: four transfers may share it, so 100 ns become 400. The 180 ns of work that wait at the
// datum's device are less than that, and more than 100.
TEST(Dmda, transfers_are_expected_to_share_their_bus) {
  for (auto const& [scheduler, chosen] : {std::pair("dmda", g0), std::pair("dmda:contention=0", g1)}) {
    Machine machine = devices(2);
    auto const bus = machine.add_bus({.name = "bus", .bandwidth = 1e9});
    for (auto& link : machine.links) link.buses = {bus};
    DmdaFamily t(scheduler, std::move(machine));
    auto const d = t.view.add_data(100);
    t.run.expect(d, n1);
    t.ready({}, 180);
    TaskId const far = t.ready({}, 1);
    TaskId const task = t.ready({read(d)}, 1);
    EXPECT_EQ(t.run.plan(chosen).back(), task) << scheduler;
    EXPECT_EQ(t.run.plan(g1).front(), far);
  }
}

// Algorithm 1, lines 6 to 8.
TEST(Dmda, inputs_are_wanted_at_assignment_if_asked) {
  for (std::string const scheduler : {"dmda", "dmdar", "dmdas"}) {
    for (bool const at_assignment : {false, true}) {
      DmdaFamily t(scheduler + (at_assignment ? ":prefetch=assign" : ""));
      TaskId const task = t.ready({read(t.view.add_data())});
      EXPECT_EQ(t.run.board.wants_inputs(task), at_assignment) << scheduler;
    }
  }
  EXPECT_THROW((void)make_scheduler("dmda:prefetch=take"), InvalidArgument);
}

TEST(Dmda, alpha_weighs_the_end) {
  DmdaFamily t("dmda:alpha=0");
  TaskId const a = t.ready({});
  TaskId const b = t.ready({});
  EXPECT_THAT(t.run.plan(g0), ElementsAre(a, b));
}

TEST(Dmda, queued_work_is_counted) {
  DmdaFamily t("dmda");
  TaskId const a = t.ready({}, 100);
  TaskId const b = t.ready({}, 250);
  TaskId const c = t.ready({}, 100);  // 100 + 100 against 250 + 100
  TaskId const d = t.ready({}, 60);   // 200 + 60 against 250 + 60
  TaskId const e = t.ready({}, 60);   // 260 + 60 against 250 + 60
  EXPECT_THAT(t.run.plan(g0), ElementsAre(a, c, d));
  EXPECT_THAT(t.run.plan(g1), ElementsAre(b, e));
}

TEST(Dmda, an_input_that_an_assigned_task_brings_is_transferred_once) {
  DmdaFamily t("dmda");
  auto const d = t.view.add_data(100);
  auto const other = t.view.add_data(100);
  TaskId const a = t.ready({read(d)}, 10);
  TaskId const b = t.ready({read(d)}, 10);      // 10 + 10 against 100 + 10
  TaskId const c = t.ready({read(other)}, 10);  // 20 + 110 against 110
  EXPECT_THAT(t.run.plan(g0), ElementsAre(a, b));
  EXPECT_THAT(t.run.plan(g1), ElementsAre(c));
  EXPECT_EQ(t.run.next_and_commit(g0), a);
  EXPECT_EQ(t.run.next_and_commit(g0), b);
  TaskId const e = t.ready({read(d)}, 10);  // the committed ones bring it as well
  EXPECT_THAT(t.run.plan(g0), ElementsAre(e));
}

TEST(Dmda, of_a_running_task_what_is_left_is_counted) {
  for (auto const& [now, chosen] : {std::pair(20, g1), std::pair(90, g0), std::pair(500, g0)}) {
    DmdaFamily t("dmda");
    t.at(0);
    TaskId const a = t.ready({}, 100);
    t.ready({}, 50);
    EXPECT_EQ(t.run.next_and_commit(g0), a);
    t.run.issue(a, w0);
    t.at(now);
    TaskId const b = t.ready({}, 100);
    EXPECT_EQ(t.run.plan(chosen).back(), b) << now;
  }
}

TEST(Dmda, a_finished_task_leaves_its_group_free) {
  DmdaFamily t("dmda");
  TaskId const a = t.ready({}, 1000);
  t.ready({}, 50);
  EXPECT_EQ(t.run.next_and_commit(g0), a);
  t.run.issue(a, w0);
  t.run.finish(a);
  TaskId const b = t.ready({}, 100);
  EXPECT_THAT(t.run.plan(g0), ElementsAre(b));
}

TEST(Dmda, a_cancelled_task_is_forgotten_with_its_work) {
  DmdaFamily t("dmda");
  TaskId const a = t.ready({}, 100);
  t.run.scheduler->withdrawn(a, Withdrawal::Cancelled, {});
  TaskId const b = t.ready({}, 100);
  EXPECT_THAT(t.run.plan(g0), ElementsAre(b));
  EXPECT_EQ(t.run.next(g1), TaskId{});
}

TEST(Dmda, only_allowed_groups_are_considered) {
  DmdaFamily t("dmda");
  TaskId const a = t.ready({}, 100, 0, 0b10);
  TaskId const b = t.ready({}, 100, 0, 0b10);
  EXPECT_EQ(t.run.next(g0), TaskId{});
  EXPECT_EQ(t.run.next(g1), a);
  EXPECT_EQ(t.run.next(g1), b);
}

TEST(Dmda, options_are_checked) {
  EXPECT_THROW((void)make_scheduler("dmda:alpha=-1"), InvalidArgument);
  EXPECT_THROW((void)make_scheduler("dmdas:gamma=1"), InvalidArgument);
}

TEST(ExpectedStart, the_first_free_of_several_workers) {
  using Lanes = std::vector<Duration::rep>;
  auto const free = [](Lanes lanes, Duration::rep work, std::size_t count) { return first_free(lanes, work, count); };
  EXPECT_EQ(free({70}, 30, 2), 100);
  EXPECT_EQ(free({70, 20}, 0, 0), 20);
  EXPECT_EQ(free({0, 0}, 100, 1), 0);
  EXPECT_EQ(free({0, 0}, 200, 2), 100);
  EXPECT_EQ(free({50, 0}, 300, 3), 150);  // they start at 0, 50 and 100
  EXPECT_EQ(free({1000, 0}, 300, 3), 300);
  EXPECT_EQ(free({0, 0, 0}, 10, 4), 3);  // ten between four: three each, rounded up
}

// `first_free` must equal the result for a list of equal tasks.
TEST(ExpectedStart, agrees_with_a_list_of_tasks) {
  Random random(5);
  for (int i = 0; i < 2000; ++i) {
    std::vector<Duration::rep> lanes(1 + random.below(9));
    for (auto& lane : lanes) lane = random.between(0, 3000);
    auto const count = random.below(30);
    auto const length = random.between(1, 1000);
    auto expected = lanes;
    for (std::uint64_t n = 0; n < count; ++n) *std::ranges::min_element(expected) += length;
    EXPECT_EQ(first_free(lanes, length * static_cast<Duration::rep>(count), count), std::ranges::min(expected));
  }
}

TEST(Dmdar, the_task_that_needs_the_fewest_bytes_is_first) {
  DmdaFamily t("dmdar", 1);
  auto const a = t.view.add_data(30);
  auto const b = t.view.add_data(20);
  auto const c = t.view.add_data(1000);
  TaskId const first = t.ready({read(a)}, 100, 9);
  TaskId const second = t.ready({read(b)});
  TaskId const third = t.ready({read(c)});
  TaskId const fourth = t.ready({read(b)});
  t.run.load(c, n1);
  EXPECT_EQ(t.run.next(g0), third);
  EXPECT_EQ(t.run.next(g0), second);
  EXPECT_EQ(t.run.next(g0), fourth);
  EXPECT_EQ(t.run.next(g0), first);
  EXPECT_EQ(t.run.next(g0), TaskId{});
}

TEST(Dmdar, what_a_committed_task_brings_is_not_missing) {
  DmdaFamily t("dmdar", 1);
  auto const a = t.view.add_data(10);
  auto const b = t.view.add_data(15);
  TaskId const first = t.ready({read(a)});
  TaskId const third = t.ready({read(b)});
  TaskId const second = t.ready({read(a)});
  EXPECT_EQ(t.run.next_and_commit(g0), first);
  EXPECT_EQ(t.run.next_and_commit(g0), second);
  EXPECT_EQ(t.run.next_and_commit(g0), third);
}

TEST(Dmdar, what_is_evicted_or_lost_with_a_cancelled_task_is_missing_again) {
  DmdaFamily t("dmdar", 1);
  auto const a = t.view.add_data(20);
  auto const b = t.view.add_data(10);
  t.run.load(a, n1);
  TaskId const first = t.ready({read(a)});
  TaskId const second = t.ready({read(a)});
  TaskId const third = t.ready({read(b)});
  t.drop(a, n1);
  EXPECT_EQ(t.run.next(g0), third);
  EXPECT_EQ(t.run.next_and_commit(g0), first);
  TaskId const fourth = t.ready({read(b)});
  t.run.finish(first);  // it was cancelled before it brought a
  EXPECT_EQ(t.run.next(g0), fourth);
  EXPECT_EQ(t.run.next(g0), second);
}

TEST(Dmdas, the_most_urgent_first_and_of_these_the_one_that_needs_the_fewest_bytes) {
  DmdaFamily t("dmdas", 1);
  auto const a = t.view.add_data(30);
  auto const b = t.view.add_data(20);
  TaskId const last = t.ready({}, 100, 1);
  TaskId const second = t.ready({read(a)}, 100, 7);
  TaskId const first = t.ready({read(b)}, 100, 7);
  TaskId const third = t.ready({read(a), read(b)}, 100, 5);
  EXPECT_THAT(t.run.plan(), ElementsAre(second, first, third, last));
  EXPECT_EQ(t.run.next(g0), first);
  EXPECT_EQ(t.run.next(g0), second);
  EXPECT_EQ(t.run.next(g0), third);
  EXPECT_EQ(t.run.next(g0), last);
}

TEST(Dmdas, ready_searches_the_whole_queue_if_asked) {
  DmdaFamily t("dmdas:ready=all", 1);
  auto const a = t.view.add_data(30);
  auto const b = t.view.add_data(20);
  TaskId const none = t.ready({}, 100, 1);
  TaskId const urgent = t.ready({read(a)}, 100, 7);
  TaskId const few = t.ready({read(b)}, 100, 5);
  TaskId const as_few = t.ready({read(b)}, 100, 6);
  EXPECT_THAT(t.run.plan(), ElementsAre(urgent, as_few, few, none)) << "the queue stays sorted by priority";
  EXPECT_EQ(t.run.next(g0), none);
  EXPECT_EQ(t.run.next_and_commit(g0), as_few);
  EXPECT_EQ(t.run.next(g0), few) << "its datum is on its way";
  EXPECT_EQ(t.run.next(g0), urgent);
  EXPECT_THROW((void)make_scheduler("dmdas:ready=some"), InvalidArgument);
  EXPECT_THROW((void)make_scheduler("dmdar:ready=all"), InvalidArgument);
}

// What a task is chosen by: its priority and then the bytes that it needs, or the other way round.
enum class By { Bytes, PriorityThenBytes, BytesThenPriority };

// Algorithm 2 as published, a search through the queue, is the reference.
void compare_with_a_search(char const* name, By by) {
  Random random(3);
  DmdaFamily t(name, 2);
  std::vector<DataId> data;
  for (int i = 0; i < 12; ++i) data.push_back(t.view.add_data(random.below(50)));
  auto const any = [&] { return data[random.below(data.size())]; };
  std::vector<TaskId> committed;
  for (int step = 0; step < 20000; ++step) {
    auto const what = random.below(12);
    GroupId const group(static_cast<std::uint32_t>(random.below(2)));
    NodeId const node(group.value() + 1);
    if (what < 4) {
      t.ready({read(any()), read(any()), read_write(any())}, 100, random.between(-2, 2));
    } else if (what < 6) {
      t.run.load(any(), node);
    } else if (what < 8) {
      t.drop(any(), node);
    } else if (what < 9 && !t.run.plan(group).empty()) {
      t.run.scheduler->withdrawn(t.run.plan(group)[random.below(t.run.plan(group).size())], Withdrawal::Cancelled, {});
    } else if (what < 10 && !committed.empty()) {
      auto const victim = committed.begin() + static_cast<std::ptrdiff_t>(random.below(committed.size()));
      t.run.finish(*victim);
      committed.erase(victim);
    } else if (auto const plan = t.run.plan(group); !plan.empty()) {
      auto const key = [&](TaskId task) {
        Bytes missing = 0;
        for (auto const& access : t.view.task(task).accesses) {
          if (access.repeated || t.view.expected(access.data, node) || t.view.committed_uses(access.data, node) > 0)
            continue;
          missing += t.view.bytes(access.data);
        }
        auto const rank = -t.view.task(task).priority;
        return std::tuple(by == By::PriorityThenBytes ? rank : 0, missing, by == By::BytesThenPriority ? rank : 0);
      };
      TaskId const best = *std::ranges::min_element(plan, {}, key);
      ASSERT_EQ(t.run.next_and_commit(group), best) << "step " << step;
      committed.push_back(best);
    }
  }
}

TEST(Dmdar, agrees_with_a_search) { compare_with_a_search("dmdar", By::Bytes); }
TEST(Dmdas, agrees_with_a_search) { compare_with_a_search("dmdas", By::PriorityThenBytes); }
TEST(Dmdas, agrees_with_a_search_of_all) { compare_with_a_search("dmdas:ready=all", By::BytesThenPriority); }

}  // namespace
}  // namespace granary::test::dmda_test
