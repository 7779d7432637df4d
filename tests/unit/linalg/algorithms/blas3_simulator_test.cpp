// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/algorithms/blas3.hpp>
#include <granary/detail/linalg/algorithms/cholesky.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace granary::blas3_simulator_test {

using namespace detail;

namespace {

constexpr std::uint64_t order = 40;
constexpr std::uint64_t tile = 4;
constexpr Bytes tile_bytes = tile * tile * sizeof(double);

// Matrices on a disk, a few of whose tiles fit in the host memory.
struct SmallMemory {
  SmallMemory(char const* scheduler, Bytes tiles_in_memory, std::uint32_t workers)
      : simulator(Topology(machine(tiles_in_memory * tile_bytes, workers)), make_policies(scheduler, "lru"), estimator,
                  truth, {}),
        tasks(simulator) {}

  static Machine machine(Bytes capacity, std::uint32_t workers) {
    Machine machine;
    machine.add_node({.name = "disk", .kind = NodeKind::Disk});
    machine.add_node({.name = "host", .capacity = capacity});
    machine.add_link_pair(NodeId(0), NodeId(1), 1e9, Duration(100), 4);
    for (std::uint32_t w = 0; w < workers; ++w) machine.add_worker({.name = "cpu", .node = NodeId(1)});
    return machine;
  }
  TiledMatrix<double> matrix(MatrixPart part = MatrixPart::All) {
    return {square_grid(order, tile), part, TileLayout::RowMajor, tile, [&](std::uint64_t i, std::uint64_t j) {
              return simulator.add_data({.name = tile_name("M", i, j),
                                         .bytes = tile_bytes,
                                         .origin = NodeId(0),
                                         .home = NodeId(0),
                                         .origin_is_home = true});
            }};
  }

  AveragingEstimator estimator;
  ConstantSpeeds truth{ConstantSpeeds::Options{}};
  Simulator simulator;
  TaskEmitter tasks;
};

TEST(Blas3OnTheSimulator, RunsUnchangedOutOfCore) {
  using Submit = std::function<void(SmallMemory&)>;
  Submit const every_algorithm[] = {
      [](auto& m) { gemm(m.tasks, Op::NoTrans, Op::Trans, 1.0, m.matrix(), m.matrix(), 0.0, m.matrix()); },
      [](auto& m) { herk<double>(m.tasks, Uplo::Lower, Op::NoTrans, 1, m.matrix(), 1, m.matrix(MatrixPart::Lower)); },
      [](auto& m) { syrk(m.tasks, Uplo::Upper, Op::Trans, 1.0, m.matrix(), 1.0, m.matrix()); },
      [](auto& m) {
        hemm(m.tasks, Side::Right, Uplo::Lower, 1.0, m.matrix(MatrixPart::Lower), m.matrix(), 1.0, m.matrix());
      },
      [](auto& m) {
        trsm(m.tasks, Side::Right, Uplo::Upper, Op::Trans, Diag::NonUnit, 1.0, m.matrix(MatrixPart::Upper), m.matrix());
      },
      [](auto& m) { trmm(m.tasks, Side::Left, Uplo::Upper, Op::NoTrans, Diag::Unit, 1.0, m.matrix(), m.matrix()); },
      [](auto& m) { potrs(m.tasks, m.matrix(MatrixPart::Upper), m.matrix()); },
  };
  std::uint64_t const n = order / tile;
  std::uint64_t const expected_tasks[] = {n * n * n,           n * (n + 1) / 2 * n, n * (n + 1) / 2 * n, n * n * n,
                                          n * n * (n + 1) / 2, n * n * (n + 1) / 2, n * n * (n + 1)};
  for (auto const* scheduler : {"eager", "darts"}) {
    for (std::size_t a = 0; a < std::size(every_algorithm); ++a) {
      SmallMemory bench(scheduler, 16, 3);
      every_algorithm[a](bench);
      auto const report = bench.simulator.run();
      EXPECT_TRUE(report.failures.empty());
      std::uint64_t ran = 0;
      for (auto const& worker : report.workers) ran += worker.tasks;
      EXPECT_EQ(ran, expected_tasks[a]) << scheduler << " " << a;
      EXPECT_LE(report.statistics.nodes[1].peak, 16 * tile_bytes);
    }
  }
}

}  // namespace
}  // namespace granary::blas3_simulator_test
