// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contract of every backend that performs copies, for all memories at both ends.
#include "support/faulty_storage.hpp"

#include <granary/detail/core/backends/device_copies.hpp>
#include <granary/detail/core/backends/device_memory.hpp>
#include <granary/detail/core/backends/emulated_api.hpp>
#include <granary/detail/core/backends/host_copy_backend.hpp>
#include <granary/detail/outofcore/disk_node.hpp>

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

namespace granary::test {

using namespace detail;

namespace {

class Latch {
 public:
  CopyCompletion expect() {
    ++m_expected;
    return [this](std::exception_ptr error) {
      std::lock_guard const lock(m_mutex);
      ++m_ended;
      if (error) ++m_failed;
      m_changed.notify_one();
    };
  }
  int ended() {
    std::lock_guard const lock(m_mutex);
    return m_ended;
  }
  int wait() {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return m_ended == m_expected; });
    return m_failed;
  }

 private:
  std::mutex m_mutex;
  std::condition_variable m_changed;
  int m_expected = 0, m_ended = 0, m_failed = 0;
};

enum class Kind { Memory, Disk, Device, DevicePinned };

// The near end is the host's memory.
class CopyBackendContract : public testing::TestWithParam<Kind> {
 protected:
  CopyBackendContract() {
    switch (GetParam()) {
      case Kind::Memory:
        m_there = m_back = std::make_shared<HostCopyBackend>();
        m_host.resize(far_bytes);
        m_far = m_host.data();
        break;
      case Kind::Disk:
        m_there = m_back = std::make_shared<DiskNode>([] { return std::make_unique<MemoryStorage>(); });
        break;
      case Kind::Device:
      case Kind::DevicePinned:
        m_api = make_emulated_api({.memory = far_bytes});
        m_pinned = std::make_shared<PinnedMemory>(m_api);
        m_device = std::make_unique<DeviceMemory>(m_api, 0, far_bytes);
        m_far = m_device->base();
        DeviceCopies copies(m_api, m_pinned);
        m_there = copies.link(host_end, 0);
        m_back = copies.link(0, host_end);
        break;
    }
  }
  // From `near` to the far end at `offset`, and back.
  CopyRequest there(std::vector<std::byte>& near, Bytes offset) {
    if (GetParam() == Kind::DevicePinned) m_pinned->add(near.data(), near.size());
    auto* far = m_far == nullptr ? nullptr : m_far + offset;
    return {DataId(0), {NodeId(0)}, {NodeId(1), Slot::Pool, offset}, near.data(), far, near.size()};
  }
  CopyRequest back(std::vector<std::byte>& near, Bytes offset) {
    if (GetParam() == Kind::DevicePinned) m_pinned->add(near.data(), near.size());
    auto const* far = m_far == nullptr ? nullptr : m_far + offset;
    return {DataId(0), {NodeId(1), Slot::Pool, offset}, {NodeId(0)}, far, near.data(), near.size()};
  }

  static constexpr Bytes far_bytes = 1_MiB;
  std::vector<std::byte> m_host;
  std::shared_ptr<DeviceApi> m_api;
  std::shared_ptr<PinnedMemory> m_pinned;
  std::unique_ptr<DeviceMemory> m_device;
  std::byte* m_far = nullptr;
  std::shared_ptr<CopyBackend> m_there, m_back;
};

TEST_P(CopyBackendContract, ManyCopiesUnderWayAtOnceKeepTheirBytes) {
  constexpr std::size_t count = 64, bytes = 16384;
  std::vector<std::vector<std::byte>> out, in(count, std::vector<std::byte>(bytes));
  Latch latch;
  for (std::size_t i = 0; i < count; ++i) out.emplace_back(bytes, static_cast<std::byte>(i + 1));
  for (std::size_t i = 0; i < count; ++i) m_there->copy_async(there(out[i], i * bytes), latch.expect());
  EXPECT_EQ(latch.wait(), 0);
  for (std::size_t i = 0; i < count; ++i) m_back->copy_async(back(in[i], i * bytes), latch.expect());
  EXPECT_EQ(latch.wait(), 0);
  EXPECT_TRUE(in == out);
}

TEST_P(CopyBackendContract, ACompletionMayAskForTheNextCopy) {
  std::vector<std::byte> out(4096, std::byte{7}), in(4096);
  Latch latch;
  auto const arrived = latch.expect();
  m_there->copy_async(there(out, 4096), [&](std::exception_ptr error) {
    if (error) return arrived(error);
    m_back->copy_async(back(in, 4096), arrived);
  });
  EXPECT_EQ(latch.wait(), 0);
  EXPECT_TRUE(in == out);
}

TEST_P(CopyBackendContract, WhatWasAskedForIsPerformedBeforeTheEnd) {
  std::vector<std::byte> out(65536, std::byte{3});
  Latch latch;
  for (Bytes i = 0; i < 16; ++i) m_there->copy_async(there(out, i * out.size()), latch.expect());
  m_there.reset();
  m_back.reset();
  EXPECT_EQ(latch.ended(), 16);
  EXPECT_EQ(latch.wait(), 0);
}

TEST_P(CopyBackendContract, ACopyWithoutAnAddressIsRefused) {
  std::vector<std::byte> near(8);
  auto request = there(near, 0);
  request.source = nullptr;
  request.destination = nullptr;
  EXPECT_THROW(m_there->copy_async(request, [](std::exception_ptr) { FAIL(); }), InternalError);
}

INSTANTIATE_TEST_SUITE_P(All, CopyBackendContract,
                         testing::Values(Kind::Memory, Kind::Disk, Kind::Device, Kind::DevicePinned));

TEST(DiskNode, FailuresOfTheStorageArrive) {
  MemoryStorage memory;
  auto const storage = std::make_shared<FaultyStorage>(memory, Faults{.fail_read = 1, .fail_write = 2});
  DiskNode node([]() -> std::unique_ptr<Storage> { throw IoError("cannot create", "scratch", 0, 28); });
  node.bind(DataId(0), {storage, 0}, {storage, 1});
  std::vector<std::byte> value(8);
  Latch latch;
  node.copy_async({DataId(0), {NodeId(0)}, {NodeId(1), Slot::Home}, value.data(), nullptr, 8}, latch.expect());
  EXPECT_EQ(latch.wait(), 0);
  node.copy_async({DataId(0), {NodeId(0)}, {NodeId(1), Slot::Home}, value.data(), nullptr, 8}, latch.expect());
  EXPECT_EQ(latch.wait(), 1);
  node.copy_async({DataId(0), {NodeId(1), Slot::Origin}, {NodeId(0)}, nullptr, value.data(), 8}, latch.expect());
  EXPECT_EQ(latch.wait(), 2);
  EXPECT_THROW(node.copy_async({DataId(0), {NodeId(0)}, {NodeId(1)}, value.data(), nullptr, 8}, latch.expect()),
               IoError);
}

TEST(DiskNode, KeepsAStorageUntilTheLastDatumIsForgottenAndCollected) {
  DiskNode node([] { return std::make_unique<MemoryStorage>(); });
  auto const storage = std::make_shared<MemoryStorage>();
  node.bind(DataId(0), {storage, 0}, {});
  node.bind(DataId(1), {storage, 1}, {storage, 1});
  node.forget(DataId(0));
  node.collect();
  EXPECT_EQ(storage.use_count(), 2);
  node.forget(DataId(1));
  node.forget(DataId(1));
  EXPECT_EQ(storage.use_count(), 2);
  node.collect();
  EXPECT_EQ(storage.use_count(), 1);
}

}  // namespace
}  // namespace granary::test
