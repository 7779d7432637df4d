// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cost of recording a trace in the planner, per task: processor time of simulations of empty tasks with and without the
// recorder, alternating. The engine's recorder does the same work in the same places.
#include <granary/detail/core/model/estimator.hpp>
#include <granary/detail/linalg/kernels/processor_time.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "bench/support/measure.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace granary;
using namespace granary::detail;

void no_kernel(KernelCall const&) {}

constexpr std::size_t data_count = 200;
constexpr Bytes data_bytes = 1000;

struct Measured {
  double seconds = std::numeric_limits<double>::max();
  std::size_t events = 0;
};

// Updates of 200 data on a device with that much memory, each reading another one.
void measure(std::size_t tasks, Bytes memory, bool record, Measured& best) {
  Machine machine;
  auto const host = machine.add_node({.name = "host"});
  auto const device = machine.add_node({.name = "device", .kind = NodeKind::Device, .capacity = memory});
  machine.add_link_pair(host, device, 1e9);
  machine.add_worker({.name = "lane", .node = device, .kind = WorkerKind::Device});
  AveragingEstimator estimator;
  ConstantSpeeds const truth{ConstantSpeeds::Options{}};
  SimulatorOptions options;
  options.trace.record = record;
  Simulator simulator(Topology(machine), make_policies("eager", "lru"), estimator, truth, options);
  auto const update = simulator.add_codelet({.name = "update", .kernels = {nullptr, no_kernel}});
  std::vector<DataId> data;
  for (std::size_t i = 0; i < data_count; ++i) {
    data.push_back(
        simulator.add_data({.name = "x", .bytes = data_bytes, .origin = host, .home = host, .origin_is_home = true}));
  }
  auto const start = processor_seconds();
  for (std::size_t i = 0; i < tasks; ++i) {
    auto const written = i * 11 % data_count;
    std::array const accesses{Access{data[(written + 1 + i % 7) % data_count], AccessMode::Read},
                              Access{data[written], AccessMode::ReadWrite}};
    simulator.submit({update, accesses, 0, 1000, {1, 2, 3}});
  }
  simulator.run();
  best.seconds = std::min(best.seconds, processor_seconds() - start);
  auto const trace = simulator.trace();
  best.events = trace.tasks.size() + trace.transfers.size() + trace.evictions.size() + trace.memory.size();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Cost of recording, in nanoseconds of processor time per task");
  std::size_t tasks = 200'000;
  unsigned repeats = 7;
  std::string csv;
  app.add_option("--tasks", tasks);
  app.add_option("--repeats", repeats)->check(CLI::Range(1, 1000));
  app.add_option("--csv", csv, "file for the figures");
  CLI11_PARSE(app, argc, argv);

  std::string table = "memory,tasks,events_per_task,without_ns,with_ns\n";
  fmt::print("{:<12} {:>9} {:>12} {:>9} {:>9}\n", "memory", "tasks", "events/task", "without", "with");
  for (auto const& [name, memory] : {std::pair{"unbounded", unbounded}, {"a third", data_count * data_bytes / 3}}) {
    Measured without, with;
    for (unsigned r = 0; r < repeats; ++r) {
      measure(tasks, memory, false, without);
      measure(tasks, memory, true, with);
    }
    auto const by_task = 1 / static_cast<double>(tasks);
    auto const events = static_cast<double>(with.events) * by_task;
    fmt::print("{:<12} {:>9} {:>12.2f} {:>9.0f} {:>9.0f}\n", name, tasks, events, without.seconds * 1e9 * by_task,
               with.seconds * 1e9 * by_task);
    table += fmt::format("{},{},{:.2f},{:.0f},{:.0f}\n", name, tasks, events, without.seconds * 1e9 * by_task,
                         with.seconds * 1e9 * by_task);
  }
  return bench::exit_status("granary-trace-cost", [&] { bench::CsvFile(csv, table); });
}
