// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/heteroprio/heteroprio_orders.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace granary {

using namespace detail;

namespace {

using testing::ElementsAre;

// The kernels of a Cholesky factorization on one CPU core and on one GPU (Static, Table I: 2.3, 11, 26 and 29).
std::vector<KindTimes> const cholesky{{2.3, 1}, {11, 1}, {26, 1}, {29, 1}};
constexpr std::uint32_t potrf = 0, trsm = 1, syrk = 2, gemm = 3;

TEST(HeteroprioOrders, ThePapersExampleOfBuckets) {
  // LAHeteroprio, "Multi-Priorities": TA, TB, TC, TC'; only CPU cores run TB. Speed-ups 1.1, none, 1.4 and 3.
  std::vector<KindTimes> const times{{1.1, 1}, {1, 0}, {1.4, 1}, {3, 1}};
  EXPECT_THAT(levels_by_acceleration(times, WorkerKind::Cpu, 1),
              ElementsAre(ElementsAre(1), ElementsAre(0), ElementsAre(2), ElementsAre(3)));
  EXPECT_THAT(levels_by_acceleration(times, WorkerKind::Device, 1),
              ElementsAre(ElementsAre(3), ElementsAre(2), ElementsAre(0)));
}

TEST(HeteroprioOrders, DevicesTakeTheHighestAccelerationFirstAndCpusTheLowest) {
  EXPECT_THAT(levels_by_acceleration(cholesky, WorkerKind::Device, 1),
              ElementsAre(ElementsAre(gemm), ElementsAre(syrk), ElementsAre(trsm), ElementsAre(potrf)));
  EXPECT_THAT(levels_by_acceleration(cholesky, WorkerKind::Cpu, 1),
              ElementsAre(ElementsAre(potrf), ElementsAre(trsm), ElementsAre(syrk), ElementsAre(gemm)));
}

TEST(HeteroprioOrders, SimilarAccelerationsShareALevel) {
  EXPECT_THAT(levels_by_acceleration(cholesky, WorkerKind::Device, 2),
              ElementsAre(ElementsAre(gemm, syrk), ElementsAre(trsm), ElementsAre(potrf)));
  // HP+CGV: gemm, syrk and trsm treated as one.
  EXPECT_THAT(levels_by_acceleration(cholesky, WorkerKind::Device, 5),
              ElementsAre(ElementsAre(gemm, syrk, trsm), ElementsAre(potrf)));
}

TEST(HeteroprioOrders, WhatAKindCannotRunIsLeftOut) {
  std::vector<KindTimes> const times{{0, 1}, {1, 0}, {2, 1}};
  EXPECT_THAT(levels_by_acceleration(times, WorkerKind::Cpu, 1), ElementsAre(ElementsAre(1), ElementsAre(2)));
  EXPECT_THAT(levels_by_acceleration(times, WorkerKind::Device, 1), ElementsAre(ElementsAre(0), ElementsAre(2)));
  EXPECT_EQ(acceleration({0, 1}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(acceleration({1, 0}), 0);
}

TEST(HeteroprioOrders, OnOneKindEverythingIsOneLevel) {
  std::vector<KindTimes> const times{{0, 1}, {0, 5}, {0, 2}};
  EXPECT_THAT(levels_by_acceleration(times, WorkerKind::Device, 1), ElementsAre(ElementsAre(0, 1, 2)));
  EXPECT_TRUE(levels_by_acceleration(times, WorkerKind::Cpu, 1).empty());
}

TEST(HeteroprioOrders, StatedLevelsComeFirst) {
  std::vector<std::string> const names{"potrf", "trsm", "syrk", "gemm"};
  auto const otherwise = levels_by_acceleration(cholesky, WorkerKind::Device, 1);
  EXPECT_THAT(stated_levels({{"potrf"}, {"syrk", "gemm", "unknown"}}, names, otherwise),
              ElementsAre(ElementsAre(potrf), ElementsAre(gemm, syrk), ElementsAre(trsm)));
  EXPECT_EQ(stated_levels({}, names, otherwise), otherwise);
}

TEST(HeteroprioOrders, SpeedUpNamesTheFasterKind) {
  EXPECT_EQ(speed_up({6, 2}).best, WorkerKind::Device);
  EXPECT_DOUBLE_EQ(speed_up({6, 2}).factor, 3);
  EXPECT_EQ(speed_up({2, 6}).best, WorkerKind::Cpu);
  EXPECT_DOUBLE_EQ(speed_up({2, 6}).factor, 3);
  EXPECT_EQ(speed_up({2, 2}).factor, 0);
  EXPECT_EQ(speed_up({2, 0}).best, WorkerKind::Cpu);
}

TEST(HeteroprioOrders, SlowWorkersNeedNTimesSTasks) {
  // Three GPUs that are twice as fast: six tasks.
  EXPECT_FALSE(slow_may_take(5, 3, 2));
  EXPECT_TRUE(slow_may_take(6, 3, 2));
  EXPECT_FALSE(slow_may_take(4, 3, 1.4));
  EXPECT_TRUE(slow_may_take(5, 3, 1.4));
  EXPECT_TRUE(slow_may_take(7, 7, 1));
}

}  // namespace
}  // namespace granary
