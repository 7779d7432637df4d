// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LU factorizations unchanged on the simulator, out of core.
#include <granary/policies/registry.hpp>
#include <granary/simulator/simulator.hpp>

#include <functional>

#include "unit/linalg/lu.hpp"

namespace granary {
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
  return {grid, MatrixPart::All, Layout::RowMajor, tile, [&](std::uint64_t i, std::uint64_t j) {
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

}  // namespace
}  // namespace granary
