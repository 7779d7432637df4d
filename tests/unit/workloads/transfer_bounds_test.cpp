// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/bounds/transfer_bounds.hpp>
#include <granary/detail/core/base/error.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace granary::transfer_bounds_test {
namespace {

void no_kernel(detail::KernelCall const&) {}

// `gpus` devices with a 12 GB/s link pair each, over the given buses in turn.
detail::Machine devices(std::uint32_t gpus, std::vector<double> const& buses) {
  detail::Machine machine;
  machine.add_node({.name = "host"});
  for (double const bandwidth : buses) machine.add_bus({.name = "bus", .bandwidth = bandwidth});
  for (std::uint32_t g = 0; g < gpus; ++g) {
    auto const node = machine.add_node({.name = "gpu", .kind = detail::NodeKind::Device});
    std::vector<std::uint32_t> crossed;
    if (!buses.empty()) crossed.push_back(g % static_cast<std::uint32_t>(buses.size()));
    machine.add_link_pair(NodeId(0), node, 12e9, Duration(0), 1, crossed);
    machine.add_worker({.name = "gpu", .node = node, .kind = detail::WorkerKind::Device});
  }
  return machine;
}

TEST(BusLimit, AddsUpWhatTheLinksAndBusesAllow) {
  EXPECT_NEAR(bus_bandwidth(devices(4, {})), 48e9, 1);
  EXPECT_NEAR(bus_bandwidth(devices(4, {10.52e9})), 10.52e9, 1);
  EXPECT_NEAR(bus_bandwidth(devices(4, {12e9, 12e9})), 24e9, 1);
  EXPECT_NEAR(bus_bandwidth(devices(4, {100e9, 12e9})), 36e9, 1);
  EXPECT_NEAR(bus_bandwidth(devices(4, {12e9, 12e9}), detail::TransferDirection::WriteBack), 24e9, 1);
  using std::chrono::seconds;
  EXPECT_NEAR(static_cast<double>(bus_limit(devices(4, {10.52e9}), seconds(2))), 21.04e9, 10);
  EXPECT_EQ(bus_limit(devices(4, {}), Duration(0)), 0U);
}

TEST(BusLimit, IgnoresLinksBetweenDevicesAndCountsCrossings) {
  auto machine = devices(2, {12e9});
  machine.add_link_pair(NodeId(1), NodeId(2), 50e9);
  EXPECT_NEAR(bus_bandwidth(machine), 12e9, 1);
  detail::Machine twice;
  twice.add_node({.name = "host"});
  twice.add_node({.name = "gpu", .kind = detail::NodeKind::Device});
  twice.add_bus({.name = "bus", .bandwidth = 10e9});
  twice.add_link_pair(NodeId(0), NodeId(1), 12e9, Duration(0), 1, {0, 0});
  twice.add_worker({.name = "gpu", .node = NodeId(1), .kind = detail::WorkerKind::Device});
  EXPECT_NEAR(bus_bandwidth(twice), 5e9, 1);
}

TEST(BusLimit, CountsAnySourceOfOneDevice) {
  // Two host nodes, one link each: the device's own switch decides.
  detail::Machine machine;
  machine.add_node({.name = "host0"});
  machine.add_node({.name = "host1"});
  machine.add_node({.name = "gpu", .kind = detail::NodeKind::Device});
  machine.add_bus({.name = "switch", .bandwidth = 12e9});
  machine.add_link_pair(NodeId(0), NodeId(2), 11e9, Duration(0), 1, {0});
  machine.add_link_pair(NodeId(1), NodeId(2), 8e9, Duration(0), 1, {0});
  machine.add_worker({.name = "cpu", .node = NodeId(0)});
  machine.add_worker({.name = "gpu", .node = NodeId(2), .kind = detail::WorkerKind::Device});
  EXPECT_NEAR(bus_bandwidth(machine), 12e9, 1);
}

TEST(BusLimit, OfAMachineWithoutDevicesIsTheDisks) {
  detail::Machine machine;
  machine.add_node({.name = "disk", .kind = detail::NodeKind::Disk});
  machine.add_node({.name = "host"});
  machine.add_link({.from = NodeId(0), .to = NodeId(1), .bandwidth = 94e6});
  machine.add_link({.from = NodeId(1), .to = NodeId(0), .bandwidth = 80e6});
  machine.add_worker({.name = "cpu", .node = NodeId(1)});
  EXPECT_NEAR(bus_bandwidth(machine), 94e6, 1);
  EXPECT_NEAR(bus_bandwidth(machine, detail::TransferDirection::WriteBack), 80e6, 1);
  detail::Machine alone;
  alone.add_node({.name = "host"});
  alone.add_worker({.name = "cpu", .node = NodeId(0)});
  EXPECT_EQ(bus_bandwidth(alone), 0);
}

TEST(BusLimit, RefusesBadInput) {
  EXPECT_THROW((void)bus_bandwidth({}), InvalidArgument);
  EXPECT_THROW((void)bus_limit(devices(1, {}), Duration(-1)), InvalidArgument);
}

TEST(CompulsoryTraffic, CountsEachDatumOnce) {
  detail::GraphRecorder graph;
  auto const codelet = graph.add_codelet({.name = "a", .kernels = {no_kernel, no_kernel}});
  NodeId const host(0);
  auto const input = graph.add_data({.name = "input", .bytes = 1, .origin = host});
  auto const both = graph.add_data({.name = "both", .bytes = 10, .origin = host, .home = host, .origin_is_home = true});
  auto const result = graph.add_data({.name = "result", .bytes = 100, .home = host});
  auto const temporary = graph.add_data({.name = "temporary", .bytes = 1000});
  auto const overwritten =
      graph.add_data({.name = "overwritten", .bytes = 10000, .origin = host, .home = host, .origin_is_home = true});
  graph.add_data({.name = "unused", .bytes = 100000, .origin = host, .home = host, .origin_is_home = true});
  auto const submit = [&](std::vector<detail::Access> const& accesses) {
    graph.submit({.codelet = codelet, .accesses = accesses});
  };
  for (int t = 0; t < 3; ++t) {
    submit({{input, detail::AccessMode::Read},
            {both, detail::AccessMode::ReadWrite},
            {temporary, detail::AccessMode::Write}});
    submit({{temporary, detail::AccessMode::Read}, {overwritten, detail::AccessMode::Write}});
    submit({{overwritten, detail::AccessMode::Read}, {result, detail::AccessMode::Write}});
  }
  auto const traffic = compulsory_traffic(graph);
  EXPECT_EQ(traffic.read, 11U);
  EXPECT_EQ(traffic.written, 10110U);
  EXPECT_EQ(traffic.total(), 10121U);
  EXPECT_EQ(compulsory_traffic(detail::GraphRecorder{}).total(), 0U);
}

}  // namespace
}  // namespace granary::transfer_bounds_test
