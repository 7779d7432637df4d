// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/journal.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace granary::trace_test {

using namespace detail;

namespace {

void no_kernel(KernelCall const&) {}

// Two devices with memory for four data each, and a host.
Machine two_devices() {
  Machine machine;
  auto const host = machine.add_node({.name = "host"});
  for (int d = 0; d < 2; ++d) {
    auto const device = machine.add_node({.name = "device", .kind = NodeKind::Device, .capacity = 4000});
    machine.add_link_pair(host, device, 1e9, Duration(100), 2);
    machine.add_worker({.name = "lane", .node = device, .kind = WorkerKind::Device});
  }
  return machine;
}

struct Run {
  SimulationReport report;
  Trace trace;
  std::vector<Command> commands;
};

// C(i, j) := C(i, j) + A(i, k) B(k, j) on 4 x 4 data, which do not fit.
Run multiply(TraceOptions const& trace, FaultPlan const& faults = {}) {
  Run run;
  AveragingEstimator estimator;
  ConstantSpeeds::Options speeds;
  speeds.seconds_per_flop = {1e-9, 1e-9};
  ConstantSpeeds const truth(speeds);
  SimulatorOptions options;
  options.trace = trace;
  options.faults = faults;
  Journal journal;
  options.observers = {&journal};
  Simulator simulator(Topology(two_devices()), make_policies("darts", "luf"), estimator, truth, options);
  auto const gemm = simulator.add_codelet({.name = "gemm", .kernels = {nullptr, no_kernel}});
  constexpr std::int32_t n = 4;
  std::map<std::string, DataId> data;
  for (auto const* matrix : {"A", "B", "C"}) {
    for (std::int32_t i = 0; i < n * n; ++i) {
      data[matrix + std::to_string(i)] = simulator.add_data({.name = matrix + std::to_string(i),
                                                             .bytes = 1000,
                                                             .origin = NodeId(0),
                                                             .home = NodeId(0),
                                                             .origin_is_home = true,
                                                             .position = {i / n, i % n}});
    }
  }
  for (std::int32_t k = 0; k < n; ++k) {
    for (std::int32_t i = 0; i < n; ++i) {
      for (std::int32_t j = 0; j < n; ++j) {
        std::array const accesses{Access{data["A" + std::to_string(i * n + k)], AccessMode::Read},
                                  Access{data["B" + std::to_string(k * n + j)], AccessMode::Read},
                                  Access{data["C" + std::to_string(i * n + j)], AccessMode::ReadWrite}};
        simulator.submit({gemm, accesses, 0, 500, {i, j, k}});
      }
    }
  }
  run.report = simulator.run();
  run.trace = simulator.trace();
  run.commands = journal.commands();
  return run;
}

TEST(SimulatorTrace, CountsWhatThePlannerCounts) {
  auto const [report, trace, commands] = multiply({.record = true});
  auto const& statistics = report.statistics;
  EXPECT_EQ(trace.tasks.size(), statistics.tasks_run);
  EXPECT_EQ(trace.end, report.end);
  EXPECT_EQ(trace.dropped, 0U);
  std::vector<LinkStatistics> links(statistics.links.size());
  for (auto const& transfer : trace.transfers) {
    ++links[transfer.link.index()].transfers;
    links[transfer.link.index()].bytes += transfer.bytes;
    EXPECT_LT(transfer.begin, transfer.end);
  }
  for (std::size_t l = 0; l < links.size(); ++l) {
    EXPECT_EQ(links[l].transfers, statistics.links[l].transfers);
    EXPECT_EQ(links[l].bytes, statistics.links[l].bytes);
  }
  std::vector<std::uint64_t> evictions(statistics.nodes.size());
  for (auto const& eviction : trace.evictions) ++evictions[eviction.node.index()];
  std::vector<Bytes> used(statistics.nodes.size()), peak(statistics.nodes.size());
  for (auto const& level : trace.memory) {
    used[level.node.index()] = level.used;
    peak[level.node.index()] = std::max(peak[level.node.index()], level.used);
  }
  for (std::size_t n = 0; n < statistics.nodes.size(); ++n) {
    EXPECT_EQ(evictions[n], statistics.nodes[n].evictions);
    EXPECT_EQ(used[n], statistics.nodes[n].used);
    EXPECT_LE(peak[n], statistics.nodes[n].peak);
  }
  EXPECT_GT(report.evictions, 0U);
  EXPECT_GT(peak[1], 0U);
}

TEST(SimulatorTrace, SaysWhichTaskRanWhereOnWhat) {
  auto const trace = multiply({.record = true}).trace;
  ASSERT_EQ(trace.codelets, std::vector<std::string>{"gemm"});
  std::map<WorkerId, Instant> free_from;
  for (auto const& task : trace.tasks) {
    ASSERT_LT(task.data, trace.data.size());
    auto const& data = trace.data[task.data];
    EXPECT_EQ(data.name[0], 'C');
    EXPECT_EQ(data.position.row, task.index[0]);
    EXPECT_EQ(data.position.column, task.index[1]);
    EXPECT_EQ(task.task.value(), static_cast<std::uint64_t>(task.index[2] * 16 + task.index[0] * 4 + task.index[1]));
    EXPECT_EQ(task.flops, 500);
    EXPECT_EQ(task.end - task.begin, Duration(500));
    EXPECT_LE(task.issued, task.begin);
    EXPECT_LE(free_from[task.worker], task.begin);
    free_from[task.worker] = task.end;
  }
  EXPECT_EQ(free_from.size(), 2U);
  for (auto const& eviction : trace.evictions) EXPECT_EQ(eviction.reason, EvictionReason::Policy);
}

// The first value has 30 bytes, the second 70.
class TwoSizes final : public GroundTruth {
 public:
  [[nodiscard]] Duration kernel_time(Task const&, Codelet const&, Worker const&) const override { return Duration(10); }
  [[nodiscard]] Bytes value_bytes(Task const&, Access const& written, DataDescription const&, Bytes) const override {
    return written.version == 1 ? 30 : 70;
  }
};

TEST(SimulatorTrace, HasTheSizesOfDataThatVary) {
  Machine machine;
  auto const host = machine.add_node({.name = "host", .capacity = 1000});
  machine.add_worker({.name = "core", .node = host});
  AveragingEstimator estimator;
  TwoSizes const truth;
  Simulator simulator(Topology(machine), make_policies("eager", "lru"), estimator, truth, {.trace = {.record = true}});
  auto const work = simulator.add_codelet({.name = "work", .kernels = {no_kernel}});
  auto const x = simulator.add_data({.name = "x", .bytes = 50, .bound = 100});
  for (auto const mode : {AccessMode::Write, AccessMode::ReadWrite}) {
    Access const access[] = {{x, mode}};
    simulator.submit({.codelet = work, .accesses = access});
  }
  simulator.run();
  auto const trace = simulator.trace();
  EXPECT_EQ(trace.data.front().bytes, 70U) << "of the largest value";
  std::vector<Bytes> used;
  for (auto const& memory : trace.memory) used.push_back(memory.used);
  EXPECT_EQ(used, (std::vector<Bytes>{100, 130, 70}))
      << "the bound; a value, and the bound of the next one; that value";
}

TEST(SimulatorTrace, ChangesNoDecision) {
  EXPECT_EQ(multiply({.record = true}).commands, multiply({}).commands);
  EXPECT_EQ(multiply({.record = true, .most_events = 10}).commands, multiply({}).commands);
  EXPECT_TRUE(multiply({}).trace.tasks.empty());
}

TEST(SimulatorTrace, KeepsNoMoreThanItMayAndCountsTheRest) {
  auto const events = [](Trace const& trace) {
    return trace.data.size() + trace.tasks.size() + trace.transfers.size() + trace.evictions.size() +
           trace.memory.size();
  };
  auto const all = multiply({.record = true}).trace;
  for (std::uint64_t const most : {0U, 1U, 20U, 100U}) {
    auto const trace = multiply({.record = true, .most_events = most}).trace;
    EXPECT_EQ(events(trace), most);
    EXPECT_EQ(events(trace) + trace.dropped, events(all));
    EXPECT_EQ(trace.end, all.end);
  }
}

TEST(SimulatorTrace, ShowsWhatFailed) {
  FaultPlan faults;
  faults.tasks = {TaskId(3)};
  faults.copies = {5};
  auto const [report, trace, commands] = multiply({.record = true}, faults);
  EXPECT_EQ(std::ranges::count(trace.tasks, true, &TraceTask::failed), 1);
  EXPECT_EQ(std::ranges::count(trace.transfers, true, &TraceTransfer::failed), 1);
  EXPECT_EQ(trace.tasks.size(), report.statistics.tasks_run + 1);
}

}  // namespace
}  // namespace granary::trace_test
