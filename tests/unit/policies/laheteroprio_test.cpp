// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/heteroprio/laheteroprio.hpp>

#include "heteroprio_fixture.hpp"

#include <granary/detail/core/base/error.hpp>

namespace granary::test::laheteroprio_test {

using namespace detail;

namespace {

struct LaheteroprioRun : HeteroprioRun {
  using HeteroprioRun::HeteroprioRun;

  /// A datum that is only on the group's node.
  DataId datum_on(std::uint32_t group, Bytes bytes = 100) {
    DataId const datum = view.add_data(bytes);
    move(datum, group);
    return datum;
  }
  void move(DataId datum, std::uint32_t group) {
    for (std::uint32_t n = 0; n < view.topology().machine().nodes.size(); ++n) {
      bool const here = NodeId(n) == view.topology().group(GroupId(group)).node;
      view.set_expected(datum, NodeId(n), here);
      view.set_valid(datum, NodeId(n), here);
    }
  }
  TaskId add_on(std::uint32_t group, std::int64_t priority = 0) {
    return add("gemm", 300, 10, priority, {read_write(datum_on(group))});
  }
  [[nodiscard]] LaheteroprioScheduler const& scheduler() const {
    return dynamic_cast<LaheteroprioScheduler const&>(*run.scheduler);
  }
};

TEST(Laheteroprio, WorkersTakeTheTasksOfTheirNodeFirst) {
  LaheteroprioRun system("laheteroprio", mixed(1, 2));
  TaskId const on_gpu1 = system.add_on(gpu1, 9);
  TaskId const on_host = system.add_on(cpu, 8);
  TaskId const on_gpu0 = system.add_on(gpu0);
  EXPECT_EQ(system.next(gpu0), on_gpu0);
  EXPECT_EQ(system.next(gpu1), on_gpu1);
  EXPECT_EQ(system.next(gpu1), on_host) << "the host is the nearest";
}

TEST(Laheteroprio, TasksOfAnotherDeviceAreOnlyTakenByIdleWorkers) {
  LaheteroprioRun system("laheteroprio", mixed(1, 2));
  TaskId const a = system.add_on(gpu1, 2);
  TaskId const b = system.add_on(gpu1, 1);
  EXPECT_EQ(system.next(gpu0), a);
  EXPECT_FALSE(system.next(gpu0).valid()) << "it has something to do";
  EXPECT_EQ(system.next(gpu1), b);
}

TEST(Laheteroprio, ADevicesOwnTasksAreTakenAhead) {
  LaheteroprioRun system("laheteroprio", mixed(1, 2));
  for (int i = 0; i < 3; ++i) system.add_on(gpu0);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(system.next(gpu0).valid());
}

TEST(Laheteroprio, PriorityDecidesWithinAList) {
  LaheteroprioRun system("laheteroprio", mixed(1, 1));
  TaskId const low = system.add_on(gpu0, 1);
  TaskId const high = system.add_on(gpu0, 2);
  EXPECT_EQ(system.next(gpu0), high);
  EXPECT_EQ(system.next(gpu0), low);
}

TEST(Laheteroprio, TiesGoToTheNodeThatReleasedTheTask) {
  LaheteroprioRun system("laheteroprio", mixed(1, 2));
  TaskId const released_by = system.add_on(gpu1);
  ASSERT_EQ(system.next(gpu1), released_by);
  system.finish(released_by);
  TaskId const tied = system.add("gemm", 300, 10, 0);
  TaskId const other = system.add_on(gpu0, 5);
  EXPECT_EQ(system.next(gpu1), tied);
  EXPECT_EQ(system.next(gpu0), other);
}

TEST(Laheteroprio, OtherTiesGoToTheNodeWithTheFewestTasks) {
  LaheteroprioRun system("laheteroprio", mixed(0, 2));
  TaskId const a = system.add("gemm", 300, 10, 1);
  TaskId const b = system.add("gemm", 300, 10, 2);
  EXPECT_EQ(system.next(0), a);
  EXPECT_EQ(system.next(1), b);
}

TEST(Laheteroprio, LaRUFollowsTheReleaser) {
  LaheteroprioRun system("laheteroprio:formula=LaRU", mixed(1, 2));
  TaskId const first = system.add_on(cpu);
  ASSERT_EQ(system.next(gpu0), first);
  system.finish(first);
  TaskId const released = system.add_on(gpu1);
  TaskId const another = system.add_on(gpu1, -1);
  auto const& choice = system.scheduler().choice();
  auto const before = choice.differences(Affinity::LaRU);
  EXPECT_EQ(system.next(gpu0), released);
  EXPECT_EQ(choice.differences(Affinity::LaRU), before);
  EXPECT_EQ(system.next(gpu1), another);
  EXPECT_EQ(choice.differences(Affinity::LaRU), before + 1) << "released by one, taken by another";
  EXPECT_EQ(system.scheduler().given(), 3U);
}

TEST(Laheteroprio, MCFollowsTheTransferTimes) {
  LaheteroprioRun system("laheteroprio:formula=MC", mixed(1, 2));
  DataId const large = system.datum_on(gpu1, 1000);
  DataId const small = system.datum_on(gpu0, 10);
  TaskId const task = system.add("gemm", 300, 10, 0, {read(large), write(small)});
  TaskId const other = system.add_on(gpu0);
  EXPECT_EQ(system.next(gpu1), task);
  EXPECT_EQ(system.next(gpu0), other);
}

TEST(Laheteroprio, TheFormulasDisagreeAsTheySay) {
  // 2000 bytes read on GPU 0, 100 written on GPU 1.
  for (auto const& [formula, group] :
       {std::pair("LS_SDH", gpu0), std::pair("LS_SDH2", gpu1), std::pair("LS_SDHB", gpu1), std::pair("LC_SMWB", gpu0),
        std::pair("LS_SDHB:theta=1", gpu0)}) {
    LaheteroprioRun system(std::string("laheteroprio:formula=") + formula, mixed(1, 2));
    DataId const input = system.datum_on(gpu0, 2000);
    DataId const output = system.datum_on(gpu1, 100);
    TaskId const task = system.add("gemm", 300, 10, 0, {read(input), read_write(output)});
    TaskId const elsewhere = system.add_on(group == gpu0 ? gpu1 : gpu0, 5);
    EXPECT_EQ(system.next(group), task) << formula;
    EXPECT_EQ(system.next(group == gpu0 ? gpu1 : gpu0), elsewhere) << formula;
  }
}

TEST(Laheteroprio, TheAutomaticChoiceLeavesAFormulaThatChangesItsMind) {
  LaheteroprioRun system("laheteroprio", mixed(1, 2));
  auto const& choice = system.scheduler().choice();
  EXPECT_EQ(choice.formula(), Affinity::LS_SDHB);
  DataId const input = system.datum_on(gpu0, 100000000);
  DataId const output = system.datum_on(gpu1, 1);
  system.add("gemm", 300, 10, 0, {read(input), read_write(output)});
  system.move(input, cpu);
  EXPECT_TRUE(system.next(gpu0).valid());
  EXPECT_GT(choice.differences(Affinity::LS_SDHB), 0U) << "even times 1000 the output is smaller";
  EXPECT_GT(choice.differences(Affinity::LS_SDH), 0U);
  EXPECT_GT(choice.differences(Affinity::LC_SMWB), 0U);
  DataId const other = system.datum_on(gpu0, 1000);
  DataId const written = system.datum_on(gpu1, 1000);
  system.add("gemm", 300, 10, 0, {read(other), read_write(written)});
  system.move(other, cpu);
  EXPECT_TRUE(system.next(gpu1).valid());
  EXPECT_EQ(choice.differences(Affinity::LS_SDHB), 1U);
  EXPECT_EQ(choice.differences(Affinity::LS_SDH), 2U) << "the device that hosted half of it hosts nothing now";
  EXPECT_EQ(choice.differences(Affinity::MC), 0U) << "not measured unless asked for";
}

TEST(Laheteroprio, TheChoiceSwitchesToTheSteadiest) {
  LaheteroprioRun system("laheteroprio", mixed(1, 2));
  auto const& choice = system.scheduler().choice();
  // Written twice on GPU 1 (theta x 2 x 200 bytes), read on GPU 0: the read bytes decide for LS_SDH2, not for LS_SDHB,
  // whose node changes when one of the written data goes to GPU 0.
  DataId const a = system.datum_on(gpu1, 100);
  DataId const b = system.datum_on(gpu1, 100);
  DataId const input = system.datum_on(gpu0, 300000);
  system.add("gemm", 300, 10, 0, {read_write(a), read_write(b), read(input)});
  system.move(b, gpu0);
  EXPECT_TRUE(system.next(gpu1).valid());
  EXPECT_EQ(choice.differences(Affinity::LS_SDHB), 1U);
  EXPECT_EQ(choice.differences(Affinity::LS_SDH2), 0U);
  EXPECT_EQ(choice.formula(), Affinity::LS_SDH2);
}

TEST(Laheteroprio, TheLocalityCoefficientWeighsLocalityAgainstPriority) {
  for (std::string const l : {"1", "all", "device@all", "GPU0@all", "cpu@all"}) {
    LaheteroprioRun system("laheteroprio:l=1+" + std::string(l.find('@') == l.npos ? "device@" + l : l), mixed(1, 2));
    TaskId const gemm_on_host = system.add("gemm", 300, 10, 0, {read_write(system.datum_on(cpu))});
    TaskId const trsm_here = system.add("trsm", 30, 10, 0, {read_write(system.datum_on(gpu0))});
    bool const local_first = l != "1" && l != "cpu@all";
    EXPECT_EQ(system.next(gpu0), local_first ? trsm_here : gemm_on_host) << l;
  }
}

TEST(Laheteroprio, DistancesFollowEquationTwelve) {
  LaheteroprioRun system("laheteroprio:alpha=0.25", mixed(1, 2));
  system.add("gemm", 300, 10);
  system.add("potrf", 20, 10);
  system.next(gpu0);
  auto const& distances = system.scheduler().distances();
  // Reversed orders of two buckets: 1 - 2/6; a gigabyte takes half the longest time, which is between devices.
  EXPECT_NEAR(distances[1], 0.25 * (1 - 2.0 / 6) + 0.75 * 0.5, 1e-6);
  EXPECT_NEAR(distances[1 * 3 + 2], 0.25 * 1 + 0.75 * 1, 1e-6);
  EXPECT_EQ(distances[0], 0);
}

TEST(Laheteroprio, CancelledTasksAreForgotten) {
  LaheteroprioRun system("laheteroprio", mixed(1, 1));
  TaskId const a = system.add_on(gpu0);
  TaskId const b = system.add_on(gpu0, 7);
  system.run.scheduler->withdrawn(b, Withdrawal::Cancelled, {});
  EXPECT_EQ(system.next(gpu0), a);
  EXPECT_FALSE(system.next(gpu0).valid());
  EXPECT_FALSE(system.next(cpu).valid());
}

TEST(Laheteroprio, RefusesMalformedOptions) {
  for (std::string const bad :
       {"formula=LS", "theta=-1", "alpha=1.5", "l=0", "l=x", "S=-1", "l=gpu@", "l=@2x", "bmd=no"}) {
    EXPECT_THROW((void)make_scheduler("laheteroprio:" + bad), InvalidArgument) << bad;
  }
  try {
    LaheteroprioRun system("laheteroprio:l=GPU7@2", mixed(1, 2));
    FAIL() << "no such node";
  } catch (InvalidArgument const& error) {
    EXPECT_NE(std::string(error.what()).find("'GPU7'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("RAM, GPU0, GPU1"), std::string::npos);
  }
}

}  // namespace
}  // namespace granary::test::laheteroprio_test
