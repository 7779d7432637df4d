// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What policies are told of transfers.
#include "hand.hpp"

namespace granary::test {
namespace {

// A disk of 1 GB/s, a host, a device with a link of 10 GB/s and 3 us from the host and 5 us back.
detail::Machine disk_host_and_device() {
  detail::Machine machine;
  NodeId const disk = machine.add_node({.name = "disk", .kind = detail::NodeKind::Disk});
  NodeId const host = machine.add_node({.name = "host", .capacity = 1_MiB});
  NodeId const device = machine.add_node({.name = "device", .kind = detail::NodeKind::Device, .capacity = 1_MiB});
  machine.add_link_pair(disk, host, 1e9);
  machine.add_link({.from = host, .to = device, .bandwidth = 1e10, .latency = Duration{3000}});
  machine.add_link({.from = device, .to = host, .bandwidth = 1e10, .latency = Duration{5000}});
  machine.add_worker({.name = "gpu", .node = device, .kind = detail::WorkerKind::Device});
  return machine;
}

TEST(PolicyView, TellsTheTimeOfReloadingAfterAnEviction) {
  Hand hand(disk_host_and_device());
  auto const& view = hand.planner.view();
  DataId const read_only = hand.stored("read", 100'000);
  DataId const written = hand.stored("written", 100'000);
  DataId const temporary = hand.temporary("temporary", 10'000);
  hand.submit({read(read_only), read_write(written), write(temporary)});
  hand.submit({read(read_only), read(written), read(temporary)});
  hand.finish_copies();
  hand.finish(hand.runs.front().task);
  // From the host, where it is still; the disk is further away.
  ASSERT_TRUE(view.valid(read_only, host_node));
  EXPECT_EQ(view.transfer_time(read_only, device_node), Duration{0});
  EXPECT_EQ(view.reload_time(read_only, device_node), Duration{3000 + 10'000});
  // From the disk, if it is evicted from the host; the device's replica is as near as its link allows.
  EXPECT_EQ(view.reload_time(read_only, host_node), Duration{5000 + 10'000});
  // To the host and back: no other replica of these is valid.
  ASSERT_FALSE(view.valid(written, host_node) || view.valid(written, disk_node));
  EXPECT_EQ(view.reload_time(written, device_node), Duration{5000 + 10'000 + 3000 + 10'000});
  EXPECT_EQ(view.reload_time(temporary, device_node), Duration{5000 + 1000 + 3000 + 1000});
  // On a node without a replica it is the time of a transfer.
  EXPECT_EQ(view.reload_time(written, host_node), view.transfer_time(written, host_node));
}

TEST(PolicyView, AValueThatCanGoNowhereHasNoReloadTime) {
  detail::Machine machine;
  NodeId const host = machine.add_node({.name = "host", .capacity = 1_MiB});
  machine.add_worker({.name = "cpu", .node = host});
  Hand hand(std::move(machine));
  DataId const temporary = hand.temporary("temporary", 1000);
  hand.submit({write(temporary)});
  hand.submit({read(temporary)});
  hand.finish(hand.runs.front().task);
  EXPECT_FALSE(hand.planner.view().evictable(temporary, host));
  EXPECT_EQ(hand.planner.view().reload_time(temporary, host), Duration{0});
}

}  // namespace
}  // namespace granary::test
