// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks that the scheduler has stopped, and the values that are kept aside for them.
#include "hand.hpp"

#include <granary/detail/core/policy/scheduler_extensions.hpp>

#include <gmock/gmock.h>

namespace granary::test {

using namespace detail;

namespace {

/// First come, first served, and stops the task that the test names when a group asks.
class Stopping final : public Scheduler, public TaskAborter {
 public:
  struct Wish {
    TaskId task = {};
    GroupId group = {};  // which may run it
    std::vector<std::string> told = {};
  };
  explicit Stopping(Wish& wish) : m_wish(wish) {}

  void attach(SystemView const& view, PlanBoard&) override { m_view = &view; }
  void ready(TaskId task) override {
    m_ready.push_back(task);
    m_wish.told.push_back("ready");
  }
  void withdrawn(TaskId task, Withdrawal, GroupId) override { std::erase(m_ready, task); }
  void finished(TaskId) override { m_wish.told.push_back("finished"); }
  void submitted(TaskId) override { m_wish.told.push_back("submitted"); }
  TaskId next(GroupId group) override {
    for (TaskId const task : m_ready) {
      if (!m_view->task(task).allowed_on(group)) continue;
      std::erase(m_ready, task);
      return task;
    }
    return {};
  }
  [[nodiscard]] TaskId abort_for(GroupId group) override {
    return group == m_wish.group ? std::exchange(m_wish.task, {}) : TaskId();
  }

 private:
  Wish& m_wish;
  SystemView const* m_view = nullptr;
  std::vector<TaskId> m_ready;
};

class Aborted : public testing::Test {
 protected:
  static PolicySet policies(Stopping::Wish& wish) {
    PolicySet set = make_policies("eager", "lru");
    set.scheduler = std::make_unique<Stopping>(wish);
    return set;
  }
  static Machine two_kinds(Bytes capacity) {
    Machine machine = disk_and_host(capacity);
    NodeId const device = machine.add_node({.name = "device", .kind = NodeKind::Device, .capacity = 1000});
    machine.add_link_pair(host_node, device, 1e10);
    machine.add_worker({.name = "gpu", .node = device, .kind = WorkerKind::Device});
    return machine;
  }
  CodeletId restartable(std::array<Kernel, worker_kinds> kernels = {no_kernel, nullptr}) {
    return hand.planner.handle(AddCodelet{{.name = "polls", .kernels = kernels, .restartable = true}});
  }
  TaskId submit(CodeletId codelet, std::initializer_list<Access> accesses) {
    hand.codelet = codelet;
    return hand.submit(accesses);
  }
  // The device asks for its next task, and so for one to stop.
  static void ask(Hand& whom, Stopping::Wish& wish, TaskId task) {
    wish = {.task = task, .group = GroupId(1)};
    whom.codelet = whom.planner.handle(AddCodelet{{.name = "asks", .kernels = {nullptr, no_kernel}}});
    whom.finish(whom.submit({}));
  }
  void ask(TaskId task) { ask(hand, wish, task); }
  void stopped(TaskId task, bool changed = true) {
    std::erase_if(hand.runs, [&](RunCommand const& run) { return run.task == task; });
    hand.planner.handle(TaskReturned{task, changed});
    hand.absorb();
  }
  Bytes used(NodeId node) { return hand.planner.statistics().nodes[node.index()].used; }

  Stopping::Wish wish;
  Hand hand{two_kinds(1000), {.issue_depth = 1, .write_back_early = false}, policies(wish)};
  CodeletId polls = restartable();
};

TEST_F(Aborted, ATaskIsReadyAgainOnTheValueThatWasKept) {
  DataId const a = hand.temporary("a", 100);
  hand.finish(submit(polls, {write(a)}));
  Bytes const before = used(host_node);
  TaskId const task = submit(polls, {read_write(a)});
  ASSERT_TRUE(hand.runs_now(task));
  auto const& run = hand.run_of(task);
  ASSERT_EQ(run.kept.size(), 1U);
  EXPECT_EQ(run.kept[0].access, 0U);
  EXPECT_EQ(run.kept[0].bytes, 100U);
  EXPECT_NE(run.kept[0].place, run.places[0]);
  EXPECT_EQ(used(host_node), 2 * before) << "the kept value counts under the limit";
  EXPECT_TRUE(hand.planner.may_restart(task));
  EXPECT_TRUE(hand.planner.view().may_abort(task));
  ask(task);
  ASSERT_EQ(hand.aborts, (std::vector<AbortCommand>{{task, WorkerId(0)}}));
  EXPECT_FALSE(hand.planner.view().may_abort(task)) << "it is under way";
  wish.told.clear();
  stopped(task);
  EXPECT_THAT(wish.told, testing::ElementsAre("finished", "submitted", "ready"));
  EXPECT_EQ(hand.planner.statistics().tasks_aborted, 1U);
  EXPECT_TRUE(hand.runs_now(task)) << "the value is still there";
  hand.finish(task);
  EXPECT_EQ(used(host_node), before);
  EXPECT_FALSE(hand.planner.inspect().poisoned(a));
  hand.finish_all();
}

TEST_F(Aborted, ATaskThatEndsAllTheSameHasRun) {
  DataId const a = hand.temporary("a", 100);
  TaskId const task = submit(polls, {write(a)});
  ask(task);
  ASSERT_EQ(hand.aborts.size(), 1U);
  hand.finish(task);
  EXPECT_EQ(hand.planner.statistics().tasks_aborted, 0U);
  EXPECT_TRUE(hand.planner.view().valid(a, host_node));
  TaskId const next = submit(polls, {read_write(a)});
  EXPECT_TRUE(hand.planner.view().may_abort(next)) << "the worker has answered";
  hand.finish_all();
}

TEST_F(Aborted, AFailureMeanwhileTakesTheKeptValueToo) {
  DataId const a = hand.temporary("a", 100);
  hand.finish(submit(polls, {write(a)}));
  TaskId const task = submit(polls, {read_write(a)});
  ask(task);
  ASSERT_EQ(hand.aborts.size(), 1U);
  hand.fail(task);
  EXPECT_TRUE(hand.planner.inspect().poisoned(a));
  EXPECT_EQ(hand.logged<NotKept>().size(), 1U);
  hand.finish_all();
}

TEST_F(Aborted, ATaskThatAWorkerHadRunsAgainAfterACancellation) {
  DataId const a = hand.temporary("a", 100);
  hand.finish(submit(polls, {write(a)}));
  TaskId const task = submit(polls, {read_write(a)});
  TaskId const later = submit(polls, {read_write(a)});
  ask(task);
  hand.cancel_all();
  stopped(task);
  EXPECT_TRUE(hand.runs_now(task));
  hand.finish_all();
  EXPECT_FALSE(hand.planner.live(later));
  EXPECT_EQ(hand.planner.statistics().tasks_run, 2U + 1U) << "the two, and the one that asked";
  EXPECT_EQ(hand.planner.statistics().tasks_cancelled, 1U);
}

TEST_F(Aborted, WithoutFreeRoomATaskCannotBeStopped) {
  Stopping::Wish none;
  Hand tight(disk_and_host(250), {.issue_depth = 1, .write_back_early = false}, policies(none));
  tight.codelet = tight.planner.handle(AddCodelet{{.name = "polls", .kernels = {no_kernel, {}}, .restartable = true}});
  DataId const a = tight.temporary("a", 100);
  DataId const b = tight.temporary("b", 100);
  tight.finish(tight.submit({write(a), write(b)}));
  TaskId const task = tight.submit({read_write(a)});
  ASSERT_TRUE(tight.runs_now(task));
  EXPECT_TRUE(tight.run_of(task).kept.empty());
  EXPECT_FALSE(tight.planner.view().may_abort(task));
  EXPECT_FALSE(tight.freed(b)) << "nothing is evicted for it";
  tight.finish_all();
}

TEST_F(Aborted, AllValuesAreKeptOrNone) {
  Stopping::Wish none;
  Hand tight(two_kinds(650), {.issue_depth = 1, .write_back_early = false}, policies(none));
  tight.codelet = tight.planner.handle(AddCodelet{{.name = "polls", .kernels = {no_kernel, {}}, .restartable = true}});
  DataId const a = tight.temporary("a", 100);
  DataId const b = tight.temporary("b", 200);
  tight.finish(tight.submit({write(a), write(b)}));
  TaskId const task = tight.submit({read_write(a), read_write(b)});
  ASSERT_TRUE(tight.runs_now(task));
  EXPECT_FALSE(tight.logged<KeptAside>().empty());
  EXPECT_EQ(tight.logged<KeptAside>().size(), tight.logged<NotKept>().size());
  EXPECT_FALSE(tight.planner.view().may_abort(task));
  tight.finish_all();
}

// What waits for the room gets it when the task has ended.
TEST_F(Aborted, RoomForAKeptValueIsFreeWhenTheTaskHasEnded) {
  Stopping::Wish none;
  Hand tight(two_kinds(650), {.issue_depth = 1, .write_back_early = false}, policies(none));
  tight.codelet = tight.planner.handle(AddCodelet{{.name = "polls", .kernels = {no_kernel, {}}, .restartable = true}});
  DataId const a = tight.temporary("a", 200);
  tight.finish(tight.submit({write(a)}));
  TaskId const task = tight.submit({read_write(a)});
  ASSERT_EQ(tight.run_of(task).kept.size(), 1U);
  TaskId const waits = tight.submit({write(tight.temporary("b", 200))});
  EXPECT_FALSE(tight.runs_now(waits));
  tight.finish(task);
  EXPECT_TRUE(tight.runs_now(waits));
  tight.finish_all();
}

TEST_F(Aborted, OnlyRestartableTasksOfCpuWorkersAreStopped) {
  CodeletId const blas = hand.planner.handle(AddCodelet{{.name = "blas", .kernels = {no_kernel, nullptr}}});
  TaskId const on_host = submit(blas, {});
  TaskId const on_device = submit(restartable({nullptr, no_kernel}), {write(hand.temporary("b", 100))});
  ASSERT_TRUE(hand.runs_now(on_host) && hand.runs_now(on_device));
  for (TaskId const task : {on_host, on_device}) EXPECT_FALSE(hand.planner.view().may_abort(task));
  ask(on_host);
  EXPECT_NE(hand.planner.policy_fault(), nullptr);
  EXPECT_THAT(hand.aborts, testing::IsEmpty());
  hand.finish_all();
}

TEST_F(Aborted, WithoutASchedulerThatStopsTasksNothingIsKept) {
  Hand plain(two_kinds(1000), {.issue_depth = 1, .write_back_early = false});
  plain.codelet = plain.planner.handle(AddCodelet{{.name = "polls", .kernels = {no_kernel, {}}, .restartable = true}});
  DataId const a = plain.temporary("a", 100);
  plain.finish(plain.submit({write(a)}));
  TaskId const task = plain.submit({read_write(a)});
  EXPECT_TRUE(plain.run_of(task).kept.empty());
  plain.finish_all();
}

TEST_F(Aborted, AWorkerIsToldToStopOneTaskAtATime) {
  Stopping::Wish both;
  Hand deep(two_kinds(1000), {.issue_ahead = std::chrono::hours(1), .issue_depth = 2, .write_back_early = false},
            policies(both));
  deep.codelet = deep.planner.handle(AddCodelet{{.name = "polls", .kernels = {no_kernel, {}}, .restartable = true}});
  TaskId const first = deep.submit({write(deep.temporary("a", 100))});
  TaskId const second = deep.submit({write(deep.temporary("b", 100))});
  ASSERT_TRUE(deep.runs_now(second));
  ask(deep, both, first);
  ASSERT_EQ(deep.aborts.size(), 1U);
  EXPECT_FALSE(deep.planner.view().may_abort(second));
  deep.finish(first);
  EXPECT_TRUE(deep.planner.view().may_abort(second));
  deep.finish_all();
}

}  // namespace
}  // namespace granary::test
