// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/cluster/cluster_simulator.hpp>
#include <granary/detail/workloads/growing_cholesky.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

namespace granary::test {

using namespace detail;

namespace {

using ::testing::MatchesRegex;

// Values have the workload's sizes, as far as there is room.
class WorkloadTruth final : public GroundTruth {
 public:
  explicit WorkloadTruth(workloads::Workload const& workload) : m_workload(workload) {}
  [[nodiscard]] Duration kernel_time(Task const& task, Codelet const& codelet, Worker const& worker) const override {
    return m_speeds.kernel_time(task, codelet, worker);
  }
  [[nodiscard]] Bytes value_bytes(Task const&, Access const& written, DataDescription const& datum,
                                  Bytes room) const override {
    return std::min(room, m_workload.value_bytes(datum.position, written.version));
  }

 private:
  workloads::Workload const& m_workload;
  ConstantSpeeds m_speeds;
};

Machine one_host(int cores, Bytes memory) {
  Machine machine;
  NodeId const host = machine.add_node({.name = "host", .kind = NodeKind::Host, .capacity = memory});
  for (int w = 0; w < cores; ++w) machine.add_worker({.name = "cpu" + std::to_string(w), .node = host});
  return machine;
}

ClusterProcess by_priority(ProcessId) { return {make_policies("prio", "lru"), std::make_unique<AveragingEstimator>()}; }

TEST(GrowingCholesky, RunsOnSeveralProcesses) {
  workloads::GrowingCholesky const cholesky({.tiles = 12, .tile = 64});
  WorkloadTruth const truth(cholesky);
  ClusterSimulator cluster(one_host(2, unbounded), truth, {.processes = 4}, by_priority);
  cholesky.submit(cluster, {});
  auto const report = cluster.run();
  EXPECT_TRUE(report.failures.empty());
  Bytes resident = 0, tiles = 0;
  for (std::uint32_t p = 0; p < 4; ++p) resident += cluster.process(ProcessId(p)).planner().statistics().nodes[0].used;
  for (std::int32_t i = 0; i < 12; ++i) {
    for (std::int32_t j = 0; j <= i; ++j) tiles += cholesky.value_bytes({i, j}, static_cast<std::uint32_t>(j) + 2);
  }
  // What stays are the tiles. A first update may add no more ranks than its product has.
  EXPECT_LE(resident, tiles);
  EXPECT_GT(static_cast<double>(resident), 0.95 * static_cast<double>(tiles));
}

// Tiles have no storage to go to. Where a process has begun to receive, only the simulator knows that nothing will
// come.
TEST(GrowingCholesky, SaysWhichProcessHasTooLittleMemory) {
  workloads::GrowingCholesky const cholesky({.tiles = 8, .tile = 64});
  WorkloadTruth const truth(cholesky);
  int stuck = 0, failed = 0, completed = 0;
  for (Bytes memory = 270'000; memory < 500'000; memory += 2'000) {
    ClusterSimulator cluster(one_host(1, memory), truth, {.processes = 4}, by_priority);
    cholesky.submit(cluster, {});
    try {
      ++(cluster.run().failures.empty() ? completed : failed);
    } catch (MemoryLimitError const& error) {
      ++stuck;
      EXPECT_THAT(error.what(), MatchesRegex("process [0-3] finds no room in memory node 'host' for [0-9]+ tasks and "
                                             "[0-9]+ values to be sent \\([0-9]+ of " +
                                             std::to_string(memory) +
                                             " bytes are free\\), and nothing is under way that will leave some"));
    }
  }
  EXPECT_GT(stuck, 0);
  EXPECT_GT(failed, 0);
  EXPECT_GT(completed, 0);
}

}  // namespace
}  // namespace granary::test
