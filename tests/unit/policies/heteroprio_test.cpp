// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heteroprio_fixture.hpp"

#include <granary/detail/core/base/error.hpp>

namespace granary::test {
namespace {

TEST(Heteroprio, EachKindLooksFirstAtWhatItIsBestAt) {
  HeteroprioRun system("heteroprio:limit=0", mixed(1, 1));
  TaskId const potrf = system.add("potrf", 20, 10);
  TaskId const trsm = system.add("trsm", 100, 10);
  TaskId const gemm = system.add("gemm", 300, 10);
  EXPECT_EQ(system.next(gpu0), gemm);
  EXPECT_EQ(system.next(cpu), potrf);
  EXPECT_EQ(system.next(gpu0), trsm);
}

TEST(Heteroprio, ASlowWorkerTakesATaskWhenNTimesSAreThere) {
  HeteroprioRun system("heteroprio:speedup=gemm@2", mixed(1, 3));
  for (int i = 0; i < 5; ++i) system.add("gemm", 200, 100);
  EXPECT_FALSE(system.next(cpu).valid());
  system.add("gemm", 200, 100);
  EXPECT_TRUE(system.next(cpu).valid());
}

TEST(Heteroprio, WithoutStatedFactorTheModelsGiveIt) {
  for (std::string const count : {"bucket", "work"}) {
    HeteroprioRun system("heteroprio:count=" + count, mixed(1, 3));
    for (int i = 0; i < 5; ++i) system.add("gemm", 200, 100);
    EXPECT_FALSE(system.next(cpu).valid());
    system.add("gemm", 200, 100);
    EXPECT_TRUE(system.next(cpu).valid());
  }
}

TEST(Heteroprio, OnlyTheCountByWorkSeesOtherBucketsAndHeldTasks) {
  for (bool const by_work : {true, false}) {
    HeteroprioRun system(by_work ? "heteroprio" : "heteroprio:count=bucket", mixed(1, 1));
    TaskId const trsm = system.add("trsm", 500, 100);
    system.add("gemm", 3000, 100);
    system.add("gemm", 3000, 100);
    EXPECT_TRUE(system.next(gpu0).valid());
    system.add("gemm", 3000, 100);
    EXPECT_FALSE(system.next(cpu).valid()) << "400 ns of work for the device, of which it holds 100";
    system.add("gemm", 3000, 100);
    EXPECT_EQ(system.next(cpu), by_work ? trsm : TaskId{});
  }
}

TEST(Heteroprio, WithinABucketDevicesTakeTheMostUrgent) {
  HeteroprioRun system("heteroprio:limit=0", mixed(2, 1));
  TaskId const low = system.add("gemm", 300, 10, 1);
  TaskId const high = system.add("gemm", 300, 10, 3);
  TaskId const middle = system.add("gemm", 300, 10, 2);
  EXPECT_EQ(system.next(gpu0), high);
  EXPECT_EQ(system.next(cpu), low) << "fast workers look at gemm first, and at its least urgent task last";
  EXPECT_EQ(system.next(gpu0), middle);
}

TEST(Heteroprio, SlowWorkersTakeTheMostUrgentOfWhatFastOnesReachLast) {
  HeteroprioRun system("heteroprio:limit=0", mixed(2, 1));
  system.add("gemm", 300, 10);
  TaskId const low = system.add("potrf", 20, 10, 1);
  TaskId const high = system.add("potrf", 20, 10, 2);
  EXPECT_EQ(system.next(cpu), high);
  EXPECT_EQ(system.next(cpu), low);
}

TEST(Heteroprio, TheSlowOptionDecidesForAllBuckets) {
  HeteroprioRun most("heteroprio:limit=0:slow=most-urgent", mixed(1, 1));
  most.add("gemm", 300, 10, 1);
  TaskId const high = most.add("gemm", 300, 10, 2);
  EXPECT_EQ(most.next(cpu), high);

  HeteroprioRun least("heteroprio:limit=0:slow=least-urgent", mixed(1, 1));
  least.add("gemm", 300, 10, 1);
  TaskId const low = least.add("potrf", 20, 10, 1);
  least.add("potrf", 20, 10, 2);
  EXPECT_EQ(least.next(cpu), low);
}

TEST(Heteroprio, BucketsOfOneLevelAreSeenAsOne) {
  HeteroprioRun system("heteroprio:device=trsm/gemm+potrf", mixed(1, 1));
  TaskId const potrf = system.add("potrf", 20, 10, 9);
  TaskId const gemm = system.add("gemm", 300, 10, 1);
  TaskId const trsm = system.add("trsm", 100, 10, 2);
  EXPECT_EQ(system.next(gpu0), trsm);
  EXPECT_EQ(system.next(gpu0), gemm);
  EXPECT_EQ(system.next(gpu0), potrf);
}

TEST(Heteroprio, AStatedOrderReplacesTheModels) {
  HeteroprioRun system("heteroprio:limit=0:cpu=gemm+potrf", mixed(3, 1));
  TaskId const potrf = system.add("potrf", 20, 10);
  TaskId const trsm = system.add("trsm", 100, 10);
  TaskId const gemm = system.add("gemm", 300, 10);
  EXPECT_EQ(system.next(cpu), gemm);
  EXPECT_EQ(system.next(cpu), potrf);
  EXPECT_EQ(system.next(cpu), trsm);
}

TEST(Heteroprio, WhatOnlySlowWorkersMayRunIsNeverKeptFromThem) {
  HeteroprioRun system("heteroprio:speedup=gemm@100+assemble@100", mixed(1, 2));
  TaskId const assemble = system.add("assemble", 50, 0);
  EXPECT_FALSE(system.next(gpu0).valid());
  EXPECT_EQ(system.next(cpu), assemble);

  // The same operation, but its data fit on no device.
  HeteroprioRun large("heteroprio:speedup=gemm@100", mixed(1, 1));
  TaskId const fits = large.add("gemm", 100, 1);
  TaskId const too_large = large.view.add_task({}, 5, Duration{100}, 1);
  large.view.set_codelet(too_large, large.codelets["gemm"]);
  large.run.scheduler->ready(too_large);
  EXPECT_EQ(large.next(gpu0), fits);
  EXPECT_EQ(large.next(cpu), too_large);
}

TEST(Heteroprio, OnCpusAloneNothingIsLimited) {
  HeteroprioRun system("heteroprio", mixed(2, 0));
  TaskId const a = system.add("gemm", 300, 1);
  TaskId const b = system.add("gemm", 300, 1, 2);
  EXPECT_EQ(system.next(cpu), b);
  EXPECT_EQ(system.next(cpu), a);
  EXPECT_FALSE(system.next(cpu).valid());
}

TEST(Heteroprio, AnIdleFastWorkerGetsWhatASlowOneRefused) {
  HeteroprioRun system("heteroprio", mixed(1, 2));
  TaskId const only = system.add("gemm", 300, 1);
  EXPECT_FALSE(system.next(cpu).valid());
  EXPECT_EQ(system.next(gpu1), only);
}

TEST(Heteroprio, SlowWorkersTakeNothingAhead) {
  HeteroprioRun system("heteroprio:limit=0", mixed(2, 1));
  for (int i = 0; i < 5; ++i) system.add("gemm", 300, 1);
  TaskId const first = system.next(cpu);
  EXPECT_TRUE(system.next(cpu).valid());
  EXPECT_FALSE(system.next(cpu).valid());
  system.finish(first);
  EXPECT_TRUE(system.next(cpu).valid());
}

TEST(Heteroprio, FastGroupsShareTheTasksAhead) {
  HeteroprioRun system("heteroprio", mixed(0, 2));
  for (int i = 0; i < 4; ++i) system.add("gemm", 300, 1);
  constexpr std::uint32_t first = 0, second = 1;
  TaskId const running = system.next(first);
  EXPECT_TRUE(running.valid());
  EXPECT_FALSE(system.next(first).valid()) << "the other device has nothing";
  EXPECT_TRUE(system.next(second).valid());
  EXPECT_TRUE(system.next(second).valid());
  EXPECT_FALSE(system.next(second).valid());
  EXPECT_TRUE(system.next(first).valid());
}

TEST(Heteroprio, CpusMayBeTheFastOnes) {
  HeteroprioRun system("heteroprio", mixed(3, 1));
  for (int i = 0; i < 5; ++i) system.add("small", 10, 20);
  EXPECT_FALSE(system.next(gpu0).valid());
  system.add("small", 10, 20);
  EXPECT_TRUE(system.next(gpu0).valid());
  EXPECT_TRUE(system.next(cpu).valid());
}

TEST(Heteroprio, WorkersPerDeviceCountAndBoundWhatADeviceHolds) {
  HeteroprioRun system("heteroprio:workers_per_device=2:speedup=gemm@2", mixed(1, 1));
  for (int i = 0; i < 3; ++i) system.add("gemm", 200, 100);
  EXPECT_FALSE(system.next(cpu).valid()) << "2 workers x 2";
  system.add("gemm", 200, 100);
  EXPECT_TRUE(system.next(cpu).valid());
  TaskId const first = system.next(gpu0);
  EXPECT_TRUE(system.next(gpu0).valid());
  EXPECT_FALSE(system.next(gpu0).valid());
  system.finish(first);
  EXPECT_TRUE(system.next(gpu0).valid());
}

TEST(Heteroprio, TheOrderFollowsTheModels) {
  HeteroprioRun system("heteroprio", mixed(1, 1));
  TaskId const a = system.add("a", 20, 10);
  TaskId const b = system.add("b", 30, 1);
  EXPECT_EQ(system.next(gpu0), b);
  EXPECT_EQ(system.next(gpu0), a);
  // From now on a gains more; the mean of 32 tasks forgets.
  for (int i = 0; i < 320; ++i) system.run.scheduler->withdrawn(system.add("a", 1000, 1), Withdrawal::Cancelled, {});
  TaskId const later_b = system.add("b", 30, 1);
  TaskId const later_a = system.add("a", 1000, 1);
  EXPECT_EQ(system.next(gpu0), later_a);
  EXPECT_EQ(system.next(gpu0), later_b);
}

TEST(Heteroprio, CancelledTasksAreForgotten) {
  HeteroprioRun system("heteroprio:speedup=gemm@2", mixed(1, 1));
  TaskId const a = system.add("gemm", 200, 100);
  TaskId const b = system.add("gemm", 200, 100, 7);
  system.run.scheduler->withdrawn(b, Withdrawal::Cancelled, {});
  EXPECT_FALSE(system.next(cpu).valid()) << "one is left";
  EXPECT_EQ(system.next(gpu0), a);
  EXPECT_FALSE(system.next(gpu0).valid());
}

TEST(Heteroprio, RefusesMalformedOptions) {
  for (std::string const bad :
       {"speedup=gemm", "speedup=gemm@", "speedup=gemm@-1", "speedup=gemm@0", "speedup=@2", "speedup=gemm@2x",
        "speedup=gemm@2+gemm@3", "cpu=a+a", "cpu=a/a", "cpu=a+", "device=/a", "limit=-1", "merge_device=0.5",
        "slow=often", "count=tasks", "workers_per_device=-1", "spoliation=yes"}) {
    EXPECT_THROW((void)make_scheduler("heteroprio:" + bad), InvalidArgument) << bad;
    EXPECT_THROW((void)make_scheduler("laheteroprio:" + bad), InvalidArgument) << bad;
  }
}

}  // namespace
}  // namespace granary::test
