// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/estimator.hpp>

#include <gtest/gtest.h>

namespace granary {
namespace {

TEST(AveragingEstimator, BelievesTheStatedSpeedBeforeAnyMeasurement) {
  detail::AveragingEstimator const estimator(1e9, Duration(700));
  EXPECT_EQ(estimator.kernel_time(detail::CodeletId(3), 5000, detail::WorkerKind::Cpu), Duration(5000));
  EXPECT_EQ(estimator.kernel_time(detail::CodeletId(3), 0, detail::WorkerKind::Cpu), Duration(700));
}

TEST(AveragingEstimator, BelievesTheFirstMeasurementAndThenForgetsSlowly) {
  detail::AveragingEstimator estimator;
  estimator.observe_kernel(detail::CodeletId(2), 1000, detail::WorkerKind::Cpu, Duration(4000));
  EXPECT_EQ(estimator.kernel_time(detail::CodeletId(2), 500, detail::WorkerKind::Cpu), Duration(2000));
  estimator.observe_kernel(detail::CodeletId(2), 1000, detail::WorkerKind::Cpu, Duration(12000));
  // 4 + (12 - 4) / 8 ns per operation.
  EXPECT_EQ(estimator.kernel_time(detail::CodeletId(2), 1000, detail::WorkerKind::Cpu), Duration(5000));
}

TEST(AveragingEstimator, KeepsCodeletsKindsAndUnknownFlopsApart) {
  detail::AveragingEstimator estimator(1e9, Duration(700));
  estimator.observe_kernel(detail::CodeletId(1), 1000, detail::WorkerKind::Cpu, Duration(3000));
  estimator.observe_kernel(detail::CodeletId(1), 0, detail::WorkerKind::Device, Duration(90));
  EXPECT_EQ(estimator.kernel_time(detail::CodeletId(1), 1000, detail::WorkerKind::Device), Duration(1000));
  EXPECT_EQ(estimator.kernel_time(detail::CodeletId(1), 0, detail::WorkerKind::Cpu), Duration(700));
  EXPECT_EQ(estimator.kernel_time(detail::CodeletId(1), 0, detail::WorkerKind::Device), Duration(90));
  EXPECT_EQ(estimator.kernel_time(detail::CodeletId(0), 1000, detail::WorkerKind::Cpu), Duration(1000));
}

TEST(AveragingEstimator, KnowsWhichKindsOfWorkerWereMeasured) {
  detail::AveragingEstimator estimator;
  EXPECT_FALSE(estimator.measured(detail::CodeletId(1), detail::WorkerKind::Cpu));
  estimator.observe_kernel(detail::CodeletId(1), 1000, detail::WorkerKind::Cpu, Duration(3000));
  EXPECT_TRUE(estimator.measured(detail::CodeletId(1), detail::WorkerKind::Cpu));
  EXPECT_FALSE(estimator.measured(detail::CodeletId(1), detail::WorkerKind::Device));
  EXPECT_FALSE(estimator.measured(detail::CodeletId(0), detail::WorkerKind::Cpu)) << "a codelet before it";
  EXPECT_FALSE(estimator.measured(detail::CodeletId(2), detail::WorkerKind::Cpu)) << "a codelet after it";
  estimator.observe_kernel(detail::CodeletId(0), 0, detail::WorkerKind::Device, Duration(0));
  EXPECT_TRUE(estimator.measured(detail::CodeletId(0), detail::WorkerKind::Device))
      << "without flops, and too short to be seen";
}

TEST(Estimator, OneThatDoesNotLearnNeedsNoMeasurements) {
  class Fixed final : public Estimator {
   public:
    [[nodiscard]] Duration kernel_time(detail::CodeletId, double, detail::WorkerKind) const override {
      return Duration(1);
    }
    void observe_kernel(detail::CodeletId, double, detail::WorkerKind, Duration) override {}
  };
  EXPECT_TRUE(Fixed().measured(detail::CodeletId(7), detail::WorkerKind::Device));
}

TEST(AveragingEstimator, IsNeverBelowANanosecond) {
  detail::AveragingEstimator estimator;
  estimator.observe_kernel(detail::CodeletId(0), 1e6, detail::WorkerKind::Cpu, Duration(0));
  EXPECT_GE(estimator.kernel_time(detail::CodeletId(0), 1, detail::WorkerKind::Cpu), Duration(1));
}

}  // namespace
}  // namespace granary
