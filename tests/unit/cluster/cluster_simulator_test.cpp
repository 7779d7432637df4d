// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/base/error.hpp>
#include <granary/policies/registry.hpp>
#include <granary/simulator/cluster/cluster_simulator.hpp>
#include <granary/workloads/tiled_cholesky.hpp>

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace granary {
namespace cluster_simulator_test {
namespace {

// A host with two workers, and a disk behind it if the data do not stay in memory.
Machine node(Bytes capacity = unbounded) {
  Machine machine;
  auto const host = machine.add_node({.name = "host", .capacity = capacity});
  for (int w = 0; w < 2; ++w) machine.add_worker({.name = "cpu" + std::to_string(w), .node = host});
  auto const disk = machine.add_node({.name = "disk", .kind = NodeKind::Disk});
  machine.add_link_pair(disk, host, 2e9, Duration{0}, 4);
  return machine;
}
constexpr DataHome on_disk{NodeId(1), false};
constexpr DataHome in_memory{NodeId(0), true};

struct SmallCluster {
  ConstantSpeeds truth;
  std::unique_ptr<ClusterSimulator> cluster;

  explicit SmallCluster(ClusterOptions options, Bytes capacity = unbounded, std::string const& scheduler = "prio",
                        std::uint32_t check_every = 0) {
    cluster = std::make_unique<ClusterSimulator>(node(capacity), truth, std::move(options), [&](ProcessId) {
      ClusterProcess process{make_policies(scheduler, default_eviction(scheduler)),
                             std::make_unique<AveragingEstimator>()};
      process.options.check_invariants_every = check_every;
      return process;
    });
  }
};

std::uint64_t tasks_of(std::uint64_t n) { return n + n * (n - 1) + n * (n - 1) * (n - 2) / 6; }

// The bytes of tiles of a Cholesky factorization times the processes that read them and do not own them.
std::uint64_t values_read_elsewhere(std::uint64_t tiles, Distribution const& grid) {
  auto const owner = [&](std::uint64_t i, std::uint64_t j) {
    return grid.owner({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)});
  };
  std::set<std::pair<std::pair<std::uint64_t, std::uint64_t>, ProcessId>> read;
  auto const reads = [&](std::uint64_t i, std::uint64_t j, ProcessId process) {
    if (owner(i, j) != process) read.insert({{i, j}, process});
  };
  for (std::uint64_t k = 0; k < tiles; ++k) {
    for (std::uint64_t i = k + 1; i < tiles; ++i) {
      reads(k, k, owner(i, k));
      reads(i, k, owner(i, i));
      for (std::uint64_t j = k + 1; j < i; ++j) {
        reads(i, k, owner(i, j));
        reads(j, k, owner(i, j));
      }
    }
  }
  return read.size();
}

TEST(ClusterSimulator, SendsEachValueOnceToEachReader) {
  for (std::uint32_t const processes : {1U, 2U, 3U, 4U, 6U}) {
    SmallCluster run({.processes = processes}, unbounded, "prio", 1);
    TiledCholesky const cholesky({.tiles = 9, .tile = 64});
    cholesky.submit(*run.cluster, in_memory);
    auto const report = run.cluster->run();
    EXPECT_TRUE(report.failures.empty());
    EXPECT_EQ(report.tasks_run(), tasks_of(9));
    auto const expected = values_read_elsewhere(9, Distribution::for_processes(processes));
    EXPECT_EQ(report.sent().transfers, expected);
    EXPECT_EQ(report.sent().bytes, expected * 64 * 64 * 8);
    EXPECT_EQ(report.of(TransferKind::Received).bytes, report.sent().bytes);
  }
}

TEST(ClusterSimulator, KeepsLimitsWithDataOnDisks) {
  SmallCluster run({.processes = 4}, Bytes{6} * 64 * 64 * 8, "darts", 1);
  TiledCholesky const cholesky({.tiles = 10, .tile = 64});
  cholesky.submit(*run.cluster, on_disk);
  auto const report = run.cluster->run();
  EXPECT_TRUE(report.failures.empty());
  for (auto const& process : report.processes) EXPECT_LE(process.statistics.nodes[0].peak, Bytes{6} * 64 * 64 * 8);
  EXPECT_GT(report.sent().transfers, values_read_elsewhere(10, Distribution(2, 2)))
      << "values that were evicted are asked for again";
}

}  // namespace
}  // namespace cluster_simulator_test
}  // namespace granary
