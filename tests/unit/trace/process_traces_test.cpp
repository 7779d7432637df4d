// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/trace/process_traces.hpp>
#include <granary/detail/trace/series.hpp>

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace granary::process_traces_test {
namespace {

using testing::ElementsAre;

detail::Instant at(std::int64_t ns) { return detail::Instant(Duration(ns)); }

// A process with a bus, two nodes and the node of the others, one worker, and one event of each kind from `start` on.
Trace process(std::int64_t start) {
  Trace trace;
  auto& machine = trace.machine;
  auto const host = machine.add_node({.name = "host"});
  auto const gpu = machine.add_node({.name = "gpu", .kind = detail::NodeKind::Device, .capacity = 64});
  auto const peers = machine.add_node({.name = "other processes", .kind = detail::NodeKind::Peers});
  machine.add_link_pair(host, gpu, 1e9, Duration(0), 1, {machine.add_bus({.name = "pcie"})});  // links 0 and 1
  machine.add_link_pair(peers, host, 1e9);                                                     // 2 and 3
  machine.add_worker({.name = "gpu", .node = gpu, .kind = detail::WorkerKind::Device});
  trace.codelets = {"gemm"};
  trace.data = {{"A", 8, {}}, {"B", 16, {}}};
  trace.tasks = {{TaskId(7), detail::CodeletId(0), detail::WorkerId(0), 1, detail::no_index, at(start), at(start),
                  at(start + 10), 40},
                 {TaskId(8), detail::CodeletId(0), detail::WorkerId(0), detail::TraceTask::no_data, detail::no_index,
                  at(start), at(start + 10), at(start + 30), 40}};
  trace.transfers = {{0, detail::LinkId(2), 8, at(start), at(start + 5)}};
  trace.evictions = {{0, gpu, 8, at(start + 6), detail::EvictionReason::Policy, false}};
  trace.memory = {{at(start), gpu, 8}, {at(start + 6), gpu, 0}};
  trace.booked = {{at(start + 5), gpu, 8}};
  trace.end = at(start + 30);
  trace.dropped = 2;
  return trace;
}

TEST(ProcessTraces, IdsAndNamesAreThoseOfTheirProcess) {
  auto const trace = trace_of_processes({process(0), process(3)});
  EXPECT_EQ(trace.processes(), 2U);
  EXPECT_THAT(trace.process_of_node, ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_EQ(trace.process_of(NodeId(3)), 1U);
  EXPECT_EQ(trace.process_of(detail::WorkerId(1)), 1U);
  EXPECT_EQ(trace.process_of(detail::LinkId(3)), 0U);
  EXPECT_EQ(trace.process_of(detail::LinkId(4)), 1U);

  auto const& machine = trace.machine;
  ASSERT_EQ(machine.nodes.size(), 6U);
  EXPECT_EQ(machine.nodes[0].name, "0: host");
  EXPECT_EQ(machine.nodes[5].name, "1: other processes");
  EXPECT_EQ(machine.nodes[5].kind, detail::NodeKind::Peers);
  EXPECT_EQ(machine.nodes[4].capacity, 64U);
  EXPECT_EQ(machine.workers[1].name, "1: gpu");
  EXPECT_EQ(machine.workers[1].node, NodeId(4));
  EXPECT_EQ(machine.buses[1].name, "1: pcie");
  EXPECT_EQ(machine.links[4].from, NodeId(3));
  EXPECT_EQ(machine.links[4].to, NodeId(4));
  EXPECT_THAT(machine.links[4].buses, ElementsAre(1));
  EXPECT_EQ(link_name(trace, detail::LinkId(6)), "1: other processes -> host");

  ASSERT_EQ(trace.data.size(), 4U);
  EXPECT_EQ(trace.data[3].name, "B");
}

TEST(ProcessTraces, EventsAreInTheOrderInWhichTheyEnded) {
  auto const trace = trace_of_processes({process(0), process(3)});
  std::vector<std::uint32_t> workers, data;
  for (auto const& task : trace.tasks) {
    workers.push_back(task.worker.value());
    data.push_back(task.data);
  }
  EXPECT_THAT(workers, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(data, ElementsAre(1, 3, detail::TraceTask::no_data, detail::TraceTask::no_data));
  ASSERT_EQ(trace.transfers.size(), 2U);
  EXPECT_EQ(trace.transfers[1].link, detail::LinkId(6));
  EXPECT_EQ(trace.transfers[1].data, 2U);
  ASSERT_EQ(trace.evictions.size(), 2U);
  EXPECT_EQ(trace.evictions[1].node, NodeId(4));
  EXPECT_EQ(trace.evictions[1].data, 2U);
  std::vector<std::uint32_t> nodes;
  for (auto const& level : trace.memory) nodes.push_back(level.node.value());
  EXPECT_THAT(nodes, ElementsAre(1, 4, 1, 4));
  ASSERT_EQ(trace.booked.size(), 2U);
  EXPECT_EQ(trace.booked[1].node, NodeId(4));
  EXPECT_EQ(trace.end, at(33));
  EXPECT_EQ(trace.dropped, 4U);
}

TEST(ProcessTraces, CodeletsAreThoseOfTheProcessThatHasMost) {
  auto first = process(0);
  first.codelets = {"gemm"};
  first.configuration = {{"program", "demo"}};
  auto second = process(0);
  second.codelets = {"gemm", "trsm"};
  second.configuration = {{"program", "other"}};
  auto const trace = trace_of_processes({first, second});
  EXPECT_THAT(trace.codelets, ElementsAre("gemm", "trsm"));
  ASSERT_EQ(trace.configuration.size(), 1U);
  EXPECT_EQ(trace.configuration[0].second, "demo");
}

TEST(ProcessTraces, OneProcessStaysAsItIs) {
  auto const trace = trace_of_processes({process(0)});
  EXPECT_EQ(trace.processes(), 1U);
  EXPECT_THAT(trace.process_of_node, ElementsAre());
  EXPECT_EQ(trace.machine.workers[0].name, "gpu");
  EXPECT_EQ(trace.process_of(detail::WorkerId(0)), 0U);
  EXPECT_EQ(link_name(trace, detail::LinkId(2)), "other processes -> host");
}

TEST(ProcessTraces, NoProcessesOrEmptyOnes) {
  EXPECT_TRUE(trace_of_processes({}).machine.nodes.empty());
  EXPECT_EQ(trace_of_processes({}).processes(), 1U);
  auto const trace = trace_of_processes({Trace{}, process(0)});
  EXPECT_EQ(trace.processes(), 2U);
  EXPECT_EQ(trace.machine.workers[0].name, "1: gpu");
  EXPECT_EQ(trace.process_of(detail::WorkerId(0)), 1U);
}

TEST(ProcessTraces, BusyWorkersOfEachProcess) {
  auto const trace =
      trace_of_processes({process(0), process(10)});  // 40 ns; the first runs until 30, the second from 10
  auto const busy = busy_workers(trace, 4);
  ASSERT_EQ(busy.size(), 2U);
  EXPECT_THAT(busy[0], ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(busy[1], ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(busy_workers(trace, 1)[1], ElementsAre(0.75));
  EXPECT_THAT(busy_workers(Trace{}, 2), ElementsAre(ElementsAre(0, 0)));
}

}  // namespace
}  // namespace granary::process_traces_test
