// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <gtest/gtest.h>

namespace granary {
namespace {

// disk - host - device 0, device 1; the devices are also linked to each other.
detail::Machine usual_machine() {
  detail::Machine machine;
  auto const disk = machine.add_node({.name = "disk", .kind = detail::NodeKind::Disk});
  auto const host = machine.add_node({.name = "host"});
  auto const device0 = machine.add_node({.name = "device0", .kind = detail::NodeKind::Device});
  auto const device1 = machine.add_node({.name = "device1", .kind = detail::NodeKind::Device});
  machine.add_link_pair(disk, host, 1e9);
  machine.add_link_pair(host, device0, 1e10);
  machine.add_link_pair(host, device1, 1e10);
  machine.add_link_pair(device0, device1, 1e11);
  machine.add_worker({.name = "cpu0", .node = host});
  machine.add_worker({.name = "gpu0", .node = device0, .kind = detail::WorkerKind::Device});
  machine.add_worker({.name = "cpu1", .node = host});
  machine.add_worker({.name = "gpu1", .node = device1, .kind = detail::WorkerKind::Device});
  return machine;
}

TEST(Topology, GroupsWorkersOfOneKindOnOneNode) {
  detail::Topology const topology(usual_machine());
  ASSERT_EQ(topology.groups().size(), 3U);
  EXPECT_EQ(topology.group(GroupId(0)).workers,
            (std::vector<detail::WorkerId>{detail::WorkerId(0), detail::WorkerId(2)}));
  EXPECT_EQ(topology.group_of(detail::WorkerId(2)), GroupId(0));
  EXPECT_EQ(topology.group_of(detail::WorkerId(3)), GroupId(2));
  EXPECT_EQ(topology.group(GroupId(1)).kind, detail::WorkerKind::Device);
  EXPECT_TRUE(topology.groups_on(NodeId(0)).empty());
  EXPECT_EQ(topology.groups_on(NodeId(1)), (std::vector<GroupId>{GroupId(0)}));
}

TEST(Topology, FindsTheFastestRoutes) {
  detail::Topology const topology(usual_machine());
  auto const& machine = topology.machine();
  EXPECT_EQ(machine[topology.next_hop(NodeId(0), NodeId(2))].to, NodeId(1));
  EXPECT_EQ(machine[topology.next_hop(NodeId(2), NodeId(0))].to, NodeId(1));
  EXPECT_EQ(machine[topology.next_hop(NodeId(2), NodeId(3))].to, NodeId(3)) << "by the peer link";
  EXPECT_FALSE(topology.next_hop(NodeId(1), NodeId(1)).valid());
  EXPECT_EQ(topology.route_time(NodeId(0), NodeId(2), 1000000), Duration(1000000 + 100000));
  EXPECT_EQ(topology.route_time(NodeId(2), NodeId(2), 1000000), Duration(0));
  EXPECT_TRUE(topology.between_others(NodeId(1)));
  EXPECT_FALSE(topology.between_others(NodeId(0)));
  EXPECT_FALSE(topology.between_others(NodeId(2)));
}

TEST(Topology, PrefersTheFasterOfParallelLinks) {
  detail::Machine machine;
  machine.add_node({.name = "a"});
  machine.add_node({.name = "b"});
  machine.add_link_pair(NodeId(0), NodeId(1), 1e6);
  detail::LinkId const fast = machine.add_link_pair(NodeId(0), NodeId(1), 1e9);
  detail::Topology const topology(machine);
  EXPECT_EQ(topology.next_hop(NodeId(0), NodeId(1)), fast);
}

TEST(Topology, ABusLimitsWhatCrossesIt) {
  detail::Machine machine;
  machine.add_node({.name = "a"});
  machine.add_node({.name = "b"});
  auto const bus = machine.add_bus({"bus", 1e9});
  machine.add_link_pair(NodeId(0), NodeId(1), 4e9, Duration{0}, 1, {bus});
  auto const twice = machine.add_link({.from = NodeId(0), .to = NodeId(1), .bandwidth = 4e9, .buses = {bus, bus}});
  auto const free = machine.add_link({.from = NodeId(0), .to = NodeId(1), .bandwidth = 2e9});
  detail::Topology const topology(machine);
  EXPECT_EQ(topology.route_time(NodeId(1), NodeId(0), 1000), Duration(1000));
  EXPECT_EQ(topology.next_hop(NodeId(0), NodeId(1)), free);
  EXPECT_EQ(machine.bandwidth_alone(machine[twice]), 5e8);
  EXPECT_TRUE(detail::Machine::share_a_bus(machine.links[0], machine[twice]));
  EXPECT_FALSE(detail::Machine::share_a_bus(machine.links[0], machine[free]));
}

TEST(Topology, NamesTheLinkThatCrossesAnUnknownBus) {
  detail::Machine machine = usual_machine();
  machine.links[0].buses = {3};
  try {
    detail::Topology const topology(machine);
    FAIL();
  } catch (InvalidArgument const& error) {
    EXPECT_STREQ(error.what(), "the link from 'disk' to 'host' crosses bus 3; the machine has 0");
  }
}

TEST(Topology, RefusesMoreNodesThanItFindsRoutesFor) {
  detail::Machine machine;
  for (std::size_t n = 0; n <= detail::most_nodes; ++n) machine.add_node({.name = "n"});
  try {
    detail::Topology const topology(machine);
    FAIL();
  } catch (InvalidArgument const& error) {
    EXPECT_STREQ(error.what(), "the machine has 257 memory nodes; the limit is 256");
  }
}

TEST(Topology, RefusesWhatCannotBe) {
  auto const refused = [](auto const& spoil) {
    detail::Machine machine = usual_machine();
    spoil(machine);
    EXPECT_THROW(detail::Topology{machine}, InvalidArgument);
  };
  refused([](detail::Machine& m) { m.links[0].to = NodeId(9); });
  refused([](detail::Machine& m) { m.links[0].width = 0; });
  refused([](detail::Machine& m) { m.links[0].bandwidth = 0; });
  refused([](detail::Machine& m) { m.links[0].bandwidth = 1e-30; });
  refused([](detail::Machine& m) { m.links[0].bandwidth = 1e19; });
  refused([](detail::Machine& m) { m.links[0].latency = Duration(-1); });
  refused([](detail::Machine& m) { m.links[0].latency = detail::most_latency + Duration(1); });
  refused([](detail::Machine& m) { m.links[0].buses = {0}; });
  refused([](detail::Machine& m) { m.add_bus({"bus", 0}); });
  refused([](detail::Machine& m) { m.add_bus({"bus", 1e300}); });
  refused([](detail::Machine& m) { m.workers[0].node = NodeId(9); });
  refused([](detail::Machine& m) { m.nodes[0].alignment = 0; });
  refused([](detail::Machine& m) { m.add_node({.name = "island"}); });
  refused([](detail::Machine& m) { m.links.erase(m.links.begin()); });
  EXPECT_NO_THROW(detail::Topology{usual_machine()});
}

TEST(Topology, KnowsTheNodeOfOtherProcessesAndWhereTheirValuesAreSent) {
  detail::Machine machine = usual_machine();
  EXPECT_FALSE(detail::Topology(machine).peers().valid());
  EXPECT_FALSE(detail::Topology(machine).send_node().valid());
  NodeId const peers = machine.add_node({.name = "others", .kind = detail::NodeKind::Peers});
  machine.add_link_pair(peers, NodeId(1), 1e9, Duration{0});
  detail::Topology const topology(machine);
  EXPECT_EQ(topology.peers(), peers);
  EXPECT_EQ(topology.send_node(), NodeId(1));
}

TEST(Topology, RefusesTwoNodesOfOtherProcessesAndWorkersOnOne) {
  auto const refusal = [](auto const& spoil) -> std::string {
    detail::Machine machine = usual_machine();
    NodeId const peers = machine.add_node({.name = "others", .kind = detail::NodeKind::Peers});
    machine.add_link_pair(peers, NodeId(1), 1e9, Duration{0});
    spoil(machine, peers);
    try {
      detail::Topology const topology(machine);
    } catch (InvalidArgument const& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(refusal([](detail::Machine&, NodeId) {}), "");
  EXPECT_EQ(refusal([](detail::Machine& m, NodeId) {
              NodeId const more = m.add_node({.name = "more", .kind = detail::NodeKind::Peers});
              m.add_link_pair(more, NodeId(1), 1e9, Duration{0});
            }),
            "the memory nodes 'others' and 'more' both stand for the other processes; there may be one");
  EXPECT_EQ(refusal([](detail::Machine& m, NodeId peers) { m.add_worker({.name = "w", .node = peers}); }),
            "memory node 'others' stands for the other processes and has workers");
}

}  // namespace
}  // namespace granary
