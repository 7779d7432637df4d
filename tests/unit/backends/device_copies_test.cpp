// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/device_copies.hpp>

#include <granary/detail/core/backends/emulated_api.hpp>
#include <granary/detail/core/backends/staged_copies.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace granary {

using namespace detail;

namespace {

// Two emulated devices with a slab each, and the copies between them and the host.
struct Devices {
  explicit Devices(EmulatedOptions options = {}, Bytes slab = 40_MiB) {
    options.devices = 2;
    options.memory = slab;
    api = make_emulated_api(options);
    pinned = std::make_shared<PinnedMemory>(api);
    for (int d = 0; d < 2; ++d) slabs.push_back(std::make_unique<DeviceMemory>(api, d, slab));
    copies = std::make_unique<DeviceCopies>(api, pinned);
  }
  // Waits; throws the copy's error.
  static void copy(CopyBackend& link, CopyRequest const& request) {
    std::promise<void> ended;
    link.copy_async(request, [&](std::exception_ptr error) {
      if (error) {
        ended.set_exception(error);
      } else {
        ended.set_value();
      }
    });
    ended.get_future().get();
  }

  std::shared_ptr<DeviceApi> api;
  std::shared_ptr<PinnedMemory> pinned;
  std::vector<std::unique_ptr<DeviceMemory>> slabs;
  std::unique_ptr<DeviceCopies> copies;
};

Place const home{NodeId(0), Slot::Home};
Place pool(std::uint32_t node) { return {NodeId(node), Slot::Pool, 0}; }

std::vector<std::byte> numbered(std::size_t bytes) {
  std::vector<std::byte> result(bytes);
  for (std::size_t i = 0; i < bytes; ++i) result[i] = static_cast<std::byte>((i * 2654435761u) >> 13);
  return result;
}

TEST(DeviceCopies, MemoryThatIsNotPinnedGoesThroughStagingPieceByPiece) {
  Devices devices;
  auto const down = devices.copies->link(host_end, 0);
  auto const up = devices.copies->link(0, host_end);
  // More than the ring holds, and not a multiple of a slot.
  Bytes const bytes = StagedCopies::slot_bytes * StagedCopies::most_slots + 12345;
  auto const out = numbered(bytes);
  std::vector<std::byte> in(bytes);
  Devices::copy(*down, {DataId(0), home, pool(1), out.data(), devices.slabs[0]->base(), bytes});
  Devices::copy(*up, {DataId(0), pool(1), home, devices.slabs[0]->base(), in.data(), bytes});
  EXPECT_TRUE(in == out);
}

// A datum of lines with gaps at home goes to device 0, from there to device 1, and back home.
void expect_round_trip(Lines lines, bool pinned) {
  Devices devices;
  auto const out = numbered(lines.count * lines.pitch);
  std::vector<std::byte> in(out.size(), std::byte{0xee});
  if (pinned) {
    devices.pinned->add(const_cast<std::byte*>(out.data()), out.size());
    devices.pinned->add(in.data(), in.size());
  }
  Bytes const bytes = lines.count * lines.packed;
  auto* const first = devices.slabs[0]->base();
  auto* const second = devices.slabs[1]->base();
  Devices::copy(*devices.copies->link(host_end, 0), {DataId(0), home, pool(1), out.data(), first, bytes, lines});
  for (std::uint64_t i = 0; i < lines.count; ++i) {
    ASSERT_TRUE(std::equal(first + i * lines.packed, first + i * lines.packed + lines.line,
                           out.begin() + static_cast<std::ptrdiff_t>(i * lines.pitch)));
  }
  Devices::copy(*devices.copies->link(0, 1), {DataId(0), pool(1), pool(2), first, second, bytes, lines});
  Devices::copy(*devices.copies->link(1, host_end), {DataId(0), pool(2), home, second, in.data(), bytes, lines});
  std::vector<std::byte> expected(out.size(), std::byte{0xee});
  for (std::uint64_t i = 0; i < lines.count; ++i) {
    std::copy_n(out.data() + i * lines.pitch, lines.line, expected.data() + i * lines.pitch);
  }
  EXPECT_TRUE(in == expected);
}

TEST(DeviceCopies, LinesWithGapsArePackedOnTheWay) {
  Lines const lines{.line = 3000, .count = 4000, .pitch = 3008, .packed = 3000};
  expect_round_trip(lines, false);
  expect_round_trip(lines, true);
}

TEST(DeviceCopies, ALineMayBeLongerThanAStagingSlot) {
  Bytes const line = StagedCopies::slot_bytes + 4096;
  expect_round_trip({.line = line, .count = 3, .pitch = line + 64, .packed = line}, false);
}

TEST(DeviceCopies, LinesThatArePackedMoreLooselyInPoolsKeepTheirDistance) {
  expect_round_trip({.line = 100, .count = 50, .pitch = 300, .packed = 128}, false);
  expect_round_trip({.line = 100, .count = 50, .pitch = 300, .packed = 128}, true);
}

TEST(DeviceCopies, WhatLiesBetweenLinesAtHomeStaysWhereItIsAsFarApartInPools) {
  expect_round_trip({.line = 100, .count = 50, .pitch = 128, .packed = 128}, false);
  expect_round_trip({.line = 100, .count = 50, .pitch = 128, .packed = 128}, true);
  expect_round_trip({.line = 100, .count = 50, .pitch = 100, .packed = 100}, true);
}

TEST(DeviceCopies, ADatumOfNoBytesArrives) {
  Devices devices;
  std::byte nothing{};
  Devices::copy(*devices.copies->link(host_end, 0), {DataId(0), home, pool(1), &nothing, devices.slabs[0]->base(), 0});
}

TEST(DeviceCopies, ALinkThatFailsDoesNotStopTheOthers) {
  EmulatedOptions options;
  options.before = [](EmulatedOperation const& operation) {
    if (operation.step == EmulatedStep::Copy && operation.device == 0 && operation.number == 1) {
      throw DeviceError("the second copy of device 0 fails");
    }
  };
  Devices devices(options);
  for (bool const pinned : {true, false}) {
    auto value = numbered(1000);
    if (pinned) devices.pinned->add(value.data(), value.size());
    auto const first = devices.copies->link(host_end, 0);
    auto const second = devices.copies->link(host_end, 1);
    CopyRequest const to_first{DataId(0), home, pool(1), value.data(), devices.slabs[0]->base(), 1000};
    CopyRequest const to_second{DataId(0), home, pool(2), value.data(), devices.slabs[1]->base(), 1000};
    Devices::copy(*first, to_first);
    if (pinned) {
      EXPECT_THROW(Devices::copy(*first, to_first), DeviceError);
      devices.pinned->remove(value.data());
    }
    Devices::copy(*first, to_first);
    Devices::copy(*second, to_second);
  }
}

TEST(DeviceCopies, APieceThatFailsFailsItsCopyOnce) {
  EmulatedOptions options;
  options.before = [](EmulatedOperation const& operation) {
    if (operation.step == EmulatedStep::Copy && operation.number == 2) throw DeviceError("the third copy fails");
  };
  Devices devices(options);
  auto value = numbered(36_MiB);
  auto const down = devices.copies->link(host_end, 0);
  CopyRequest const request{DataId(0), home, pool(1), value.data(), devices.slabs[0]->base(), value.size()};
  EXPECT_THROW(Devices::copy(*down, request), DeviceError);
  Devices::copy(*down, request);
  EXPECT_TRUE(std::equal(value.begin(), value.end(), devices.slabs[0]->base()));
}

TEST(DeviceCopies, ADeviceThatIsGoneFailsAllItsCopies) {
  EmulatedOptions options;
  options.before = [](EmulatedOperation const& operation) {
    if (operation.step == EmulatedStep::Copy && operation.device == 0) throw DeviceLost("unplugged");
  };
  Devices devices(options);
  std::vector<std::byte> value(1000);
  auto* const base = devices.slabs[0]->base();
  auto* const other = devices.slabs[1]->base();
  auto const down = devices.copies->link(host_end, 0);
  auto const across = devices.copies->link(1, 0);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(Devices::copy(*down, {DataId(0), home, pool(1), value.data(), base, 1000}), DeviceLost);
  }
  EXPECT_THROW(Devices::copy(*across, {DataId(0), pool(2), pool(1), other, base, 1000}), DeviceLost);
  Devices::copy(*devices.copies->link(host_end, 1), {DataId(0), home, pool(2), value.data(), other, 1000});
}

TEST(DeviceCopies, ManyThreadsMayAskForCopiesOfAllLinks) {
  Devices devices;
  auto value = numbered(1_MiB);
  std::vector<std::byte> pinned_value = value;
  devices.pinned->add(pinned_value.data(), pinned_value.size());
  std::vector<std::shared_ptr<CopyBackend>> const links{devices.copies->link(host_end, 0),
                                                        devices.copies->link(host_end, 1)};
  std::atomic<int> ended = 0, failed = 0;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 8; ++i) {
        auto* const to = devices.slabs[t % 2]->base() + (t / 2 * 8 + i) * 1_MiB;
        auto const& from = i % 2 == 0 ? value : pinned_value;
        links[t % 2]->copy_async({DataId(0), home, pool(1), from.data(), to, 1_MiB}, [&](std::exception_ptr error) {
          if (error) ++failed;
          ++ended;
        });
      }
    });
  }
  for (auto& thread : threads) thread.join();
  while (ended < 32) std::this_thread::yield();
  EXPECT_EQ(failed, 0);
  for (auto const& slab : devices.slabs) {
    for (std::size_t i = 0; i < 16; ++i) {
      EXPECT_TRUE(std::equal(value.begin(), value.end(), slab->base() + i * 1_MiB));
    }
  }
}

TEST(DeviceCopies, LinksThatCannotBeAreRefused) {
  Devices devices;
  EXPECT_THROW((void)devices.copies->link(host_end, 2), InvalidArgument);
  EXPECT_THROW((void)devices.copies->link(-2, 0), InvalidArgument);
  EXPECT_THROW((void)devices.copies->link(1, 1), InvalidArgument);
  EXPECT_THROW((void)devices.copies->link(host_end, host_end), InvalidArgument);
}

}  // namespace
}  // namespace granary
