// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A journal of events results in the same commands again.
#include "hand.hpp"

#include <granary/core/base/random.hpp>
#include <granary/simulator/simulator.hpp>

namespace granary::test {
namespace {

TEST(Replay, GivesTheCommandsOfTheRecordedRun) {
  Machine machine = three_levels(600, 500);
  machine.add_worker({.name = "cpu", .node = host_node});
  std::vector<Event> journal;
  std::vector<Command> commands;
  SimulatorOptions options;
  options.on_event = [&](Instant, Event const& event) { journal.push_back(event); };
  options.on_command = [&](Instant, Command const& command) { commands.push_back(command); };
  ConstantSpeeds::Options speeds;
  speeds.jitter = 0.5;
  ConstantSpeeds const truth(speeds);
  for (std::string const scheduler : {"eager", "darts"}) {
    for (bool const faulty : {false, true}) {
      journal.clear();
      commands.clear();
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
      for (auto const& event : journal) planner.handle(event);
      EXPECT_TRUE(planner.commands() == commands);
      EXPECT_GT(commands.size(), 200U);
      EXPECT_TRUE(planner.idle());
    }
    options.faults = {};
  }
}

}  // namespace
}  // namespace granary::test
