// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/policies/registry.hpp>
#include <granary/simulator/platform_truth.hpp>
#include <granary/simulator/simulator.hpp>
#include <granary/workloads/tiled_cholesky.hpp>

#include <gtest/gtest.h>

#include <string>

namespace granary::test {
namespace {

// Static, section VI: without spoliation cores keep the tasks that devices wait for.
TEST(Spoliation, HelpsWhereFewTasksAreReady) {
  auto const platform = Platform::find("mirage");
  auto const seconds_with = [&](std::string const& scheduler) {
    PlatformTruth const truth(platform, {.precision = Precision::Single});
    PlatformEstimator estimator(platform, {.precision = Precision::Single});
    Simulator simulator(Topology(platform.machine), make_policies(scheduler, "lru"), estimator, truth,
                        {.all_restartable = true});
    TiledCholesky const cholesky({.tiles = 12, .tile = 960, .precision = Precision::Single});
    cholesky.submit(simulator, {platform.home_node(), platform.home_in_place()});
    auto const report = simulator.run();
    EXPECT_TRUE(report.failures.empty());
    return seconds(report.end - Instant{});
  };
  auto const plain = seconds_with("heteroprio:limit=0:slow=least-urgent:merge_cpu=1:merge_device=1");
  for (std::string const rules : {"sp", "pp", "pc", "pcep", "pcept"}) {
    EXPECT_LT(seconds_with("heteroprio:spoliation=" + rules), plain) << rules;
  }
}

}  // namespace
}  // namespace granary::test
