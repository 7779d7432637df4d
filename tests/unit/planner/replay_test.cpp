// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A journal of events results in the same commands again.
#include "hand.hpp"

#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/planner/journal.hpp>
#include <granary/detail/simulator/simulator.hpp>

namespace granary::test {

using namespace detail;

namespace {

TEST(Replay, GivesTheCommandsOfTheRecordedRun) {
  Machine machine = three_levels(600, 500);
  machine.add_worker({.name = "cpu", .node = host_node});
  SimulatorOptions options;
  ConstantSpeeds::Options speeds;
  speeds.jitter = 0.5;
  ConstantSpeeds const truth(speeds);
  for (std::string const scheduler : {"eager", "darts", "dmda:prefetch=assign"}) {
    for (bool const faulty : {false, true}) {
      Journal journal;
      options.observers = {&journal};
      if (faulty) options.faults = {.copies = {7, 30}, .tasks = {TaskId(11)}, .seed = 3};
      AveragingEstimator estimator;
      Simulator simulator(Topology(machine), make_policies(scheduler, "lru"), estimator, truth, options);
      CodeletId const work = simulator.add_codelet({.name = "work", .kernels = {no_kernel, no_kernel}});
      std::vector<DataId> data;
      for (int i = 0; i < 12; ++i) {
        bool const in_memory = i % 4 == 3;
        NodeId const home = in_memory ? host_node : disk_node;
        data.push_back(simulator.add_data({.name = "d" + std::to_string(i),
                                           .bytes = 100,
                                           .origin = home,
                                           .home = home,
                                           .origin_is_home = true,
                                           .in_place = in_memory}));
      }
      Random random(7);
      for (int t = 0; t < 80; ++t) {
        std::vector<Access> accesses{read(data[random.below(12)]), read_write(data[random.below(12)])};
        simulator.submit({.codelet = work, .accesses = accesses, .flops = 1e4});
        if (t % 3 == 0) simulator.step();
      }
      auto const report = simulator.run();
      EXPECT_EQ(report.failures.empty(), !faulty);

      AveragingEstimator other_estimator;
      Planner planner(Topology(machine), make_policies(scheduler, "lru"), other_estimator);
      for (auto const& entry : journal.entries()) {
        planner.handle(entry.event);
        EXPECT_EQ(planner.commands().size(), entry.commands_end);
      }
      EXPECT_TRUE(planner.commands() == journal.commands());
      EXPECT_GT(journal.commands().size(), 120U);
      EXPECT_TRUE(planner.idle());
    }
    options.faults = {};
  }
}

}  // namespace
}  // namespace granary::test
