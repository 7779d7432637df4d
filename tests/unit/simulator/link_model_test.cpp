// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every figure here is computed by hand. Bandwidths are in bytes per second: 1e9 is one byte per nanosecond.
#include <granary/simulator/link_model.hpp>

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace granary {
namespace {

Machine two_nodes() {
  Machine machine;
  machine.add_node({.name = "a"});
  machine.add_node({.name = "b"});
  return machine;
}

LinkId add_link(Machine& machine, double bandwidth, long long latency = 0, std::uint32_t bus = 0) {
  return machine.add_link({.from = NodeId(0),
                           .to = NodeId(1),
                           .bandwidth = bandwidth,
                           .latency = Duration(latency),
                           .bus = bus,
                           .width = 9});
}

Instant at(long long nanoseconds) { return Instant(Duration(nanoseconds)); }

/// Lets everything end; the instants, in nanoseconds, by transfer.
std::map<std::uint64_t, long long> ends(LinkModel& links) {
  std::map<std::uint64_t, long long> found;
  while (auto const next = links.next_change()) {
    for (TransferId const transfer : links.advance(*next)) found[transfer.value()] = next->time_since_epoch().count();
  }
  return found;
}

using Ends = std::map<std::uint64_t, long long>;

TEST(LinkModel, IsIdleAtFirst) {
  Machine const machine = two_nodes();
  LinkModel links(machine);
  EXPECT_TRUE(links.idle());
  EXPECT_FALSE(links.next_change().has_value());
}

TEST(LinkModel, AloneATransferTakesLatencyAndBytesOverBandwidth) {
  Machine machine = two_nodes();
  LinkId const link = add_link(machine, 1e9, 500);
  LinkModel links(machine);
  links.start(TransferId(7), link, 1000, at(100));
  EXPECT_FALSE(links.idle());
  EXPECT_EQ(links.rate(TransferId(7)), 0);
  EXPECT_EQ(links.next_change(), at(600));
  EXPECT_TRUE(links.advance(at(600)).empty());
  EXPECT_EQ(links.rate(TransferId(7)), 1e9);
  EXPECT_EQ(ends(links), (Ends{{7, 1600}}));
  EXPECT_TRUE(links.idle());
}

TEST(LinkModel, TransfersOfOneLinkShareItsBandwidth) {
  Machine machine = two_nodes();
  LinkId const link = add_link(machine, 1e9);
  LinkModel links(machine);
  links.start(TransferId(0), link, 1000, at(0));
  // 400 bytes have flowed; then both flow at half the speed: 600 more bytes take 1200 ns, while the other moves 600 of
  // its 1000.
  links.start(TransferId(1), link, 1000, at(400));
  EXPECT_EQ(links.rate(TransferId(0)), 5e8);
  EXPECT_EQ(ends(links), (Ends{{0, 1600}, {1, 2000}}));
}

TEST(LinkModel, LinksWithoutABusDoNotDisturbEachOther) {
  Machine machine = two_nodes();
  LinkId const first = add_link(machine, 1e9);
  LinkId const second = add_link(machine, 2e9);
  LinkModel links(machine);
  links.start(TransferId(0), first, 1000, at(0));
  links.start(TransferId(1), second, 1000, at(0));
  EXPECT_EQ(ends(links), (Ends{{0, 1000}, {1, 500}}));
}

TEST(LinkModel, LinksOfABusShareTheFastestOnesBandwidth) {
  Machine machine = two_nodes();
  LinkId const first = add_link(machine, 2e9, 0, 3);
  LinkId const second = add_link(machine, 2e9, 0, 3);
  LinkModel links(machine);
  links.start(TransferId(0), first, 1000, at(0));
  links.start(TransferId(1), second, 3000, at(0));
  // 1 byte/ns each until 1000; then 2000 bytes at 2 bytes/ns.
  EXPECT_EQ(ends(links), (Ends{{0, 1000}, {1, 2000}}));
}

TEST(LinkModel, WhatASlowLinkCannotUseGoesToTheOthers) {
  Machine machine = two_nodes();
  LinkId const slow = add_link(machine, 1e9, 0, 1);
  LinkId const fast = add_link(machine, 8e9, 0, 1);
  LinkModel links(machine);
  links.start(TransferId(0), slow, 1000, at(0));
  links.start(TransferId(1), fast, 7000, at(0));
  links.start(TransferId(2), fast, 14000, at(0));
  // The slow link takes 1 of the bus' 8 bytes/ns, the other two share 7: 3.5 each.
  EXPECT_EQ(links.rate(TransferId(0)), 1e9);
  EXPECT_EQ(links.rate(TransferId(1)), 3.5e9);
  EXPECT_EQ(links.rate(TransferId(2)), 3.5e9);
  // At 1000 the slow one ends, and each of the others has moved 3500. 3500 more at 4/ns: 1875. The last: 7000 left at
  // 8/ns: 2750.
  EXPECT_EQ(ends(links), (Ends{{0, 1000}, {1, 1875}, {2, 2750}}));
}

TEST(LinkModel, LatencyTakesNoBandwidth) {
  Machine machine = two_nodes();
  LinkId const plain = add_link(machine, 1e9, 0, 1);
  LinkId const late = add_link(machine, 1e9, 600, 1);
  LinkModel links(machine);
  links.start(TransferId(0), plain, 1000, at(0));
  links.start(TransferId(1), late, 1000, at(0));
  // Alone until 600, then 400 bytes at 0.5: ends at 1400; the other has moved 400 by then and has 600 left at 1: 2000.
  EXPECT_EQ(ends(links), (Ends{{0, 1400}, {1, 2000}}));
}

TEST(LinkModel, EndsInOneInstantComeInTheOrderOfStarts) {
  Machine machine = two_nodes();
  LinkId const link = add_link(machine, 1e9);
  LinkModel links(machine);
  for (std::uint64_t t : {5U, 3U, 4U}) links.start(TransferId(t), link, 700, at(0));
  EXPECT_EQ(links.next_change(), at(2100));
  EXPECT_EQ(links.advance(at(2100)), (std::vector<TransferId>{TransferId(5), TransferId(3), TransferId(4)}));
}

TEST(LinkModel, PartsOfNanosecondsAreRoundedUp) {
  Machine machine = two_nodes();
  LinkId const link = add_link(machine, 3e9);
  LinkModel links(machine);
  links.start(TransferId(0), link, 10, at(0));
  EXPECT_EQ(ends(links), (Ends{{0, 4}}));
}

}  // namespace
}  // namespace granary
