// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedulers and eviction policies that break their contract.
#include "unit/planner/hand.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace granary::test {

using namespace detail;

namespace {

// As `eager`, but it calls `at(function)` in each function, and answers what `answer` makes of eager's answer.
class Scripted : public Scheduler, public SystemEvents, public SchedulerLimits {
 public:
  std::function<void(std::string const&)> at = [](std::string const&) {};
  std::function<TaskId(TaskId, GroupId)> answer = [](TaskId task, GroupId) { return task; };
  SystemView const* view = nullptr;
  PlanBoard* plans = nullptr;
  int calls = 0;

  void attach(SystemView const& system, PlanBoard& board) override {
    view = &system;
    plans = &board;
    call("attach");
    m_eager->attach(system, board);
  }
  void check(TaskSubmission const&, AccessList const&) const override { at("check"); }
  void submitted(TaskId) override { call("submitted"); }
  void ready(TaskId task) override {
    call("ready");
    m_eager->ready(task);
  }
  TaskId next(GroupId group) override {
    call("next");
    return answer(m_eager->next(group), group);
  }
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override {
    call("withdrawn");
    m_eager->withdrawn(task, why, group);
  }
  void issued(TaskId) override { call("issued"); }
  void finished(TaskId) override { call("finished"); }
  void external_finished(TaskId) override { call("external_finished"); }
  void stalled() override { call("stalled"); }
  void released(DataId) override { call("released"); }
  void replica_expected(DataId, NodeId) override { call("replica_expected"); }
  void replica_valid(DataId, NodeId) override { call("replica_valid"); }
  void replica_dropped(DataId, NodeId) override { call("replica_dropped"); }
  [[nodiscard]] Traits traits() const override {
    at("traits");
    return {};
  }
  [[nodiscard]] std::uint32_t most_ahead(GroupId, std::uint32_t depth) const override {
    at("most_ahead");
    return depth;
  }

 protected:
  void call(std::string const& name) {
    ++calls;
    at(name);
  }

 private:
  std::unique_ptr<Scheduler> m_eager = make_scheduler("eager");
};

class ScriptedAborter final : public Scripted, public TaskAborter {
 public:
  std::function<TaskId()> aborted = [] { return TaskId(); };
  [[nodiscard]] TaskId abort_for(GroupId) override {
    call("abort_for");
    return aborted();
  }
};

// As `lru`, but it calls `at(function)` in each function, and answers what `answer` makes of lru's answer.
class ScriptedEviction final : public EvictionPolicy {
 public:
  std::function<void(std::string const&)> at = [](std::string const&) {};
  std::function<DataId(DataId)> answer = [](DataId data) { return data; };

  void attach(SystemView const& view, PlanBoard const& board) override { m_lru->attach(view, board); }
  DataId victim(NodeId node) override {
    at("victim");
    return answer(m_lru->victim(node));
  }
  void replica_added(DataId data, NodeId node) override {
    at("replica_added");
    m_lru->replica_added(data, node);
  }
  void replica_used(DataId data, NodeId node) override {
    at("replica_used");
    m_lru->replica_used(data, node);
  }
  void replica_dropped(DataId data, NodeId node) override {
    at("replica_dropped");
    m_lru->replica_dropped(data, node);
  }
  void last_use_ended(DataId) override { at("last_use_ended"); }

 private:
  std::unique_ptr<EvictionPolicy> m_lru = make_eviction("lru");
};

struct Scene {
  Scripted* scheduler;
  ScriptedEviction* eviction;
  std::optional<Hand> hand;

  explicit Scene(
      Machine machine, std::function<void(Scripted&)> const& prepare = [](Scripted&) {},
      std::unique_ptr<Scripted> made = std::make_unique<Scripted>()) {
    PolicySet policies{std::move(made), std::make_unique<ScriptedEviction>()};
    scheduler = static_cast<Scripted*>(policies.scheduler.get());
    eviction = static_cast<ScriptedEviction*>(policies.eviction.get());
    scheduler->set_policy_name("bad");
    eviction->set_policy_name("bad");
    prepare(*scheduler);
    hand.emplace(std::move(machine), PlannerOptions{}, std::move(policies));
  }

  [[nodiscard]] std::string fault() const {
    auto const& error = hand->planner.policy_fault();
    return error ? text_of(error) : "";
  }
  // Everything ends, the failure is reported, nobody is asked again, and submissions throw it.
  void expect_end(std::string const& sentence) {
    EXPECT_EQ(fault(), sentence);
    auto const calls = scheduler->calls;
    hand->finish_all();
    hand->flush();
    hand->finish_all();
    EXPECT_TRUE(hand->planner.idle());
    EXPECT_EQ(scheduler->calls, calls);
    auto const failures = hand->planner.handle(TakeFailures{});
    ASSERT_EQ(failures.size(), 1U);
    EXPECT_EQ(text_of(failures[0].error), sentence);
    try {
      hand->submit({});
      FAIL() << "a task was accepted";
    } catch (Error const& error) {
      EXPECT_EQ(error.what(), sentence);
    }
    EXPECT_FALSE(hand->planner.interrupted());
  }
};

TEST(PolicyCalls, ANameIsThatOfTheRegistryOrOfTheClass) {
  EXPECT_EQ(make_scheduler("lws:steal=0.1", 1)->policy_name(), "lws");
  EXPECT_EQ(make_policies("eager", "mru").eviction->policy_name(), "mru");
  EXPECT_NE(Scripted().policy_name().find("Scripted"), std::string::npos);
}

TEST(PolicyCalls, ATaskThatIsGivenTwiceEndsTheRun) {
  Scene scene(disk_and_host(1000));
  DataId const x = scene.hand->stored("x", 100);
  TaskId const first = scene.hand->submit({read_write(x)});
  scene.scheduler->answer = [&](TaskId task, GroupId) { return task.valid() ? first : task; };
  scene.hand->submit({});
  EXPECT_FALSE(scene.hand->runs_now(first)) << "its datum is not there yet";
  scene.expect_end("scheduler 'bad' gave task 'work' 0 a second time");
  EXPECT_EQ(scene.hand->copies_home(x), 0U) << "the task did not run, and the value is where it was";
}

TEST(PolicyCalls, WhatRunsEndsAndGetsHome) {
  Scene scene(disk_and_host(1000));
  DataId const x = scene.hand->stored("x", 100);
  TaskId const first = scene.hand->submit({read_write(x)});
  scene.hand->finish_copies();
  ASSERT_TRUE(scene.hand->runs_now(first));
  scene.scheduler->answer = [&](TaskId task, GroupId) { return task.valid() ? first : task; };
  scene.hand->submit({});
  scene.expect_end("scheduler 'bad' gave task 'work' 0 a second time");
  EXPECT_EQ(scene.hand->copies_home(x), 1U);
}

// It may have overwritten values that nobody keeps.
TEST(PolicyCalls, ATaskThatComesBackAfterTheEndRunsAgain) {
  Scene scene(disk_and_host(1000));
  DataId const x = scene.hand->stored("x", 100);
  TaskId const first = scene.hand->submit({write(x)});
  TaskId const next = scene.hand->submit({read_write(x)});
  scene.scheduler->answer = [&](TaskId task, GroupId) { return task.valid() ? first : task; };
  scene.hand->submit({});
  ASSERT_TRUE(scene.hand->runs_now(first));
  std::erase_if(scene.hand->runs, [](RunCommand const&) { return true; });
  scene.hand->planner.handle(TaskReturned{first});
  scene.hand->absorb();
  EXPECT_TRUE(scene.hand->runs_now(first));
  EXPECT_FALSE(scene.hand->planner.live(next) && scene.hand->runs_now(next));
  scene.expect_end("scheduler 'bad' gave task 'work' 0 a second time");
  EXPECT_EQ(scene.hand->copies_home(x), 1U);
  EXPECT_EQ(scene.hand->planner.statistics().tasks_run, 1U);
}

TEST(PolicyCalls, ATaskThatMayNotRunEndsTheRun) {
  auto const says = [](std::string const& what, auto&& wrong) {
    Scene scene(disk_and_host(1000));
    DataId const x = scene.hand->stored("x", 100);
    TaskId const ended = scene.hand->submit({});
    scene.hand->finish(ended);
    scene.hand->submit({read_write(x)});
    TaskId const waiting = scene.hand->submit({read_write(x)});
    scene.scheduler->answer = [&](TaskId task, GroupId) { return task.valid() ? wrong(ended, waiting) : task; };
    scene.hand->submit({});
    scene.expect_end("scheduler 'bad' gave " + what);
  };
  says("task 'work' 2, which is not ready", [](TaskId, TaskId waiting) { return waiting; });
  says("the task with the id 0, which has ended", [](TaskId ended, TaskId) { return ended; });
  says("the task with the id 77, which does not exist", [](TaskId, TaskId) { return TaskId(77); });
  says("the task with the id 1099511627776, which does not exist", [](TaskId, TaskId) { return TaskId(1ULL << 40); });
}

TEST(PolicyCalls, ATaskThatTheGroupCannotRunEndsTheRun) {
  Machine machine = disk_and_host(1000);
  NodeId const device = machine.add_node({.name = "device", .kind = NodeKind::Device, .capacity = 1000});
  machine.add_link_pair(host_node, device, 1e10);
  machine.add_worker({.name = "gpu", .node = device, .kind = WorkerKind::Device});
  Scene scene(std::move(machine));
  scene.hand->codelet = scene.hand->planner.handle(AddCodelet{{.name = "host only", .kernels = {no_kernel, nullptr}}});
  TaskId held;
  scene.scheduler->answer = [&](TaskId task, GroupId group) {
    if (task.valid()) held = task;
    bool const on_host = scene.scheduler->view->topology().group(group).kind == WorkerKind::Cpu;
    return on_host ? TaskId() : held;
  };
  scene.hand->submit({});
  scene.expect_end(
      "scheduler 'bad' gave task 'host only' 0 to the device workers of memory node 'device', which cannot run it");
}

TEST(PolicyCalls, ATaskThatIsLeftOnAPlanEndsTheRun) {
  Scene scene(disk_and_host(1000));
  scene.scheduler->answer = [&](TaskId task, GroupId group) {
    if (task.valid()) scene.scheduler->plans->append(group, task, scene.scheduler->view->task(task).accesses);
    return task;
  };
  scene.hand->submit({});
  EXPECT_TRUE(scene.hand->planner.inspect().board().plan(GroupId(0)).empty());
  scene.expect_end("scheduler 'bad' gave task 'work' 0 and left it on a plan");
}

TEST(PolicyCalls, AnExternalTaskIsNobodysToGive) {
  Scene scene(disk_and_host(1000));
  auto const work = scene.hand->codelet;
  scene.hand->codelet = scene.hand->planner.handle(AddCodelet{{.name = "outside", .external = true}});
  TaskId const outside = scene.hand->submit({});
  scene.hand->codelet = work;
  scene.scheduler->answer = [&](TaskId task, GroupId) { return task.valid() ? outside : task; };
  scene.hand->submit({});
  EXPECT_EQ(scene.fault(), "scheduler 'bad' gave task 'outside' 0, which no worker runs");
  scene.hand->finish(outside);
  scene.expect_end("scheduler 'bad' gave task 'outside' 0, which no worker runs");
}

TEST(PolicyCalls, TasksThatAreKeptBackEndTheRun) {
  Scene scene(disk_and_host(1000));
  DataId const x = scene.hand->stored("x", 100);
  TaskId const first = scene.hand->submit({read_write(x)});
  scene.hand->finish_copies();
  scene.scheduler->answer = [](TaskId, GroupId) { return TaskId(); };
  scene.hand->submit({});
  scene.hand->submit({});
  EXPECT_EQ(scene.fault(), "") << "a task runs still";
  scene.hand->finish(first);
  scene.hand->finish_copies();
  scene.expect_end(
      "scheduler 'bad' keeps back task 'work' 1 and 1 more, which are ready, although nothing else is under way and it "
      "was asked for them again");
}

TEST(PolicyCalls, TasksMayBeKeptBackWhileSomethingOutsideGoesOn) {
  Scene scene(disk_and_host(1000));
  auto const work = scene.hand->codelet;
  scene.hand->codelet = scene.hand->planner.handle(AddCodelet{{.name = "outside", .external = true}});
  TaskId const outside = scene.hand->submit({});
  scene.hand->codelet = work;
  scene.scheduler->answer = [](TaskId, GroupId) { return TaskId(); };
  scene.hand->submit({});
  EXPECT_EQ(scene.fault(), "");
  scene.hand->finish(outside);
  scene.expect_end(
      "scheduler 'bad' keeps back task 'work' 1, which is ready, although nothing else is under way and it was asked "
      "for "
      "them again");
}

TEST(PolicyCalls, ATaskThatMayNotBeStoppedEndsTheRun) {
  auto aborter = std::make_unique<ScriptedAborter>();
  auto& aborted = aborter->aborted;
  Scene scene(
      disk_and_host(1000), [](Scripted&) {}, std::move(aborter));
  TaskId const running = scene.hand->submit({});
  aborted = [&] { return running; };
  scene.hand->submit({});
  scene.expect_end("scheduler 'bad' had task 'work' 0 stopped, which may not be stopped");
}

TEST(PolicyCalls, WhatASchedulerThrowsEndsTheRun) {
  for (std::string const where :
       {"submitted", "ready", "next", "most_ahead", "issued", "finished", "external_finished", "replica_expected",
        "replica_valid", "replica_dropped", "released", "stalled", "withdrawn", "traits"}) {
    SCOPED_TRACE(where);
    Scene scene(disk_and_host(200));
    auto& hand = *scene.hand;
    DataId const x = hand.stored("x", 100);
    auto const work = hand.codelet;
    hand.codelet = hand.planner.handle(AddCodelet{{.name = "outside", .external = true}});
    TaskId const outside = hand.submit({});
    hand.codelet = work;
    TaskId const first = hand.submit({read_write(x)});
    hand.finish_copies();
    scene.scheduler->at = [&](std::string const& here) {
      if (here == where) throw std::logic_error("a bug");
    };
    if (where == "stalled") scene.scheduler->answer = [](TaskId, GroupId) { return TaskId(); };
    hand.submit({read(x)});
    hand.finish(outside);
    if (where == "withdrawn") hand.cancel_all();
    if (hand.runs_now(first)) hand.finish(first);
    hand.finish_all();
    if (scene.fault().empty()) hand.submit({write(hand.temporary("y", 150))});
    hand.finish_all();
    hand.flush();
    hand.finish_all();
    if (where == "released") {
      hand.release(x);
      hand.flush();
    }
    EXPECT_TRUE(scene.fault().starts_with("scheduler 'bad' has thrown in " + where + "()")) << scene.fault();
    EXPECT_TRUE(scene.fault().ends_with(": a bug")) << scene.fault();
    EXPECT_TRUE(hand.planner.idle());
    EXPECT_FALSE(hand.planner.interrupted());
    auto const failures = hand.planner.handle(TakeFailures{});
    ASSERT_FALSE(failures.empty());
    EXPECT_EQ(text_of(failures.back().error), scene.fault());
    try {
      std::rethrow_exception(failures.back().error);
    } catch (Error const& error) {
      EXPECT_THROW(std::rethrow_if_nested(error), std::logic_error) << "what was thrown is inside";
    }
  }
}

TEST(PolicyCalls, WhatAttachAndCheckThrowRefuses) {
  auto const attached = [](auto const& error) {
    return [error] {
      Scene scene(disk_and_host(100), [error](Scripted& scheduler) {
        scheduler.at = [error](std::string const& here) {
          if (here == "attach") throw error;
        };
      });
    };
  };
  EXPECT_THROW(attached(InvalidArgument("no such node"))(), InvalidArgument);
  try {
    attached(std::logic_error("a bug"))();
    FAIL() << "nothing was thrown";
  } catch (Error const& error) {
    EXPECT_STREQ(error.what(), "scheduler 'bad' has thrown in attach(): a bug");
  }
  Scene scene(disk_and_host(100));
  scene.scheduler->at = [](std::string const& here) {
    if (here == "check") throw 7;
  };
  try {
    scene.hand->submit({});
    FAIL() << "nothing was thrown";
  } catch (Error const& error) {
    EXPECT_STREQ(error.what(), "scheduler 'bad' has thrown in check(): an object that is no std::exception");
  }
  EXPECT_EQ(scene.fault(), "");
  scene.scheduler->at = [](std::string const&) {};
  scene.hand->finish(scene.hand->submit({}));
  EXPECT_TRUE(scene.hand->planner.idle());
}

TEST(PolicyCalls, ThePlanBoardRefusesWhatItCannotHold) {
  PlanBoard board(1);
  board.append(GroupId(0), TaskId(3), {});
  EXPECT_THROW(board.append(GroupId(0), TaskId(3), {}), InvalidArgument);
  EXPECT_THROW(board.insert(GroupId(0), TaskId(3), {}, -1), InvalidArgument);
  EXPECT_THROW(board.append(GroupId(1), TaskId(4), {}), InvalidArgument);
  EXPECT_THROW(board.append(GroupId(0), TaskId(), {}), InvalidArgument);
  EXPECT_THROW(board.want_inputs(TaskId(4)), InvalidArgument);
  EXPECT_EQ(board.plan(GroupId(0)).size(), 1U);
}

TEST(PolicyCalls, APlanWithATaskThatHasEndedEndsTheRun) {
  Scene scene(disk_and_host(200));
  auto& hand = *scene.hand;
  DataId const x = hand.stored("x", 100);
  scene.scheduler->at = [&](std::string const& here) {
    if (here != "finished" || scene.scheduler->plans->planned(TaskId(0))) return;
    scene.scheduler->plans->append(GroupId(0), TaskId(0), scene.scheduler->view->task(TaskId(0)).accesses);
  };
  hand.submit({read(x)});
  hand.finish_all();
  hand.submit({write(hand.temporary("large", 150))});
  scene.expect_end("scheduler 'bad' has a plan with the task with the id 0, which is not there");
}

// A host of 200 bytes holds x, which a task uses, and y; room is needed for z.
struct Full {
  Scene scene{disk_and_host(200, 8, 2)};
  Hand& hand = *scene.hand;
  DataId x = hand.stored("x", 100);
  DataId y = hand.stored("y", 100);
  DataId elsewhere = hand.stored("elsewhere", 100);
  TaskId user = hand.submit({read_write(x)});
  DataId z = hand.temporary("z", 100);

  Full() {
    hand.submit({read(y)});
    hand.finish_copies();
    hand.finish(TaskId(1));
  }
};

TEST(PolicyCalls, WhatMayNotBeEvictedEndsTheRun) {
  auto const says = [](std::string const& what, auto&& wrong) {
    Full full;
    full.scene.eviction->answer = [&](DataId) { return wrong(full); };
    full.hand.submit({write(full.z)});
    full.scene.expect_end("eviction policy 'bad' chose to evict " + what);
    EXPECT_EQ(full.hand.copies_home(full.x), 1U) << "the result of the task that ran";
  };
  says("'x' in memory node 'host', which is in use", [](Full const& full) { return full.x; });
  says("'elsewhere' in memory node 'host', which is not there", [](Full const& full) { return full.elsewhere; });
  says("data 99 in memory node 'host', which is not registered", [](Full const&) { return DataId(99); });
}

TEST(PolicyCalls, WhatAnEvictionPolicyThrowsEndsTheRun) {
  for (std::string const where : {"victim", "replica_added", "replica_used", "replica_dropped", "last_use_ended"}) {
    SCOPED_TRACE(where);
    Full full;
    full.scene.eviction->at = [&](std::string const& here) {
      if (here == where) throw std::logic_error("a bug");
    };
    full.hand.submit({write(full.z)});
    full.hand.finish_all();
    full.hand.flush();
    full.hand.finish_all();
    EXPECT_TRUE(full.scene.fault().starts_with("eviction policy 'bad' has thrown in " + where + "() for "))
        << full.scene.fault();
    EXPECT_TRUE(full.hand.planner.idle());
    EXPECT_EQ(full.hand.copies_home(full.x), 1U) << "the result of the task that ran";
    EXPECT_FALSE(full.hand.planner.handle(TakeFailures{}).empty());
  }
}

}  // namespace
}  // namespace granary::test
