// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks that the scheduler has stopped, in virtual time.
#include "support/aborting_scheduler.hpp"

#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace granary::simulator_test {

using namespace detail;

namespace {

void no_kernel(KernelCall const&) {}

// Every task is stopped three times, as soon as it runs.
SimulationReport run_on_one_core(SimulatorOptions const& options, FaultPlan faults = {}) {
  Machine machine;
  machine.add_node({.name = "host"});
  machine.add_worker({.name = "cpu", .node = NodeId(0)});
  ConstantSpeeds::Options speeds;
  speeds.seconds_per_flop = {1e-9, 1e-9};
  ConstantSpeeds const truth(speeds);
  AveragingEstimator estimator;
  auto with_faults = options;
  with_faults.faults = std::move(faults);
  with_faults.check_invariants_every = 1;
  Simulator simulator(Topology(machine), test::aborting(make_policies("eager", "lru"), 1, 1), estimator, truth,
                      with_faults);
  auto const codelet = simulator.add_codelet({.name = "work", .kernels = {no_kernel, nullptr}});
  auto const data = simulator.add_data({.name = "a", .bytes = 100});
  simulator.submit({codelet, std::array{Access{data, AccessMode::Write}}, 0, 1000});
  simulator.submit({codelet, std::array{Access{data, AccessMode::ReadWrite}}, 0, 500});
  return simulator.run();
}

TEST(SimulatorAborts, AStoppedTaskFreesItsWorkerAtOnce) {
  auto const report = run_on_one_core({.all_restartable = true});
  EXPECT_EQ(report.statistics.tasks_aborted, 6U);
  EXPECT_EQ(report.statistics.tasks_run, 2U);
  EXPECT_EQ(report.end - Instant{}, Duration(1500));
  EXPECT_EQ(report.workers[0].busy, Duration(1500));
  EXPECT_EQ(report.workers[0].tasks, 2U);
}

TEST(SimulatorAborts, CodeletsAreAsTheySayOtherwise) { EXPECT_EQ(run_on_one_core({}).statistics.tasks_aborted, 0U); }

TEST(SimulatorAborts, TheCostOfDecisionsDelaysTheStop) {
  SimulatorOptions options;
  options.all_restartable = true;
  options.charge_decisions = DecisionCost::per_committed_task(Duration(100));
  auto const report = run_on_one_core(options);
  EXPECT_EQ(report.statistics.tasks_aborted, 6U);
  EXPECT_EQ(report.statistics.tasks_run, 2U);
}

TEST(SimulatorAborts, AFailureIsReportedOnce) {
  FaultPlan faults;
  faults.tasks.emplace(0);
  auto const report = run_on_one_core({.all_restartable = true}, faults);
  EXPECT_EQ(report.failures.size(), 1U);
  EXPECT_EQ(report.statistics.tasks_failed, 1U);
}

}  // namespace
}  // namespace granary::simulator_test
