// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/estimator.hpp>

#include <gtest/gtest.h>

namespace granary {
namespace {

TEST(AveragingEstimator, BelievesTheStatedSpeedBeforeAnyMeasurement) {
  AveragingEstimator const estimator(1e9, Duration(700));
  EXPECT_EQ(estimator.kernel_time(CodeletId(3), 5000, WorkerKind::Cpu), Duration(5000));
  EXPECT_EQ(estimator.kernel_time(CodeletId(3), 0, WorkerKind::Cpu), Duration(700));
}

TEST(AveragingEstimator, BelievesTheFirstMeasurementAndThenForgetsSlowly) {
  AveragingEstimator estimator;
  estimator.observe_kernel(CodeletId(2), 1000, WorkerKind::Cpu, Duration(4000));
  EXPECT_EQ(estimator.kernel_time(CodeletId(2), 500, WorkerKind::Cpu), Duration(2000));
  estimator.observe_kernel(CodeletId(2), 1000, WorkerKind::Cpu, Duration(12000));
  // 4 + (12 - 4) / 8 ns per operation.
  EXPECT_EQ(estimator.kernel_time(CodeletId(2), 1000, WorkerKind::Cpu), Duration(5000));
}

TEST(AveragingEstimator, KeepsCodeletsKindsAndUnknownFlopsApart) {
  AveragingEstimator estimator(1e9, Duration(700));
  estimator.observe_kernel(CodeletId(1), 1000, WorkerKind::Cpu, Duration(3000));
  estimator.observe_kernel(CodeletId(1), 0, WorkerKind::Device, Duration(90));
  EXPECT_EQ(estimator.kernel_time(CodeletId(1), 1000, WorkerKind::Device), Duration(1000));
  EXPECT_EQ(estimator.kernel_time(CodeletId(1), 0, WorkerKind::Cpu), Duration(700));
  EXPECT_EQ(estimator.kernel_time(CodeletId(1), 0, WorkerKind::Device), Duration(90));
  EXPECT_EQ(estimator.kernel_time(CodeletId(0), 1000, WorkerKind::Cpu), Duration(1000));
}

TEST(AveragingEstimator, KnowsWhichKindsOfWorkerWereMeasured) {
  AveragingEstimator estimator;
  EXPECT_FALSE(estimator.measured(CodeletId(1), WorkerKind::Cpu));
  estimator.observe_kernel(CodeletId(1), 1000, WorkerKind::Cpu, Duration(3000));
  EXPECT_TRUE(estimator.measured(CodeletId(1), WorkerKind::Cpu));
  EXPECT_FALSE(estimator.measured(CodeletId(1), WorkerKind::Device));
  EXPECT_FALSE(estimator.measured(CodeletId(0), WorkerKind::Cpu)) << "a codelet before it";
  EXPECT_FALSE(estimator.measured(CodeletId(2), WorkerKind::Cpu)) << "a codelet after it";
  estimator.observe_kernel(CodeletId(0), 0, WorkerKind::Device, Duration(0));
  EXPECT_TRUE(estimator.measured(CodeletId(0), WorkerKind::Device)) << "without flops, and too short to be seen";
}

TEST(Estimator, OneThatDoesNotLearnNeedsNoMeasurements) {
  class Fixed final : public Estimator {
   public:
    [[nodiscard]] Duration kernel_time(CodeletId, double, WorkerKind) const override { return Duration(1); }
    void observe_kernel(CodeletId, double, WorkerKind, Duration) override {}
  };
  EXPECT_TRUE(Fixed().measured(CodeletId(7), WorkerKind::Device));
}

TEST(AveragingEstimator, IsNeverBelowANanosecond) {
  AveragingEstimator estimator;
  estimator.observe_kernel(CodeletId(0), 1e6, WorkerKind::Cpu, Duration(0));
  EXPECT_GE(estimator.kernel_time(CodeletId(0), 1, WorkerKind::Cpu), Duration(1));
}

}  // namespace
}  // namespace granary
