// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cost of the planner's decisions: a loop feeds events and answers commands at once; nothing is computed or copied.
#include <granary/detail/core/planner/planner.hpp>
#include <granary/detail/policies/registry.hpp>

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace granary;
using namespace granary::detail;

constexpr Bytes tile_bytes = 2_MiB;

Topology host_and_disk(Bytes memory) {
  Machine machine;
  auto const host = machine.add_node({.name = "host", .capacity = memory});
  auto const disk = machine.add_node({.name = "disk", .kind = NodeKind::Disk});
  machine.add_link_pair(host, disk, 1e9, Duration{0}, 8);
  for (int w = 0; w < 2; ++w) machine.add_worker({.name = "core", .node = host});
  return Topology(machine);
}

void answer_all(Planner& planner) {
  std::vector<Command> commands;
  while (!planner.commands().empty()) {
    planner.take_commands(commands);
    for (auto const& command : commands) {
      if (auto const* copy = std::get_if<CopyCommand>(&command)) planner.handle(CopyDone{copy->transfer});
      if (auto const* run = std::get_if<RunCommand>(&command)) planner.handle(TaskDone{run->task, Duration(1000)});
    }
  }
}

/// Submits a tiled Cholesky factorization of `tiles` x `tiles` tiles; returns the number of tasks.
std::int64_t submit_cholesky(Planner& planner, CodeletId codelet, std::vector<DataId> const& data, std::int64_t tiles) {
  auto const tile = [&](std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i * (i + 1) / 2 + j)]; };
  std::int64_t tasks = 0;
  auto const submit = [&](auto const&... accesses) {
    std::array<Access, sizeof...(accesses)> const list{accesses...};
    planner.handle(TaskSubmission{codelet, list, tiles - tasks % tiles, 1e8});
    ++tasks;
  };
  for (std::int64_t k = 0; k < tiles; ++k) {
    submit(Access{tile(k, k), AccessMode::ReadWrite});
    for (auto i = k + 1; i < tiles; ++i) submit(Access{tile(k, k)}, Access{tile(i, k), AccessMode::ReadWrite});
    for (auto i = k + 1; i < tiles; ++i) {
      for (auto j = k + 1; j <= i; ++j)
        submit(Access{tile(i, k)}, Access{tile(j, k)}, Access{tile(i, j), AccessMode::ReadWrite});
    }
  }
  return tasks;
}

/// One task of a tiled Cholesky, from submission to its end, with memory for all (argument 1) or a quarter (4) of the
/// tiles.
void cholesky(benchmark::State& state, std::string const& scheduler, std::string const& eviction) {
  std::int64_t const tiles = 48;
  Bytes const memory = static_cast<Bytes>(tiles * (tiles + 1) / 2) * tile_bytes / static_cast<Bytes>(state.range(0));
  std::int64_t tasks = 0;
  for (auto _ : state) {
    AveragingEstimator estimator;
    Planner planner(host_and_disk(memory), make_policies(scheduler, eviction), estimator);
    Codelet codelet{.name = "kernel"};
    codelet.kernels[0] = [](KernelCall const&) {};
    auto const id = planner.handle(AddCodelet{codelet});
    std::vector<DataId> data;
    for (std::int64_t t = 0; t < tiles * (tiles + 1) / 2; ++t) {
      data.push_back(planner.handle(AddData{
          {.name = "tile", .bytes = tile_bytes, .origin = NodeId(1), .home = NodeId(1), .origin_is_home = true}}));
    }
    tasks += submit_cholesky(planner, id, data, tiles);
    answer_all(planner);
    planner.handle(FlushHomes{});
    answer_all(planner);
    if (!planner.idle()) state.SkipWithError("the planner did not finish");
  }
  state.SetItemsProcessed(tasks);
}

BENCHMARK_CAPTURE(cholesky, eager_lru, "eager", "lru")->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(cholesky, prio_lru, "prio", "lru")->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(cholesky, darts_luf, "darts", "luf")->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
