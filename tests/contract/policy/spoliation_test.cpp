// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/policies/registry.hpp>
#include <granary/simulator/platform_truth.hpp>
#include <granary/simulator/simulator.hpp>
#include <granary/workloads/tiled_cholesky.hpp>

#include <gtest/gtest.h>

#include <string>

namespace granary::test {
namespace {

// Cholesky on the Static paper's node, on which a worker gets a task when it is idle.
SimulationReport run(std::string const& scheduler) {
  auto const platform = Platform::find("static2016");
  PlatformTruth const truth(platform, {.precision = Precision::Single});
  PlatformEstimator estimator(platform, {.precision = Precision::Single});
  Simulator simulator(Topology(platform.machine), make_policies(scheduler, "lru"), estimator, truth,
                      {.planner = {.depth = 0}, .all_restartable = true});
  TiledCholesky const cholesky({.tiles = 12, .tile = 960, .precision = Precision::Single});
  cholesky.submit(simulator, {platform.home_node(), platform.home_in_place()});
  auto report = simulator.run();
  EXPECT_TRUE(report.failures.empty());
  return report;
}

// Static, section VI: without spoliation cores keep the tasks that devices wait for.
TEST(Spoliation, HelpsWhereFewTasksAreReady) {
  auto const plain = run("heteroprio:limit=0:slow=least-urgent:merge_cpu=1:merge_device=1").end;
  for (std::string const rules : {"sp", "pp", "pc", "pcep", "pcept"}) {
    EXPECT_LT(run("heteroprio:spoliation=" + rules).end, plain) << rules;
  }
}

}  // namespace
}  // namespace granary::test
