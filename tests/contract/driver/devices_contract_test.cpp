// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random applications on a host with emulated devices and a disk, with hard limits on each. A failure prints its seed;
// tests/support/seeds.hpp describes how to run one seed alone, or many more.
#include "support/engine_player.hpp"
#include "support/seeds.hpp"

#include <gtest/gtest.h>

#include <set>

namespace granary::test {

using namespace detail;

namespace {

std::uint64_t bytes_between_devices(Engine& engine) {
  auto const& machine = engine.topology().machine();
  auto const statistics = engine.statistics();
  std::uint64_t bytes = 0;
  for (std::size_t l = 0; l < machine.links.size(); ++l) {
    auto const& link = machine.links[l];
    bool const peers = machine[link.from].kind == NodeKind::Device && machine[link.to].kind == NodeKind::Device;
    if (peers) bytes += statistics.planner.links[l].bytes;
  }
  return bytes;
}

TEST(DeviceContract, EveryReadSeesTheLastWriteAndHomesHoldTheLastValues) {
  std::uint64_t between_devices = 0, homes = 0;
  std::set<std::string> schedulers;
  Seeds const seeds(1, 600);
  for (auto seed = seeds.first; seed < seeds.end && !HasFailure(); ++seed) {
    auto const drawn = draw_device_case(seed, false);
    SCOPED_TRACE(drawn.describe());
    EnginePlayer player(drawn);
    ASSERT_NO_THROW(player.play());
    between_devices += bytes_between_devices(player.engine());
    homes += player.homes_checked();
    schedulers.insert(drawn.scheduler);
  }
  if (seeds.few) return;
  EXPECT_GT(between_devices, 0U);
  EXPECT_GT(homes, 1000U);
  EXPECT_EQ(schedulers.size(), tested_schedulers().size());
}

TEST(DeviceContract, FailingTasksLeaveTheRestAlone) {
  int failed = 0;
  std::uint64_t redefining = 0;
  Seeds const seeds(50'001, 200);
  for (auto seed = seeds.first; seed < seeds.end && !HasFailure(); ++seed) {
    auto const drawn = draw_device_case(seed, true);
    SCOPED_TRACE(drawn.describe());
    EnginePlayer player(drawn);
    ASSERT_NO_THROW(player.play());
    failed += player.failed() ? 1 : 0;
    redefining += player.redefining_tasks();
  }
  if (seeds.few) return;
  EXPECT_GT(failed, 20);
  EXPECT_GT(redefining, 20U);
}

}  // namespace
}  // namespace granary::test
