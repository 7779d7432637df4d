// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heteroprio_fixture.hpp"

#include <granary/detail/core/base/error.hpp>

namespace granary::test {
namespace {

/// The codelets of Table I of Static, on a machine of `cpus` cores and `devices` devices.
struct Spoliation : HeteroprioRun {
  Spoliation(std::string const& rules, std::uint32_t cpus, std::uint32_t devices)
      : Spoliation(rules, mixed(cpus, devices)) {}
  Spoliation(std::string const& rules, detail::Machine const& machine)
      : HeteroprioRun("heteroprio:spoliation=" + rules, machine) {
    // The buckets know all four before the first decision.
    for (auto const* const codelet : {"potrf", "trsm", "syrk", "gemm"}) {
      TaskId const task = add(codelet);
      run.scheduler->withdrawn(task, Withdrawal::Cancelled, {});
    }
  }
  using HeteroprioRun::add;
  TaskId add(std::string const& codelet, std::int64_t priority = 0) {
    static std::map<std::string, std::int64_t> const cpu_times{
        {"potrf", 230}, {"trsm", 1100}, {"syrk", 2600}, {"gemm", 2900}};
    return add(codelet, cpu_times.at(codelet), 100, priority);
  }
  // The group's next task is handed to a worker.
  TaskId start(std::uint32_t group) {
    TaskId const task = next(group);
    if (task.valid()) view.issue(task, view.topology().group(GroupId(group)).workers[0]);
    bool const on_core = view.topology().group(GroupId(group)).kind == detail::WorkerKind::Cpu;
    if (task.valid() && on_core) view.set_may_abort(task, true);
    return task;
  }
  TaskId abort_for(std::uint32_t group) {
    TaskId const task = dynamic_cast<TaskAborter&>(*run.scheduler).abort_for(GroupId(group));
    if (task.valid()) view.set_may_abort(task, false);
    return task;
  }
  void stopped(TaskId task) {
    finish(task);
    run.scheduler->submitted(task);
    run.scheduler->ready(task);
  }
};

TEST(HeteroprioSpoliation, AnIdleDeviceTakesTheMostUrgentTaskOfTheCores) {
  Spoliation system("sp", 2, 2);
  TaskId const low = system.add("gemm", 1);
  TaskId const high = system.add("gemm", 2);
  system.view.commit(system.view.add_task({}), GroupId(gpu0));
  system.view.commit(system.view.add_task({}), GroupId(gpu1));
  EXPECT_EQ(system.start(cpu), low) << "a core takes the least urgent one";
  EXPECT_EQ(system.start(cpu), high);
  EXPECT_FALSE(system.abort_for(gpu0).valid()) << "it is busy";
  system.view.finish(system.view.committed(GroupId(gpu0))[0]);
  EXPECT_FALSE(system.start(gpu0).valid());
  EXPECT_EQ(system.abort_for(gpu0), high);
  EXPECT_FALSE(system.abort_for(gpu0).valid()) << "it waits for the one";
  system.stopped(high);
  EXPECT_FALSE(system.start(cpu).valid()) << "the task is the device's";
  EXPECT_EQ(system.start(gpu0), high);
}

TEST(HeteroprioSpoliation, ATaskThatEndedAllTheSameIsNotWaitedFor) {
  Spoliation system("sp", 1, 2);
  system.view.commit(system.view.add_task({}), GroupId(gpu1));
  system.view.commit(system.view.add_task({}), GroupId(gpu0));
  TaskId const first = system.add("gemm");
  EXPECT_EQ(system.start(cpu), first);
  system.view.finish(system.view.committed(GroupId(gpu0))[0]);
  EXPECT_EQ(system.abort_for(gpu0), first);
  TaskId const second = system.add("gemm");
  EXPECT_FALSE(system.start(gpu0).valid());
  system.finish(first);
  EXPECT_EQ(system.start(gpu0), second);
}

TEST(HeteroprioSpoliation, ACancelledTaskIsNotWaitedForEither) {
  Spoliation system("sp", 1, 1);
  system.view.commit(system.view.add_task({}), GroupId(gpu0));
  TaskId const first = system.add("gemm");
  EXPECT_EQ(system.start(cpu), first);
  system.view.finish(system.view.committed(GroupId(gpu0))[0]);
  EXPECT_EQ(system.abort_for(gpu0), first);
  system.stopped(first);
  system.run.scheduler->withdrawn(first, Withdrawal::Cancelled, {});
  TaskId const second = system.add("gemm");
  EXPECT_EQ(system.start(gpu0), second);
}

TEST(HeteroprioSpoliation, ADeviceLeavesTasksThatItWouldNotRunFaster) {
  Spoliation system("sp", 2, 1);
  system.view.commit(system.view.add_task({}), GroupId(gpu0));
  static_cast<HeteroprioRun&>(system).add("slow there", 100, 200);
  static_cast<HeteroprioRun&>(system).add("for cores", 100, 0);
  EXPECT_TRUE(system.start(cpu).valid());
  EXPECT_TRUE(system.start(cpu).valid());
  system.view.finish(system.view.committed(GroupId(gpu0))[0]);
  EXPECT_FALSE(system.abort_for(gpu0).valid());
}

TEST(HeteroprioSpoliation, IdleDevicesChooseFirst) {
  Spoliation system("sp", 1, 1);
  TaskId const task = system.add("potrf");
  EXPECT_FALSE(system.start(cpu).valid());
  EXPECT_EQ(system.start(gpu0), task);
}

TEST(HeteroprioSpoliation, ATaskOfTheSlowCodeletDisplacesTheLeastUrgentOneOfABusyMachine) {
  for (bool const preempts : {false, true}) {
    Spoliation system(preempts ? "pp" : "sp", 2, 1);
    system.view.commit(system.view.add_task({}), GroupId(gpu0));
    system.add("gemm", 5);
    TaskId const low = system.add("gemm", 3);
    system.start(cpu);
    EXPECT_FALSE(system.abort_for(cpu).valid());
    system.start(cpu);
    system.add("trsm", 9);
    EXPECT_FALSE(system.abort_for(cpu).valid()) << "only the slow codelet displaces others";
    TaskId const potrf = system.add("potrf", 1);
    EXPECT_EQ(system.abort_for(cpu), preempts ? low : TaskId());
    EXPECT_FALSE(system.abort_for(cpu).valid()) << "a core will be free";
    if (!preempts) continue;
    system.stopped(low);
    EXPECT_EQ(system.start(cpu), potrf);
    system.add("potrf", 7);
    EXPECT_TRUE(system.abort_for(cpu).valid());
  }
}

TEST(HeteroprioSpoliation, OneTaskOnTheCoresOfAllNodesMakesWay) {
  detail::Machine machine = mixed(1, 1);
  NodeId const node = machine.add_node({.name = "second"});
  machine.add_link_pair(NodeId(0), node, 1e9);
  machine.add_worker({.name = "cpu", .node = node, .kind = detail::WorkerKind::Cpu});
  constexpr std::uint32_t second = 2;
  Spoliation system("pp", machine);
  system.view.commit(system.view.add_task({}), GroupId(gpu0));
  TaskId const low = system.add("gemm", 3);
  ASSERT_EQ(system.start(second), low);
  system.add("gemm", 5);
  ASSERT_TRUE(system.start(cpu).valid());
  TaskId const potrf = system.add("potrf", 1);
  EXPECT_FALSE(system.abort_for(cpu).valid()) << "the other node has a less urgent one";
  EXPECT_EQ(system.abort_for(second), low);
  EXPECT_FALSE(system.abort_for(cpu).valid()) << "the other core will be free";
  system.stopped(low);
  EXPECT_EQ(system.start(second), potrf);
}

TEST(HeteroprioSpoliation, TheSlowCodeletDoesNotDisplaceItself) {
  Spoliation system("pp", 1, 1);
  system.view.commit(system.view.add_task({}), GroupId(gpu0));
  system.add("potrf", 1);
  EXPECT_TRUE(system.start(cpu).valid());
  system.add("potrf", 9);
  EXPECT_FALSE(system.abort_for(cpu).valid());
}

// What a device does that could take a less urgent task than the core runs.
TEST(HeteroprioSpoliation, ThePriorityConstraintExceptsSlowCodelets) {
  struct Expected {
    char const* rules;
    bool potrf, trsm, gemm;  // whether the constraint holds for a task of these
  };
  for (auto const& [rules, potrf, trsm, gemm] :
       {Expected{"pp", false, false, false}, Expected{"pc", true, true, true}, Expected{"pcep", false, true, true},
        Expected{"pcept", false, false, true}}) {
    for (auto const& [codelet, holds] : {std::pair("potrf", potrf), std::pair("trsm", trsm), std::pair("gemm", gemm)}) {
      Spoliation system(rules, 1, 1);
      system.view.commit(system.view.add_task({}), GroupId(gpu0));
      TaskId const urgent = system.add(codelet, 5);
      ASSERT_EQ(system.start(cpu), urgent);
      TaskId const ready = system.add("gemm", 4);
      system.view.finish(system.view.committed(GroupId(gpu0))[0]);
      EXPECT_EQ(system.start(gpu0), holds ? TaskId() : ready) << rules << ' ' << codelet;
      if (!holds) continue;
      EXPECT_EQ(system.abort_for(gpu0), urgent) << rules << ' ' << codelet;
    }
  }
}

TEST(HeteroprioSpoliation, ADeviceTakesAReadyTaskThatIsUrgentEnough) {
  Spoliation system("pc", 1, 1);
  system.view.commit(system.view.add_task({}), GroupId(gpu0));
  system.add("gemm", 5);
  system.start(cpu);
  system.add("gemm", 4);
  TaskId const urgent = system.add("potrf", 6);
  system.view.finish(system.view.committed(GroupId(gpu0))[0]);
  EXPECT_EQ(system.start(gpu0), urgent) << "although it looks at gemm first";
}

TEST(HeteroprioSpoliation, BucketsAreMergedForDevicesFromPpOn) {
  for (bool const merged : {false, true}) {
    Spoliation system(merged ? "pp" : "sp", 1, 1);
    TaskId const gemm = system.add("gemm", 1);
    TaskId const trsm = system.add("trsm", 2);
    system.add("potrf", 3);
    EXPECT_EQ(system.start(gpu0), merged ? trsm : gemm);
  }
}

TEST(HeteroprioSpoliation, CountsWhatItStops) {
  Spoliation system("sp", 1, 1);
  system.view.commit(system.view.add_task({}), GroupId(gpu0));
  system.add("gemm");
  system.start(cpu);
  system.view.finish(system.view.committed(GroupId(gpu0))[0]);
  system.abort_for(gpu0);
  auto const counters = system.run.scheduler->counters();
  EXPECT_EQ(counters[0], (std::pair<std::string, double>("spoliations", 1)));
  EXPECT_EQ(counters[1], (std::pair<std::string, double>("preemptions", 0)));
  EXPECT_EQ(dynamic_cast<TaskAborter*>(make_scheduler("heteroprio:spoliation=none").get()), nullptr);
  EXPECT_THROW(static_cast<void>(make_scheduler("heteroprio:spoliation=all")), InvalidArgument);
}

}  // namespace
}  // namespace granary::test
