// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/platform_truth.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace granary {

using namespace detail;

namespace {

void host_kernel(KernelCall const&) {}

char const* const text = R"({
 "name": "small", "source": "invented",
 "nodes": [{"name": "host", "kind": "host"}, {"name": "gpu", "kind": "device"}],
 "links": [{"from": "host", "to": "gpu", "bandwidth": 1e9, "both_ways": true}],
 "workers": [{"name": "core", "node": "host", "kind": "cpu"},
             {"name": "gpu0", "node": "gpu", "kind": "device", "model": "fast"},
             {"name": "gpu1", "node": "gpu", "kind": "device", "model": "fast"},
             {"name": "gpu2", "node": "gpu", "kind": "device", "model": "slow"}],
 "kernels": {"s": {"gemm": {"cpu": 1e9, "fast": 1e11, "slow": 1e10}, "panel": {"cpu": 1e9}},
             "d": {"gemm": {"fast": 5e10, "slow": 5e9}}},
 "speeds": {"cpu": {"s": 1e9}, "fast": {"s": 1e12}, "slow": {"s": 1e12}}
})";

struct Small : ::testing::Test {
  Platform platform = Platform::parse(text, "small.json");
  Codelet gemm{.name = "gemm", .kernels = {host_kernel, nullptr}};
  Worker const& worker(std::size_t i) const { return platform.machine.workers[i]; }
  static Task task(std::uint64_t id, double flops) {
    Task made;
    made.id = TaskId(id);
    made.flops = flops;
    return made;
  }
};

using PlatformTruthTest = Small;
using PlatformEstimatorTest = Small;

TEST_F(PlatformTruthTest, TakesTheTimesOfTheWorkersModel) {
  PlatformTruth const truth(platform);
  EXPECT_EQ(truth.kernel_time(task(0, 1e9), gemm, worker(0)), std::chrono::seconds(1));
  EXPECT_EQ(truth.kernel_time(task(0, 1e9), gemm, worker(1)), std::chrono::milliseconds(10));
  EXPECT_EQ(truth.kernel_time(task(0, 1e9), gemm, worker(3)), std::chrono::milliseconds(100));
  gemm.variant = "d";
  EXPECT_EQ(truth.kernel_time(task(0, 1e9), gemm, worker(1)), std::chrono::milliseconds(20));
  EXPECT_THROW(static_cast<void>(truth.kernel_time(task(0, 1e9), gemm, worker(0))), InvalidArgument);
}

TEST_F(PlatformTruthTest, SaysWhereCodeletsRun) {
  PlatformTruth const truth(platform);
  EXPECT_TRUE(truth.runs_on(gemm, WorkerKind::Cpu));
  EXPECT_TRUE(truth.runs_on(gemm, WorkerKind::Device));
  Codelet const panel{.name = "panel", .kernels = {host_kernel, host_kernel}};
  EXPECT_TRUE(truth.runs_on(panel, WorkerKind::Cpu));
  EXPECT_FALSE(truth.runs_on(panel, WorkerKind::Device));
  // A codelet that the platform does not name runs where it has kernels.
  Codelet const other{.name = "other", .kernels = {nullptr, host_kernel}};
  EXPECT_FALSE(truth.runs_on(other, WorkerKind::Cpu));
  EXPECT_TRUE(truth.runs_on(other, WorkerKind::Device));
  gemm.variant = "d";
  EXPECT_FALSE(truth.runs_on(gemm, WorkerKind::Cpu));
  EXPECT_TRUE(truth.runs_on(gemm, WorkerKind::Device));
}

TEST_F(PlatformTruthTest, JitterIsDrawnPerTaskWithinItsBounds) {
  PlatformTruth const truth(platform, {.jitter = 0.2, .seed = 3});
  std::set<Duration> seen;
  for (std::uint64_t t = 0; t < 100; ++t) {
    auto const time = truth.kernel_time(task(t, 1e9), gemm, worker(0));
    EXPECT_EQ(time, truth.kernel_time(task(t, 1e9), gemm, worker(0)));
    EXPECT_GE(time, std::chrono::milliseconds(800));
    EXPECT_LE(time, std::chrono::milliseconds(1200));
    seen.insert(time);
  }
  EXPECT_GT(seen.size(), 90U);
  EXPECT_THROW(PlatformTruth(platform, {.jitter = 1.0}), InvalidArgument);
}

TEST_F(PlatformTruthTest, MayDifferFromThePlatformByAFactorForEachCodeletAndKind) {
  std::set<double> seen;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    PlatformTruth const truth(platform, {.error = 0.3, .error_seed = seed});
    auto const on = [&](Codelet const& codelet, std::size_t w) {
      return seconds(truth.kernel_time(task(seed, 1e9), codelet, worker(w)));
    };
    EXPECT_NEAR(on(gemm, 0), 1, 0.3);
    EXPECT_NEAR(on(gemm, 1), 0.01, 0.003);
    EXPECT_NEAR(on(gemm, 3), 10 * on(gemm, 1), 1e-8);
    EXPECT_NEAR(on(gemm, 0), truth.factor(gemm, WorkerKind::Cpu), 1e-8);
    EXPECT_GT(std::abs(on(gemm, 0) - 100 * on(gemm, 1)), 1e-6);
    EXPECT_GT(std::abs(on(gemm, 0) - on({.name = "panel"}, 0)), 1e-6);
    PlatformEstimator estimator(platform, {.error = 0.3, .seed = seed});
    estimator.codelet_added(CodeletId(0), gemm);
    EXPECT_GT(std::abs(seconds(estimator.kernel_time(CodeletId(0), 1e9, WorkerKind::Cpu)) - on(gemm, 0)), 1e-6);
    seen.insert(on(gemm, 0));
  }
  EXPECT_EQ(seen.size(), 50U);
  EXPECT_LT(*seen.begin(), 0.75);
  EXPECT_GT(*seen.rbegin(), 1.25);
  PlatformTruth const twice(platform, {.scale = 2});
  EXPECT_EQ(twice.kernel_time(task(0, 1e9), gemm, worker(0)), std::chrono::seconds(2));
  EXPECT_THROW(PlatformTruth(platform, {.error = 1.0}), InvalidArgument);
  EXPECT_THROW(PlatformTruth(platform, {.scale = 0}), InvalidArgument);
}

TEST_F(PlatformEstimatorTest, AveragesTheModelsOfAKind) {
  PlatformEstimator estimator(platform);
  estimator.codelet_added(CodeletId(0), gemm);
  EXPECT_EQ(estimator.kernel_time(CodeletId(0), 1e9, WorkerKind::Cpu), std::chrono::seconds(1));
  EXPECT_EQ(estimator.kernel_time(CodeletId(0), 1e9, WorkerKind::Device), std::chrono::milliseconds(40));
  estimator.observe_kernel(CodeletId(0), 1e9, WorkerKind::Cpu, Duration(1));
  EXPECT_EQ(estimator.kernel_time(CodeletId(0), 1e9, WorkerKind::Cpu), std::chrono::seconds(1));
}

TEST_F(PlatformEstimatorTest, IsOffByAFixedFactorForEachCodeletAndKind) {
  PlatformEstimator estimator(platform, {.error = 0.3, .seed = 8});
  estimator.codelet_added(CodeletId(0), gemm);
  auto const cpu = seconds(estimator.kernel_time(CodeletId(0), 1e9, WorkerKind::Cpu));
  auto const device = seconds(estimator.kernel_time(CodeletId(0), 1e9, WorkerKind::Device));
  EXPECT_NE(cpu, 1);
  EXPECT_NEAR(cpu, 1, 0.3);
  EXPECT_NEAR(device, 0.04, 0.012);
  EXPECT_NE(cpu / 1, device / 0.04);
  EXPECT_NEAR(seconds(estimator.kernel_time(CodeletId(0), 2e9, WorkerKind::Cpu)), 2 * cpu, 1e-8);
  EXPECT_THROW(PlatformEstimator(platform, {.error = 1.5}), InvalidArgument);
}

TEST_F(PlatformEstimatorTest, ExpectsThatWorkersOfADeviceRunTheSameAtOnce) {
  platform = Platform::find("sirocco");
  auto const alone = platform.kernel_time("gemm", 66e6, Precision::Single, "gpu0");
  double const share = platform.times("gemm", Precision::Single, "gpu0")->share(66e6);
  EXPECT_GT(share, 0.4);
  EXPECT_LT(share, 0.6);
  platform.select(1, {});
  platform.share_devices(8);
  gemm.variant = "s";
  PlatformEstimator estimator(platform);
  estimator.codelet_added(CodeletId(0), gemm);
  auto const expected = estimator.kernel_time(CodeletId(0), 66e6, WorkerKind::Device);
  EXPECT_NEAR(seconds(expected), 8 * share * seconds(alone), 1e-8);
  EXPECT_EQ(estimator.kernel_time(CodeletId(0), 66e6, WorkerKind::Cpu),
            platform.kernel_time("gemm", 66e6, Precision::Single, "cpu"));
}

TEST_F(PlatformTruthTest, OnlyDeviceWorkersThatShareADeviceHaveAShare) {
  PlatformTruth const truth(platform);
  EXPECT_EQ(truth.processor_share(task(0, 1e9), gemm, worker(1)), 0);
  platform.shared_devices = true;
  EXPECT_EQ(truth.processor_share(task(0, 1e9), gemm, worker(1)), 1);
  EXPECT_EQ(truth.processor_share(task(0, 0), gemm, worker(1)), 0);
  EXPECT_EQ(truth.processor_share(task(0, 1e9), gemm, worker(0)), 0);
}

// Two kernels of half the device's speed each run beside each other; two of its full speed take turns.
TEST_F(PlatformTruthTest, WorkersOfADeviceAreTogetherNoFasterThanIt) {
  platform = Platform::parse(R"({
    "name": "one", "source": "invented", "nodes": [{"name": "host", "kind": "host"}, {"name": "gpu", "kind": "device"}],
    "links": [{"from": "host", "to": "gpu", "bandwidth": 1e9, "both_ways": true}],
    "workers": [{"name": "gpu", "node": "gpu", "kind": "device"}],
    "kernels": {"s": {"gemm": {"device": [[1e9, 2e-3], [1e10, 1e-2]]}}}})",
                             "one.json");
  platform.share_devices(2);
  PlatformTruth const truth(platform);
  for (auto const& [flops, milliseconds] : {std::pair{1e9, 4}, {1e10, 40}}) {
    PlatformEstimator estimator(platform);
    Simulator simulator(Topology(platform.machine), make_policies("eager", "lru"), estimator, truth);
    auto const codelet = simulator.add_codelet(gemm);
    for (int t = 0; t < 4; ++t) simulator.submit({.codelet = codelet, .accesses = {}, .flops = flops});
    auto const report = simulator.run();
    EXPECT_EQ(report.end, Instant(std::chrono::milliseconds(milliseconds)));
    ASSERT_EQ(report.workers.size(), 2U);
    for (auto const& lane : report.workers) EXPECT_EQ(lane.busy, std::chrono::milliseconds(milliseconds));
  }
}

TEST_F(PlatformTruthTest, CodeletsWithHostKernelsRunOnSimulatedDevices) {
  platform.select({}, 0);
  PlatformTruth const truth(platform);
  PlatformEstimator estimator(platform);
  Simulator simulator(Topology(platform.machine), make_policies("eager", "lru"), estimator, truth);
  auto const codelet = simulator.add_codelet(gemm);
  for (int t = 0; t < 3; ++t) simulator.submit({.codelet = codelet, .accesses = {}, .flops = 1e9});
  EXPECT_EQ(simulator.run().end, Instant(std::chrono::milliseconds(100)));
  auto const* kernels = &simulator.planner().view().codelet(codelet).kernels;
  EXPECT_EQ((*kernels)[0], nullptr);
  EXPECT_THROW((*kernels)[1]({}), InternalError);
}

}  // namespace
}  // namespace granary
