// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/performance_models.hpp>

#include <granary/detail/core/base/random.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace granary::test {

using namespace detail;

namespace {

constexpr auto cpu = WorkerKind::Cpu;
constexpr auto device = WorkerKind::Device;
constexpr double one_gflop = 1e9;

// Models that know codelet 0, "gemm" in double precision, and 1, "potrf".
PerformanceModels fresh(std::vector<KernelModel> const& known = {}) {
  PerformanceModels models(known, {.flops_per_second = {1e9, 1e11}, .without_flops = Duration(700)});
  models.codelet_added(CodeletId(0), {.name = "gemm", .variant = "d"});
  models.codelet_added(CodeletId(1), {.name = "potrf"});
  return models;
}

void observe(PerformanceModels& models, std::vector<std::int64_t> const& times, double flops = one_gflop) {
  for (auto const time : times) models.observe_kernel(CodeletId(0), flops, cpu, Duration(time));
}

std::int64_t believed(PerformanceModels const& models, double flops = one_gflop) {
  return models.kernel_time(CodeletId(0), flops, cpu).count();
}

TEST(SizeClass, EightToADoublingAndNoneWiderThanAnEighth) {
  for (double flops = 1; flops < 1e18; flops *= 1.01) {
    auto const size = SizeClass::of(flops);
    EXPECT_LE(size.least_flops(), flops);
    EXPECT_LT(flops, size.least_flops() * 1.125 * (1 + 1e-12));
    EXPECT_EQ(SizeClass::of(size.least_flops()), size);
    EXPECT_LE(SizeClass::of(flops * 0.999), size);
  }
  int classes = 0;
  auto last = SizeClass::of(0);
  for (double flops = 1024; flops < 2048; flops += 1) {
    if (SizeClass::of(flops) != last) ++classes;
    last = SizeClass::of(flops);
  }
  EXPECT_EQ(classes, 8);
}

TEST(SizeClass, WhatIsNoNumberOfFlopsIsClassZero) {
  auto const none = SizeClass::of(0);
  EXPECT_EQ(none.least_flops(), 0);
  for (double const flops : {-1.0, 0.25, std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_EQ(SizeClass::of(flops), none);
  }
}

TEST(PerformanceModels, BelieveTheStatedSpeedBeforeAnyMeasurement) {
  auto const models = fresh();
  EXPECT_EQ(believed(models, 5000), 5000);
  EXPECT_EQ(models.kernel_time(CodeletId(0), 5000, device), Duration(50));
  EXPECT_EQ(models.kernel_time(CodeletId(0), 0, device), Duration(700));
  EXPECT_EQ(models.kernel_time(CodeletId(77), 5000, cpu), Duration(5000));
  EXPECT_FALSE(models.changed());
}

TEST(PerformanceModels, TheFirstRunIsBelievedOnlyUntilTheSecond) {
  auto models = fresh();
  observe(models, {90'000'000});
  EXPECT_EQ(believed(models), 90'000'000);
  EXPECT_EQ(models.learnt().at(0).samples, 0U);
  observe(models, {4'000'000});
  EXPECT_EQ(believed(models), 4'000'000);
  EXPECT_EQ(models.learnt().at(0).samples, 1U);
}

// The programs measure kernels alone before the first run on a machine.
TEST(PerformanceModels, OfAKernelAloneIsBelievedUntilItsTasksWereMeasured) {
  KernelModel const alone{.codelet = "gemm", .variant = "d alone", .flops = one_gflop, .mean = 4e-11, .samples = 1};
  auto models = fresh({alone});
  EXPECT_TRUE(models.measured(CodeletId(0), cpu));
  EXPECT_FALSE(models.measured(CodeletId(0), device));
  EXPECT_FALSE(models.measured(CodeletId(1), cpu));
  EXPECT_EQ(believed(models), 40'000'000);
  EXPECT_FALSE(models.changed());
  std::vector<KernelModel> stored{alone};
  models.merge_into(stored);
  EXPECT_EQ(stored.size(), 1U) << "what is assumed is not kept";
  observe(models, {90'000'000, 50'000'000});
  EXPECT_EQ(believed(models), 50'000'000);
  models.merge_into(stored);
  ASSERT_EQ(stored.size(), 2U);
  EXPECT_EQ(stored[0].variant, "d");
  EXPECT_EQ(stored[0].samples, 1U);
  EXPECT_DOUBLE_EQ(stored[0].mean, 5e-11);
  EXPECT_DOUBLE_EQ(stored[1].mean, alone.mean);
}

TEST(PerformanceModels, OfAKernelAloneDoesNotCountBesideTheTimesOfTasks) {
  auto const models =
      fresh({{.codelet = "gemm", .variant = "d", .flops = 2 * one_gflop, .mean = 5e-11, .samples = 9},
             {.codelet = "gemm", .variant = "d alone", .flops = one_gflop, .mean = 4e-11, .samples = 1}});
  EXPECT_EQ(believed(models), 50'000'000);
}

TEST(PerformanceModels, KnowWhatWasMeasured) {
  auto models = fresh();
  EXPECT_FALSE(models.measured(CodeletId(0), cpu));
  observe(models, {90'000'000});
  EXPECT_TRUE(models.measured(CodeletId(0), cpu)) << "a warm-up is a measurement";
  EXPECT_FALSE(models.measured(CodeletId(0), device));
  EXPECT_FALSE(models.measured(CodeletId(1), cpu));
  EXPECT_TRUE(models.copy()->measured(CodeletId(0), cpu));
  EXPECT_TRUE(fresh(models.learnt()).measured(CodeletId(0), cpu)) << "in an earlier process";
  models.observe_kernel(CodeletId(77), one_gflop, cpu, Duration(5));
  EXPECT_FALSE(models.measured(CodeletId(77), cpu)) << "nobody knows its name";
}

TEST(PerformanceModels, OneOutlierChangesNothing) {
  auto models = fresh();
  observe(models, {5000, 4000, 4000, 4000, 4'000'000, 4000, 4000});
  EXPECT_EQ(believed(models), 4000);
  auto first = fresh();
  observe(first, {5000, 4'000'000, 4000, 4000});
  EXPECT_EQ(believed(first), 4000);
}

TEST(PerformanceModels, MeasurementsThatVaryGiveTheirMean) {
  auto models = fresh();
  Random random(1);
  for (int i = 0; i < 2000; ++i) observe(models, {8'000'000 + static_cast<std::int64_t>(random.below(4'000'000))});
  EXPECT_NEAR(static_cast<double>(believed(models)), 1e7, 0.8e6);
}

TEST(PerformanceModels, FollowAMachineThatChanges) {
  auto models = fresh({{"gemm", "d", cpu, SizeClass::of(one_gflop).least_flops(), 1e-9, 100'000}});
  EXPECT_EQ(believed(models), 1'000'000'000);
  observe(models, std::vector<std::int64_t>(120, 20'000'000));
  EXPECT_NEAR(static_cast<double>(believed(models)), 2e7, 2e6);
}

TEST(PerformanceModels, BetweenClassesTheTimePerFlopIsInterpolatedAndOutsideThatOfTheNearest) {
  auto models = fresh();
  observe(models, {9, 4096 * 8, 4096 * 8}, 4096);  // 8 ns per flop
  observe(models, {16384 * 2, 16384 * 2}, 16384);  // 2 ns per flop
  EXPECT_EQ(believed(models, 4096), 4096 * 8);
  EXPECT_EQ(believed(models, 1024), 1024 * 8);
  EXPECT_EQ(believed(models, 1'000'000), 2'000'000);
  EXPECT_NEAR(static_cast<double>(believed(models, 8192)) / 8192, 5, 0.3);
  double last = 8;
  for (double flops = 4608; flops < 16384; flops += 64) {
    double const per_flop = static_cast<double>(believed(models, flops)) / flops;
    EXPECT_LE(per_flop, last + 1e-3);
    EXPECT_GE(per_flop, 2);
    last = per_flop;
  }
}

TEST(PerformanceModels, TasksWithoutFlopsHaveAMeanOfTheirOwn) {
  auto models = fresh();
  observe(models, {100, 3000, 3000}, 0);
  EXPECT_EQ(believed(models, 0), 3000);
  EXPECT_EQ(believed(models, 5000), 5000);  // still as stated
  observe(models, {8192, 8192, 8192}, 4096);
  EXPECT_EQ(believed(models, 0), 3000);
  EXPECT_EQ(believed(models, 5000), 10000);
  EXPECT_EQ(believed(models, 1), 2);
}

TEST(PerformanceModels, NamesVariantsAndKindsAreApart) {
  auto models = fresh();
  models.codelet_added(CodeletId(2), {.name = "gemm", .variant = "s"});
  models.codelet_added(CodeletId(3), {.name = "gemm", .variant = "d"});
  observe(models, {4000, 4000});
  EXPECT_EQ(models.kernel_time(CodeletId(2), one_gflop, cpu), Duration(1'000'000'000));
  EXPECT_EQ(models.kernel_time(CodeletId(0), one_gflop, device), Duration(10'000'000));
  EXPECT_EQ(models.kernel_time(CodeletId(1), one_gflop, cpu), Duration(1'000'000'000));
  EXPECT_EQ(models.kernel_time(CodeletId(3), one_gflop, cpu), Duration(4000));  // the same codelet, added again
}

TEST(PerformanceModels, AreNeverBelowANanosecondNorBeyondADuration) {
  auto models = fresh();
  observe(models, {0, 0, -5, 0}, 1e6);
  EXPECT_EQ(believed(models, 1), 1);
  EXPECT_GT(models.learnt().at(0).mean, 0);
  EXPECT_GT(believed(models, 1e300), 0);
  models.observe_kernel(CodeletId(99), 1, cpu, Duration(5));  // never added
  EXPECT_EQ(models.learnt().size(), 1U);
}

TEST(PerformanceModels, WhatWasLearntIsWhereTheNextProcessBegins) {
  auto models = fresh();
  observe(models, {9000, 4000, 4000});
  auto next = fresh(models.learnt());
  EXPECT_EQ(believed(next), believed(models));
  observe(next, {90'000});  // its warm-up
  EXPECT_EQ(believed(next), believed(models));
  observe(next, {4000});
  EXPECT_EQ(next.learnt().at(0).samples, 3U);
}

TEST(PerformanceModels, ACopyBelievesAndLearnsTheSame) {
  auto models = fresh();
  observe(models, {9000, 4000, 5000, 4500});
  auto const copy = models.copy();
  observe(models, {6000});
  copy->observe_kernel(CodeletId(0), one_gflop, cpu, Duration(6000));
  EXPECT_EQ(copy->kernel_time(CodeletId(0), one_gflop, cpu), models.kernel_time(CodeletId(0), one_gflop, cpu));
}

TEST(PerformanceModels, MergingIntoWhatNobodyChangedStoresWhatIsBelieved) {
  auto first = fresh();
  observe(first, {9000, 4000, 4000, 4000});
  std::vector<KernelModel> stored;
  first.merge_into(stored);
  ASSERT_EQ(stored.size(), 1U);
  EXPECT_EQ(stored[0].samples, 3U);
  auto second = fresh(stored);
  observe(second, {9000, 8000, 8000, 8000});
  second.merge_into(stored);
  ASSERT_EQ(stored.size(), 1U);
  EXPECT_EQ(stored[0].samples, 6U);
  EXPECT_DOUBLE_EQ(stored[0].mean, second.learnt()[0].mean);
}

TEST(PerformanceModels, MergingIntoWhatOthersChangedKeepsBothParts) {
  auto one = fresh();
  auto other = fresh();
  observe(one, {9, 4000, 4000});
  observe(other, {9, 8000, 8000});
  other.observe_kernel(CodeletId(1), 100, cpu, Duration(50));
  std::vector<KernelModel> stored;
  one.merge_into(stored);
  other.merge_into(stored);
  ASSERT_EQ(stored.size(), 2U);
  EXPECT_EQ(stored[0].codelet, "gemm");
  EXPECT_EQ(stored[0].samples, 4U);
  EXPECT_NEAR(stored[0].mean * one_gflop, 6e-6, 1e-12);
  EXPECT_EQ(stored[1].codelet, "potrf");
  auto idle = fresh({{"gemm", "d", cpu, 1, 1, 5}});
  idle.merge_into(stored);
  EXPECT_EQ(stored.size(), 2U);
}

}  // namespace
}  // namespace granary::test
