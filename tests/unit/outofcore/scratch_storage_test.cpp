// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/outofcore/scratch_storage.hpp>

#include <gtest/gtest.h>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/outofcore/io_engine_choice.hpp>

#include "tests/support/faulty_storage.hpp"
#include "tests/support/io_support.hpp"
#include "tests/support/message_of.hpp"

namespace granary {

using namespace detail;

namespace {

using test::AlignedMemory;
using test::message_of;

TEST(ScratchStorage, KeepsValuesAndLeavesNoFile) {
  test::TemporaryDirectory directory;
  ScratchStorage storage(make_async_file_io(), directory.path());
  EXPECT_TRUE(directory.empty());
  AlignedMemory a(5000);
  AlignedMemory b(5000);
  AlignedMemory read(5000);
  std::fill(a.data(), a.data() + 5000, std::byte{1});
  std::fill(b.data(), b.data() + 5000, std::byte{2});
  test::write(storage, 8192, a);
  test::write(storage, 0, b);
  test::read(storage, 8192, read);
  EXPECT_TRUE(std::equal(a.data(), a.data() + 5000, read.data()));
  test::read(storage, 0, read);
  EXPECT_TRUE(std::equal(b.data(), b.data() + 5000, read.data()));
  EXPECT_EQ(storage.describe(8192), "byte 8192 of the scratch file in " + directory.path());
}

TEST(ScratchStorage, ReadingWhatWasNeverWrittenFails) {
  test::TemporaryDirectory directory;
  ScratchStorage storage(make_async_file_io(), directory.path());
  AlignedMemory memory(4096);
  EXPECT_THROW(test::read(storage, 4096, memory), IoError);
}

TEST(ScratchStorage, NamesADirectoryThatIsNotThere) {
  auto const message = message_of<InvalidArgument>([] { ScratchStorage(make_async_file_io(), "/nowhere/at/all"); });
  EXPECT_EQ(message, "cannot write to the scratch directory /nowhere/at/all: No such file or directory");
}

TEST(File, NamesAFileThatCannotBeOpened) {
  EXPECT_EQ(message_of<InvalidArgument>([] { (void)File::open_for_reading("/nowhere/f"); }),
            "cannot open /nowhere/f: No such file or directory");
  EXPECT_EQ(message_of<InvalidArgument>([] { (void)File::open_for_reading("/tmp"); }),
            "cannot open /tmp: it is not a regular file");
}

TEST(FaultyStorage, FailsTheChosenOperationOnly) {
  test::MemoryStorage memory;
  test::FaultyStorage storage(memory, {.fail_read = 2, .fail_write = 3, .bad_slots = {9}});
  AlignedMemory value(64);
  test::write(storage, 0, value);
  test::write(storage, 1, value);
  EXPECT_THROW(test::write(storage, 2, value), IoError);
  test::write(storage, 2, value);
  test::read(storage, 0, value);
  EXPECT_THROW(test::read(storage, 0, value), IoError);
  test::read(storage, 2, value);
  EXPECT_THROW(test::write(storage, 9, value), IoError);
}

TEST(FaultyStorage, CompletesOutOfOrder) {
  test::MemoryStorage memory;
  test::FaultyStorage storage(memory, {.hold = 8, .seed = 5});
  AlignedMemory value(64);
  std::vector<int> order;
  test::Completion all;
  auto const done = all.callback();
  for (int i = 0; i < 8; ++i) {
    storage.write_async(static_cast<std::uint64_t>(i), value.data(), 64, [&, i](std::exception_ptr error) {
      order.push_back(i);
      if (order.size() == 8) done(error);
    });
  }
  all.get();
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
}

}  // namespace
}  // namespace granary
