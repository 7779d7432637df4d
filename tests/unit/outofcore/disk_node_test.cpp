// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/deadline.hpp"
#include "support/faulty_storage.hpp"
#include "support/io_support.hpp"

#include <granary/detail/outofcore/disk_node.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstring>
#include <thread>

namespace granary::test {

using namespace detail;

namespace {

constexpr NodeId host(0), disk(1);

void copy(DiskNode& node, CopyRequest const& request) {
  std::promise<void> ended;
  node.copy_async(request,
                  [&](std::exception_ptr error) { error ? ended.set_exception(std::move(error)) : ended.set_value(); });
  ended.get_future().get();
}

void write_to_scratch(DiskNode& node, DataId data, Bytes offset, AlignedMemory const& value) {
  copy(node, {.data = data,
              .from = {host, Slot::Pool, 0},
              .to = {disk, Slot::Pool, offset},
              .source = value.data(),
              .bytes = value.size()});
}
void read_from_scratch(DiskNode& node, DataId data, Bytes offset, AlignedMemory const& value) {
  copy(node, {.data = data,
              .from = {disk, Slot::Pool, offset},
              .to = {host, Slot::Pool, 0},
              .destination = value.data(),
              .bytes = value.size()});
}

// `bind` and `forget` are called under the engine's lock: neither may wait for a file.
TEST(DiskNode, HoldsNothingWhileScratchIsOpened) {
  require_end("opening scratch", [] {
    DiskNode* opened = nullptr;
    DiskNode node([&] {
      opened->bind(DataId(7), {}, {});
      opened->forget(DataId(7));
      opened->collect();
      return std::make_unique<MemoryStorage>();
    });
    opened = &node;
    AlignedMemory value(100);
    write_to_scratch(node, DataId(0), 0, value);
  });
}

TEST(DiskNode, FirstValuesThatGoToScratchAtTheSameTimeGoToOne) {
  require_end("opening scratch", [] {
    std::barrier both(2);
    std::atomic<int> opened = 0;
    DiskNode node([&] {
      if (++opened <= 2) both.arrive_and_wait();  // each before the other has opened one
      return std::make_unique<MemoryStorage>();
    });
    {
      std::vector<std::jthread> threads;
      for (std::uint32_t i = 0; i < 2; ++i) {
        threads.emplace_back([&, i] {
          AlignedMemory value(8);
          *value.as<std::uint64_t>() = 40 + i;
          write_to_scratch(node, DataId(i), i * io_alignment, value);
        });
      }
    }
    for (std::uint32_t i = 0; i < 2; ++i) {
      AlignedMemory value(8);
      read_from_scratch(node, DataId(i), i * io_alignment, value);
      EXPECT_EQ(*value.as<std::uint64_t>(), 40 + i);
    }
    EXPECT_EQ(opened, 2);
  });
}

TEST(DiskNode, ScratchThatCannotBeOpenedFailsTheCopyAndIsTriedAgain) {
  int attempts = 0;
  DiskNode node([&]() -> std::unique_ptr<Storage> {
    if (++attempts == 1) throw IoError("cannot open", "scratch", 0, 28);
    return std::make_unique<MemoryStorage>();
  });
  AlignedMemory value(8);
  EXPECT_THROW(write_to_scratch(node, DataId(0), 0, value), IoError);
  EXPECT_NO_THROW(write_to_scratch(node, DataId(0), 0, value));
  EXPECT_NO_THROW(write_to_scratch(node, DataId(1), io_alignment, value));
  EXPECT_EQ(attempts, 2);
}

}  // namespace
}  // namespace granary::test
