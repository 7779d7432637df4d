// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LU factorizations unchanged on the simulator, out of core.
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <functional>

#include "unit/linalg/lu.hpp"

namespace granary::lu_simulator_test {

using namespace detail;

namespace {

constexpr std::uint64_t tile = 16;
constexpr TileGrid grid{10 * tile, 8 * tile, tile};
constexpr Bytes tile_bytes = tile * tile * sizeof(double);
constexpr Bytes capacity = 32 * tile_bytes;

Machine disk_and_host() {
  Machine machine;
  machine.add_node({.name = "disk", .kind = NodeKind::Disk});
  machine.add_node({.name = "host", .capacity = capacity});
  machine.add_link_pair(NodeId(0), NodeId(1), 1e9, Duration(100), 4);
  for (int w = 0; w < 3; ++w) machine.add_worker({.name = "cpu", .node = NodeId(1)});
  return machine;
}

TiledMatrix<double> matrix_on_disk(Submitter& submitter) {
  return {grid, MatrixPart::All, TileLayout::RowMajor, tile, [&](std::uint64_t i, std::uint64_t j) {
            return submitter.add_data({.name = tile_name("A", i, j),
                                       .bytes = tile_bytes,
                                       .origin = NodeId(0),
                                       .home = NodeId(0),
                                       .origin_is_home = true});
          }};
}

TEST(LuOnTheSimulator, RunsUnchangedOutOfCore) {
  using Submit = std::function<void(Submitter&, FactorOrder)>;
  Submit const every_algorithm[] = {[](Submitter& submitter, FactorOrder order) {
                                      TaskEmitter tasks(submitter);
                                      getrf_nopiv(tasks, matrix_on_disk(submitter), {.order = order});
                                    },
                                    [](Submitter& submitter, FactorOrder order) {
                                      TaskEmitter tasks(submitter);
                                      auto const pivots = make_temporary_pivots(submitter, grid);
                                      getrf(tasks, matrix_on_disk(submitter), pivots,
                                            {.order = order, .leaf_tiles = 2});
                                      for (auto const panel : pivots.panels) submitter.release_data(panel);
                                    }};
  for (auto const* scheduler : {"eager", "darts"}) {
    for (auto const order : {FactorOrder::RightLooking, FactorOrder::LeftLooking}) {
      for (auto const& submit : every_algorithm) {
        testing::ImmediateSubmitter recorded(false);
        submit(recorded, order);
        AveragingEstimator estimator;
        ConstantSpeeds truth{ConstantSpeeds::Options{}};
        Simulator simulator(Topology(disk_and_host()), make_policies(scheduler, "lru"), estimator, truth, {});
        submit(simulator, order);
        auto const report = simulator.run();
        EXPECT_TRUE(report.failures.empty());
        std::uint64_t ran = 0;
        for (auto const& worker : report.workers) ran += worker.tasks;
        EXPECT_EQ(ran, recorded.tasks.size());
        EXPECT_LE(report.statistics.nodes[1].peak, capacity);
      }
    }
  }
}

// Equal devices whose memories together hold half of the matrix.
Machine host_and_devices(std::uint32_t devices, Bytes memory) {
  Machine machine;
  machine.add_node({.name = "host"});
  for (std::uint32_t d = 1; d <= devices; ++d) {
    machine.add_node({.name = "device", .kind = NodeKind::Device, .capacity = memory});
    for (std::uint32_t other = 0; other < d; ++other) {
      machine.add_link_pair(NodeId(other), NodeId(d), 200e6, std::chrono::microseconds(10), 2);
    }
    machine.add_worker({.name = "lane", .node = NodeId(d), .kind = WorkerKind::Device});
  }
  return machine;
}

// Each device's share of the total computing time.
std::vector<double> shares(SimulationReport const& report) {
  double all = 0;
  for (auto const& worker : report.workers) all += seconds(worker.busy);
  std::vector<double> parts;
  for (auto const& worker : report.workers) parts.push_back(seconds(worker.busy) / all);
  return parts;
}

TEST(LuOnTheSimulator, GivesEachOfFourDevicesItsShare) {
  auto const large = square_grid(16 * 64, 64);
  Bytes const bytes = 64 * 64 * sizeof(double);
  for (auto const* scheduler : {"eager", "dmdas", "darts", "superblock", "planned"}) {
    for (bool const pivoted : {false, true}) {
      AveragingEstimator estimator;
      ConstantSpeeds::Options speeds;
      speeds.seconds_per_flop = {1e-10, 3e-10};
      ConstantSpeeds const truth(speeds);
      Simulator simulator(Topology(host_and_devices(4, 32 * bytes)),
                          make_policies(scheduler, default_eviction(scheduler)), estimator, truth);
      TaskEmitter tasks(simulator);
      TileMaxima maxima(large);
      auto const on_host = [&](std::string name, Bytes size) {
        return simulator.add_data(
            {.name = std::move(name), .bytes = size, .origin = NodeId(0), .home = NodeId(0), .origin_is_home = true});
      };
      LuOptions const options{.growth = maxima.bind([&](char const* name, double&) { return on_host(name, 8); })};
      TiledMatrix<double> const a(
          large, MatrixPart::All, TileLayout::RowMajor, 64,
          [&](std::uint64_t i, std::uint64_t j) { return on_host(tile_name("A", i, j), bytes); });
      if (pivoted) {
        getrf(tasks, a, make_temporary_pivots(simulator, large), options);
      } else {
        getrf_nopiv(tasks, a, options);
      }
      auto const report = simulator.run();
      EXPECT_TRUE(report.failures.empty());
      for (double const part : shares(report)) EXPECT_GT(part, 0.15) << scheduler << (pivoted ? ", pivoted" : "");
    }
  }
}

}  // namespace
}  // namespace granary::lu_simulator_test
