// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cost of a limit of live tasks: factorizations out of core on the simulator, with and without limits. Cores of 50
// GFlop/s, a disk of 1 GB/s in each direction, tiles of 512 x 512 doubles.
#include <granary/detail/linalg/algorithms/cholesky.hpp>
#include <granary/detail/linalg/algorithms/lu.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace granary;
using namespace granary::detail;

constexpr std::uint64_t tile = 512;
constexpr Bytes tile_bytes = tile * tile * sizeof(double);

Machine host_and_disk(Bytes memory, int workers) {
  Machine machine;
  machine.add_node({.name = "disk", .kind = NodeKind::Disk});
  machine.add_node({.name = "host", .capacity = memory});
  machine.add_link_pair(NodeId(0), NodeId(1), 1e9, std::chrono::microseconds(100), 4);
  for (int w = 0; w < workers; ++w) machine.add_worker({.name = "core", .node = NodeId(1)});
  return machine;
}

struct Case {
  std::string algorithm;
  std::uint64_t tiles = 0;
  double memory = 0;
  int workers = 2;
  FactorOrder order = FactorOrder::RightLooking;
};

void submit(Case const& problem, Submitter& submitter) {
  auto const grid = square_grid(problem.tiles * tile, tile);
  auto const part = problem.algorithm == "cholesky" ? MatrixPart::Lower : MatrixPart::All;
  TaskEmitter tasks(submitter);
  TiledMatrix<double> const a(grid, part, TileLayout::RowMajor, tile, [&](std::uint64_t, std::uint64_t) {
    return submitter.add_data(
        {.name = "A", .bytes = tile_bytes, .origin = NodeId(0), .home = NodeId(0), .origin_is_home = true});
  });
  if (problem.algorithm == "cholesky") return potrf(tasks, a, {.order = problem.order});
  if (problem.algorithm == "lu-nopiv") return getrf_nopiv(tasks, a, {.order = problem.order});
  auto const pivots = make_temporary_pivots(submitter, grid);
  getrf(tasks, a, pivots, {.order = problem.order, .leaf_tiles = 2});
}

Bytes bytes_of(Case const& problem) {
  auto const grid = square_grid(problem.tiles * tile, tile);
  return count_tiles(grid, problem.algorithm == "cholesky" ? MatrixPart::Lower : MatrixPart::All) * tile_bytes;
}

std::string run(Case const& problem, std::string const& scheduler, std::uint64_t limit) {
  auto const memory = static_cast<Bytes>(problem.memory * static_cast<double>(bytes_of(problem)));
  AveragingEstimator estimator;
  ConstantSpeeds::Options speeds;
  speeds.seconds_per_flop = {2e-11, 2e-11};
  ConstantSpeeds const truth(speeds);
  SimulatorOptions options;
  options.booking.max_live_tasks = limit;
  auto const start = std::chrono::steady_clock::now();
  Simulator simulator(Topology(host_and_disk(memory, problem.workers)),
                      make_policies(scheduler, default_eviction(scheduler)), estimator, truth, options);
  submit(problem, simulator);
  auto const report = simulator.run();
  std::chrono::duration<double> const wall = std::chrono::steady_clock::now() - start;
  auto const gigabytes = [&](TransferKind kind) { return static_cast<double>(report.of(kind).bytes) * 1e-9; };
  return fmt::format("{},{},{},{},{},{},{},{},{},{:.1f},{:.1f},{:.1f},{:.1f}\n", problem.algorithm,
                     problem.order == FactorOrder::LeftLooking ? "left" : "right", problem.tiles, problem.memory,
                     problem.workers, scheduler, limit, report.statistics.tasks_run, report.statistics.most_live_tasks,
                     gigabytes(TransferKind::DiskRead), gigabytes(TransferKind::DiskWrite),
                     seconds(report.end - Instant{}), wall.count());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Bytes moved and time of factorizations out of core, in virtual time, with limits of live tasks");
  Case problem{.algorithm = "cholesky", .tiles = 100, .memory = 0.125};
  std::vector<std::string> schedulers{"darts", "superblock", "dmdas", "heftp"};
  std::vector<std::uint64_t> limits{0, 100'000};
  std::string csv;
  bool left_looking = false;
  app.add_option("--algorithm", problem.algorithm, "cholesky, lu or lu-nopiv")
      ->check(CLI::IsMember({"cholesky", "lu", "lu-nopiv"}));
  app.add_option("--tiles", problem.tiles, "tiles per row");
  app.add_option("--memory", problem.memory, "fraction of the matrix that fits in memory");
  app.add_flag("--left-looking", left_looking);
  app.add_option("--schedulers", schedulers)->delimiter(',');
  app.add_option("--limits", limits, "maximum numbers of live tasks; 0: no limit")->delimiter(',');
  app.add_option("--workers", problem.workers, "CPU workers");
  app.add_option("--csv", csv, "file to which lines are appended");
  CLI11_PARSE(app, argc, argv);
  if (left_looking) problem.order = FactorOrder::LeftLooking;
  std::string const header =
      "algorithm,order,tiles,memory,workers,scheduler,max_live_tasks,tasks,most_live_tasks,gb_read,gb_written,seconds,"
      "wall_"
      "seconds\n";
  fmt::print("{}", header);
  for (auto const& scheduler : schedulers) {
    for (auto const limit : limits) {
      auto const line = run(problem, scheduler, limit);
      fmt::print("{}", line);
      std::fflush(stdout);
      if (csv.empty()) continue;
      std::ofstream file(csv, std::ios::app);
      if (file.tellp() == 0) file << header;
      file << line;
      if (!file.flush()) {
        fmt::print(stderr, "granary-live-tasks: cannot write {}\n", csv);
        return 1;
      }
    }
  }
}
