// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random applications on emulated devices that fail an operation or disappear: the run ends with that error, and every
// home holds the value that the journal states.
#include "support/engine_player.hpp"
#include "support/seeds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>

namespace granary::test {

using namespace detail;

namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string text_of(EmulatedOperation const& operation) {
  static constexpr std::array names{"allocation ", "copy ", "launch "};
  return names[static_cast<std::size_t>(operation.step)] + std::to_string(operation.number) + " of device " +
         std::to_string(operation.device);
}

// Lets the first operation of a kind and number fail, on any device; `happened` tells whether one did.
template <class Thrown>
auto failing(EmulatedStep step, std::uint64_t number, char const* prefix,
             std::shared_ptr<std::atomic<bool>> happened = std::make_shared<std::atomic<bool>>(false)) {
  return [=](EmulatedOperation const& operation) {
    bool const meant = operation.step == step && operation.number == number;
    if (meant && !happened->exchange(true)) throw Thrown(prefix + text_of(operation));
  };
}

struct Tally {
  int failed = 0;
  std::uint64_t homes = 0;  // checked after a failure
};

// Whether inputs are brought before their task is committed (PlanBoard::want_inputs). If such a copy fails and no task
// waits for it yet, it is made again.
bool fetches_early(std::string const& scheduler) {
  return scheduler.starts_with("auto") || scheduler.starts_with("planned") ||
         scheduler.find("prefetch=assign") != std::string::npos;
}

template <class Thrown>
void play_with(EmulatedStep step, std::uint64_t first, char const* prefix) {
  Tally tally;
  Seeds const seeds(first, 150);
  for (auto seed = seeds.first; seed < seeds.end && !testing::Test::HasFailure(); ++seed) {
    auto const drawn = draw_device_case(seed, false);
    SCOPED_TRACE(drawn.describe());
    Random random(seed);
    auto const number = step == EmulatedStep::Allocate ? 1 + random.below(2) : random.below(20);  // 0: see below
    auto const happened = std::make_shared<std::atomic<bool>>(false);
    EnginePlayer player(drawn, {.before = failing<Thrown>(step, number, prefix, happened)});
    EXPECT_NO_THROW(player.play());
    if (step == EmulatedStep::Copy && fetches_early(drawn.scheduler)) {
      EXPECT_TRUE(*happened || !player.failed());
    } else if (step != EmulatedStep::Allocate) {
      EXPECT_EQ(player.failed(), *happened) << "no error is lost";
    }
    if (!player.failed()) continue;
    ++tally.failed;
    tally.homes += player.homes_checked();
    EXPECT_THAT(player.thrown(), HasSubstr(prefix));
  }
  if (seeds.few) return;
  EXPECT_GT(tally.failed, 20);
  EXPECT_GT(tally.homes, 20U);
}

TEST(DeviceFaults, ACopyThatFailsIsReportedAndCorruptsNothing) {
  play_with<DeviceError>(EmulatedStep::Copy, 60'001, "injected: ");
}

TEST(DeviceFaults, AKernelThatFailsIsReportedAndCorruptsNothing) {
  play_with<DeviceError>(EmulatedStep::Launch, 61'001, "injected: ");
}

TEST(DeviceFaults, ALaneThatGetsNoWorkspaceIsReportedAndCorruptsNothing) {
  play_with<DeviceError>(EmulatedStep::Allocate, 64'001, "injected: ");
}

TEST(DeviceFaults, ADeviceThatDisappearsInACopyEndsTheRunAndLeavesTheHostsDataAlone) {
  play_with<DeviceLost>(EmulatedStep::Copy, 62'001, "gone in ");
}

TEST(DeviceFaults, ADeviceThatDisappearsInAKernelEndsTheRunAndLeavesTheHostsDataAlone) {
  play_with<DeviceLost>(EmulatedStep::Launch, 63'001, "gone in ");
}

TEST(DeviceFaults, AnEngineThatIsDestroyedMidwayEndsWhatIsUnderWayWhetherItsDevicesAreThereOrNot) {
  Seeds const seeds(65'001, 200);
  for (auto seed = seeds.first; seed < seeds.end && !HasFailure(); ++seed) {
    auto const drawn = draw_device_case(seed, false);
    SCOPED_TRACE(drawn.describe());
    Random random(seed);
    auto const step = random.chance(0.5) ? EmulatedStep::Copy : EmulatedStep::Launch;
    EnginePlayer player(drawn, {.before = failing<DeviceLost>(step, random.below(40), "gone in ")});
    EXPECT_NO_THROW(player.abandon());
  }
}

TEST(DeviceFaults, ADeviceWithoutTheMemoryIsRefusedWithTheNumbers) {
  auto const api = make_emulated_api({.memory = 1_MiB});
  DeviceMemory const most(api, 0, 768_KiB);
  try {
    DeviceMemory const more(api, 0, 512_KiB);
    FAIL() << "nothing was thrown";
  } catch (DeviceError const& error) {
    EXPECT_THAT(error.what(), HasSubstr("512.0 KiB"));
    EXPECT_THAT(error.what(), HasSubstr("256.0 KiB"));
  }
}

TEST(DeviceFaults, AnAllocationThatFailsIsThrownByTheConstructionAndTheNextOneWorks) {
  auto const drawn = draw_device_case(7, false);
  try {
    EnginePlayer const player(drawn, {.before = failing<DeviceError>(EmulatedStep::Allocate, 0, "injected: ")});
    FAIL() << "nothing was thrown";
  } catch (DeviceError const& error) {
    EXPECT_THAT(error.what(), StartsWith("injected: allocation 0 of device 0"));
  }
  EXPECT_NO_THROW(EnginePlayer(drawn).play());
}

// A host with a value and one device; `lost_at`: the copy in which the device disappears.
struct OneDevice {
  Machine machine;
  std::uint64_t value = 41;
  DataId data;
  CodeletId add_one;
  std::unique_ptr<Engine> engine;

  explicit OneDevice(std::optional<std::uint64_t> lost_at) {
    auto const host = machine.add_node({"host memory", NodeKind::Host, 1_MiB, 64});
    auto const device = machine.add_node({"device 0", NodeKind::Device, 1_MiB, 256});
    machine.add_link_pair(host, device, 1e9);
    machine.add_worker({.name = "device 0 lane 0", .node = device, .kind = WorkerKind::Device});
    auto const api = make_emulated_api({.before = [=](EmulatedOperation const& operation) {
      if (operation.step == EmulatedStep::Copy && operation.number == lost_at) throw DeviceLost("fell off the bus");
    }});
    auto const pinned = std::make_shared<PinnedMemory>(api);
    DeviceCopies copies(api, pinned);
    EngineBackends backends;
    backends.copies = {copies.link(host_end, 0), copies.link(0, host_end)};
    backends.devices = std::make_shared<DeviceLauncher>(api, LauncherOptions{.device_of = {0}});
    backends.memories = {nullptr, std::make_shared<DeviceMemory>(api, 0, 1_MiB)};
    EngineOptions options;
    options.planner.write_back_early = false;
    engine = std::make_unique<Engine>(Topology(machine), make_policies("eager", "lru"),
                                      std::make_unique<AveragingEstimator>(), std::move(backends), options);
    auto* const address = reinterpret_cast<std::byte*>(&value);
    data = engine->add_data({.name = "x", .bytes = 8, .origin = host, .home = host, .origin_is_home = true},
                            {address, address, nullptr, {}}, nullptr);
    add_one = engine->add_codelet(
        {.name = "add one",
         .kernels = {[](KernelCall const& call) { ++*reinterpret_cast<std::uint64_t*>(call.data[0]); }, nullptr},
         .launches_kokkos_kernels = false});
  }
  void submit() { engine->submit({add_one, std::array{Access{data, AccessMode::ReadWrite}}, 0, 0}, {}); }
};

TEST(DeviceFaults, AValueThatWasOnTheLostDeviceAloneIsPoisonedAndItsHomeKeepsTheOldOne) {
  OneDevice lost(1);
  lost.submit();
  try {
    lost.engine->wait();
    FAIL() << "nothing was thrown";
  } catch (DeviceLost const& error) {
    EXPECT_THAT(error.what(), HasSubstr("fell off the bus"));
  }
  EXPECT_EQ(lost.value, 41U);
  bool named = false;
  for (auto const& failure : lost.engine->failures()) named = named || !failure.poisoned.empty();
  EXPECT_TRUE(named) << "the failure names what was lost";
  EXPECT_NO_THROW(lost.engine->wait());
  EXPECT_THROW(lost.submit(), InvalidArgument);
}

TEST(DeviceFaults, AValueThatNeverReachedTheLostDeviceStaysAndAnotherEngineCanUseIt) {
  OneDevice lost(0);
  for (int i = 0; i < 5; ++i) lost.submit();
  EXPECT_THROW(lost.engine->wait(), DeviceLost);
  EXPECT_EQ(lost.value, 41U);
  lost.submit();  // the value is kept; only the device does not come back
  EXPECT_THROW(lost.engine->wait(), DeviceLost);
  EXPECT_NO_THROW(lost.engine->wait());

  OneDevice sound(std::nullopt);
  sound.submit();
  sound.engine->wait();
  EXPECT_EQ(sound.value, 42U);
}

}  // namespace
}  // namespace granary::test
