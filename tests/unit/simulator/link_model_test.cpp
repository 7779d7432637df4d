// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All numbers here were computed by hand. Bandwidths are in bytes per second: 1e9 is one byte per nanosecond.
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/simulator/link_model.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace granary::link_model_test {
namespace {

detail::Machine two_nodes() {
  detail::Machine machine;
  machine.add_node({.name = "a"});
  machine.add_node({.name = "b"});
  return machine;
}

detail::LinkId add_link(detail::Machine& machine, double bandwidth, long long latency = 0,
                        std::vector<std::uint32_t> buses = {}) {
  return machine.add_link({.from = NodeId(0),
                           .to = NodeId(1),
                           .bandwidth = bandwidth,
                           .latency = Duration(latency),
                           .width = 9,
                           .buses = std::move(buses)});
}

detail::Instant at(long long nanoseconds) { return detail::Instant(Duration(nanoseconds)); }

/// Lets all transfers end; returns the times, in nanoseconds, by transfer.
std::map<std::uint64_t, long long> ends(detail::LinkModel& links) {
  std::map<std::uint64_t, long long> found;
  while (auto const next = links.next_change()) {
    for (detail::TransferId const transfer : links.advance(*next))
      found[transfer.value()] = next->time_since_epoch().count();
  }
  return found;
}

using Ends = std::map<std::uint64_t, long long>;

TEST(LinkModel, IsIdleAtFirst) {
  detail::Machine const machine = two_nodes();
  detail::LinkModel links(machine);
  EXPECT_TRUE(links.idle());
  EXPECT_FALSE(links.next_change().has_value());
}

TEST(LinkModel, AloneATransferTakesLatencyAndBytesOverBandwidth) {
  detail::Machine machine = two_nodes();
  detail::LinkId const link = add_link(machine, 1e9, 500);
  detail::LinkModel links(machine);
  links.start(detail::TransferId(7), link, 1000, at(100));
  EXPECT_FALSE(links.idle());
  EXPECT_EQ(links.rate(detail::TransferId(7)), 0);
  EXPECT_EQ(links.next_change(), at(600));
  EXPECT_TRUE(links.advance(at(600)).empty());
  EXPECT_EQ(links.rate(detail::TransferId(7)), 1e9);
  EXPECT_EQ(ends(links), (Ends{{7, 1600}}));
  EXPECT_TRUE(links.idle());
}

TEST(LinkModel, TransfersOfOneLinkShareItsBandwidth) {
  detail::Machine machine = two_nodes();
  detail::LinkId const link = add_link(machine, 1e9);
  detail::LinkModel links(machine);
  links.start(detail::TransferId(0), link, 1000, at(0));
  // 400 bytes have flowed; then both flow at half the speed: 600 more bytes take 1200 ns, while the other moves 600 of
  // its 1000.
  links.start(detail::TransferId(1), link, 1000, at(400));
  EXPECT_EQ(links.rate(detail::TransferId(0)), 5e8);
  EXPECT_EQ(ends(links), (Ends{{0, 1600}, {1, 2000}}));
}

TEST(LinkModel, TransfersOfALinkInOrderFollowEachOther) {
  detail::Machine machine = two_nodes();
  auto const ordered = add_link(machine, 1e9, 5);
  machine.links[ordered.index()].in_order = true;
  auto const other = add_link(machine, 1e9);
  detail::LinkModel links(machine);
  links.start(detail::TransferId(1), ordered, 10, at(0));
  links.start(detail::TransferId(2), ordered, 20, at(0));
  links.start(detail::TransferId(3), other, 30, at(1));
  links.start(detail::TransferId(4), ordered, 30, at(2));
  EXPECT_EQ(links.rate(detail::TransferId(2)), 0);
  EXPECT_EQ(ends(links), (Ends{{1, 15}, {2, 40}, {3, 31}, {4, 75}}));
  EXPECT_TRUE(links.idle());
  links.start(detail::TransferId(5), ordered, 10, at(100));
  EXPECT_EQ(ends(links), (Ends{{5, 115}}));
}

TEST(LinkModel, LinksInOrderShareTheirBus) {
  detail::Machine machine = two_nodes();
  auto const bus = machine.add_bus({"bus", 1e9});
  auto const one = add_link(machine, 1e9, 0, {bus}), two = add_link(machine, 1e9, 0, {bus});
  for (auto& link : machine.links) link.in_order = true;
  detail::LinkModel links(machine);
  links.start(detail::TransferId(1), one, 10, at(0));
  links.start(detail::TransferId(2), one, 10, at(0));
  links.start(detail::TransferId(3), two, 40, at(0));
  // Half the bus each, until the first link is done at 40 with 20 bytes of the other left.
  EXPECT_EQ(ends(links), (Ends{{1, 20}, {2, 40}, {3, 60}}));
}

TEST(LinkModel, LinksWithoutABusDoNotDisturbEachOther) {
  detail::Machine machine = two_nodes();
  detail::LinkId const first = add_link(machine, 1e9);
  detail::LinkId const second = add_link(machine, 2e9);
  detail::LinkModel links(machine);
  links.start(detail::TransferId(0), first, 1000, at(0));
  links.start(detail::TransferId(1), second, 1000, at(0));
  EXPECT_EQ(ends(links), (Ends{{0, 1000}, {1, 500}}));
}

TEST(LinkModel, LinksOfABusShareItsBandwidth) {
  detail::Machine machine = two_nodes();
  auto const bus = machine.add_bus({"bus", 2e9});
  detail::LinkId const first = add_link(machine, 2e9, 0, {bus});
  detail::LinkId const second = add_link(machine, 2e9, 0, {bus});
  detail::LinkModel links(machine);
  links.start(detail::TransferId(0), first, 1000, at(0));
  links.start(detail::TransferId(1), second, 3000, at(0));
  // 1 byte/ns each until 1000; then 2000 bytes at 2 bytes/ns.
  EXPECT_EQ(ends(links), (Ends{{0, 1000}, {1, 2000}}));
}

TEST(LinkModel, WhatASlowLinkCannotUseGoesToTheOthers) {
  detail::Machine machine = two_nodes();
  auto const bus = machine.add_bus({"bus", 8e9});
  detail::LinkId const slow = add_link(machine, 1e9, 0, {bus});
  detail::LinkId const fast = add_link(machine, 8e9, 0, {bus});
  detail::LinkModel links(machine);
  links.start(detail::TransferId(0), slow, 1000, at(0));
  links.start(detail::TransferId(1), fast, 7000, at(0));
  links.start(detail::TransferId(2), fast, 14000, at(0));
  // The slow link takes 1 of the bus' 8 bytes/ns, the other two share 7: 3.5 each.
  EXPECT_EQ(links.rate(detail::TransferId(0)), 1e9);
  EXPECT_EQ(links.rate(detail::TransferId(1)), 3.5e9);
  EXPECT_EQ(links.rate(detail::TransferId(2)), 3.5e9);
  // At 1000 the slow one ends, and each of the others has moved 3500. 3500 more at 4/ns: 1875. The last: 7000 left at
  // 8/ns: 2750.
  EXPECT_EQ(ends(links), (Ends{{0, 1000}, {1, 1875}, {2, 2750}}));
}

// The example of Bertsekas and Gallager: bandwidth that a full bus cannot use is available to the others on the next
// bus.
TEST(LinkModel, SharesFairlyAcrossSeveralBuses) {
  detail::Machine machine = two_nodes();
  auto const narrow = machine.add_bus({"narrow", 3e9});
  auto const wide = machine.add_bus({"wide", 12e9});
  detail::LinkId const both = add_link(machine, 20e9, 0, {narrow, wide});
  detail::LinkId const only_narrow = add_link(machine, 20e9, 0, {narrow});
  detail::LinkId const only_wide = add_link(machine, 20e9, 0, {wide});
  detail::LinkId const slow = add_link(machine, 2e9, 0, {wide});
  detail::LinkModel links(machine);
  links.start(detail::TransferId(0), both, 30000, at(0));
  links.start(detail::TransferId(1), only_narrow, 30000, at(0));
  links.start(detail::TransferId(2), only_narrow, 30000, at(0));
  links.start(detail::TransferId(3), only_wide, 90000, at(0));
  links.start(detail::TransferId(4), slow, 60000, at(0));
  EXPECT_DOUBLE_EQ(links.rate(detail::TransferId(0)), 1e9);
  EXPECT_DOUBLE_EQ(links.rate(detail::TransferId(1)), 1e9);
  EXPECT_DOUBLE_EQ(links.rate(detail::TransferId(2)), 1e9);
  EXPECT_DOUBLE_EQ(links.rate(detail::TransferId(4)), 2e9);
  EXPECT_DOUBLE_EQ(links.rate(detail::TransferId(3)), 9e9);
  EXPECT_EQ(links.next_change(), at(10000));
  EXPECT_EQ(links.advance(at(10000)), (std::vector<detail::TransferId>{detail::TransferId(3)}));
  // The narrow bus still limits the first three.
  EXPECT_DOUBLE_EQ(links.rate(detail::TransferId(0)), 1e9);
}

TEST(LinkModel, ABusThatIsCrossedTwiceCountsTwice) {
  detail::Machine machine = two_nodes();
  auto const bus = machine.add_bus({"bus", 3e9});
  detail::LinkId const twice = add_link(machine, 8e9, 0, {bus, bus});
  detail::LinkId const once = add_link(machine, 8e9, 0, {bus});
  EXPECT_EQ(machine.bandwidth_alone(machine[twice]), 1.5e9);
  detail::LinkModel links(machine);
  links.start(detail::TransferId(0), twice, 1000, at(0));
  EXPECT_DOUBLE_EQ(links.rate(detail::TransferId(0)), 1.5e9);
  links.start(detail::TransferId(1), once, 1000, at(0));
  EXPECT_DOUBLE_EQ(links.rate(detail::TransferId(0)), 1e9);
  EXPECT_DOUBLE_EQ(links.rate(detail::TransferId(1)), 1e9);
}

// On random machines: no link or bus exceeds its bandwidth, and every transfer crosses a full one on which none is
// faster: max-min fairness.
TEST(LinkModel, IsMaxMinFairOnRandomMachines) {
  detail::Random random(5);
  for (int round = 0; round < 200; ++round) {
    detail::Machine machine = two_nodes();
    for (int b = 0; b < 4; ++b) machine.add_bus({"bus", 1e8 * static_cast<double>(1 + random.below(90))});
    for (int l = 0; l < 6; ++l) {
      std::vector<std::uint32_t> buses;
      for (std::uint32_t b = 0; b < 4; ++b) {
        for (std::uint64_t times = random.below(3); times > 0; --times) buses.push_back(b);
      }
      add_link(machine, 1e8 * static_cast<double>(1 + random.below(90)), 0, buses);
    }
    detail::LinkModel links(machine);
    std::vector<detail::LinkId> flows;
    for (std::uint64_t f = 0; f < 1 + random.below(12); ++f) {
      flows.push_back(detail::LinkId(static_cast<std::uint32_t>(random.below(6))));
      links.start(detail::TransferId(f), flows.back(), 1000000, at(0));
    }
    // Loads and the fastest flow of links (first) and buses (then).
    std::vector<double> load(10, 0.0);
    std::vector<double> fastest(10, 0.0);
    std::vector<double> capacity;
    for (auto const& link : machine.links) capacity.push_back(link.bandwidth);
    for (auto const& bus : machine.buses) capacity.push_back(bus.bandwidth);
    auto const crossed = [&](std::size_t flow) {
      std::vector<std::size_t> places{flows[flow].index()};
      for (auto const bus : machine[flows[flow]].buses) places.push_back(6 + bus);
      return places;
    };
    for (std::size_t f = 0; f < flows.size(); ++f) {
      for (auto const place : crossed(f)) {
        load[place] += links.rate(detail::TransferId(f));
        fastest[place] = std::max(fastest[place], links.rate(detail::TransferId(f)));
      }
    }
    for (std::size_t place = 0; place < load.size(); ++place) EXPECT_LE(load[place], capacity[place] * (1 + 1e-9));
    for (std::size_t f = 0; f < flows.size(); ++f) {
      bool held_back = false;
      for (auto const place : crossed(f)) {
        held_back = held_back || (load[place] >= capacity[place] * (1 - 1e-9) &&
                                  links.rate(detail::TransferId(f)) >= fastest[place] * (1 - 1e-9));
      }
      EXPECT_TRUE(held_back);
    }
  }
}

TEST(LinkModel, LatencyTakesNoBandwidth) {
  detail::Machine machine = two_nodes();
  auto const bus = machine.add_bus({"bus", 1e9});
  detail::LinkId const plain = add_link(machine, 1e9, 0, {bus});
  detail::LinkId const late = add_link(machine, 1e9, 600, {bus});
  detail::LinkModel links(machine);
  links.start(detail::TransferId(0), plain, 1000, at(0));
  links.start(detail::TransferId(1), late, 1000, at(0));
  // Alone until 600, then 400 bytes at 0.5: ends at 1400; the other has moved 400 by then and has 600 left at 1: 2000.
  EXPECT_EQ(ends(links), (Ends{{0, 1400}, {1, 2000}}));
}

TEST(LinkModel, EndsInOneInstantComeInTheOrderOfStarts) {
  detail::Machine machine = two_nodes();
  detail::LinkId const link = add_link(machine, 1e9);
  detail::LinkModel links(machine);
  for (std::uint64_t t : {5U, 3U, 4U}) links.start(detail::TransferId(t), link, 700, at(0));
  EXPECT_EQ(links.next_change(), at(2100));
  EXPECT_EQ(links.advance(at(2100)),
            (std::vector<detail::TransferId>{detail::TransferId(5), detail::TransferId(3), detail::TransferId(4)}));
}

TEST(LinkModel, PartsOfNanosecondsAreRoundedUp) {
  detail::Machine machine = two_nodes();
  detail::LinkId const link = add_link(machine, 3e9);
  detail::LinkModel links(machine);
  links.start(detail::TransferId(0), link, 10, at(0));
  EXPECT_EQ(ends(links), (Ends{{0, 4}}));
}

}  // namespace
}  // namespace granary::link_model_test
