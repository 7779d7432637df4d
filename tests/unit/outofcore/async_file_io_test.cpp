// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/outofcore/async_file_io.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <future>
#include <thread>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/outofcore/io_engine_choice.hpp>
#include <granary/detail/outofcore/io_engines.hpp>

#include "tests/support/io_support.hpp"
#include "tests/support/message_of.hpp"

namespace granary {

using namespace detail;

namespace {

using test::AlignedMemory;
using test::Completion;
using test::message_of;

void fill(AlignedMemory const& memory, std::uint64_t seed) {
  Random random(seed);
  for (Bytes i = 0; i < memory.size(); ++i) memory.data()[i] = static_cast<std::byte>(random.next());
}

bool equal(AlignedMemory const& a, AlignedMemory const& b) {
  return std::equal(a.data(), a.data() + a.size(), b.data());
}

// Contract of both engines.
class AsyncFileIoContract : public ::testing::TestWithParam<IoEngine> {
 protected:
  void SetUp() override {
    if (GetParam() == IoEngine::Uring && !uring_available()) GTEST_SKIP() << "the kernel offers no io_uring here";
  }

  std::shared_ptr<AsyncFileIo> make(IoOptions options = {}) {
    options.engine = GetParam();
    return make_async_file_io(options);
  }

  void write_file(std::string const& path, AlignedMemory const& memory) {
    std::ofstream(path, std::ios::binary).write(memory.as<char>(), static_cast<std::streamsize>(memory.size()));
  }

  test::TemporaryDirectory directory;
};

TEST_P(AsyncFileIoContract, ReadsBackWhatItWroteAtAnyOffsetAndLength) {
  auto const io = make({.queue_depth = 3, .piece_bytes = 8_KiB});
  auto const file = File::create_unlinked(directory.path());
  for (Bytes const bytes : {1_KiB, 4_KiB, 8_KiB, 8_KiB + 1, 100_KiB + 17, 1_MiB}) {
    for (std::uint64_t const offset : {0U, 4096U, 17U, 8191U}) {
      AlignedMemory source(bytes);
      AlignedMemory destination(bytes);
      fill(source, bytes + offset);
      Completion written;
      io->write(file, offset, source.data(), bytes, written.callback());
      written.get();
      Completion done;
      io->read(file, offset, destination.data(), bytes, done.callback());
      done.get();
      EXPECT_TRUE(equal(source, destination)) << bytes << " bytes at " << offset;
    }
  }
}

TEST_P(AsyncFileIoContract, ManyRequestsAtOnceFromManyThreads) {
  constexpr unsigned threads = 4;
  constexpr std::uint64_t per_thread = 50;
  constexpr Bytes bytes = 24_KiB;
  auto const file = File::create_unlinked(directory.path());
  std::atomic<std::uint64_t> completed = 0;
  std::vector<AlignedMemory> memory;
  for (std::uint64_t i = 0; i < threads * per_thread; ++i) {
    memory.emplace_back(bytes);
    fill(memory.back(), i);
  }
  {
    auto const io = make({.queue_depth = 4, .piece_bytes = 16_KiB});
    std::vector<std::thread> submitters;
    for (unsigned t = 0; t < threads; ++t) {
      submitters.emplace_back([&, t] {
        for (std::uint64_t i = t * per_thread; i < (t + 1) * per_thread; ++i) {
          io->write(file, i * bytes, memory[i].data(), bytes,
                    [&](std::exception_ptr error) { completed += error ? 0 : 1; });
        }
      });
    }
    for (auto& submitter : submitters) submitter.join();
  }
  EXPECT_EQ(completed, threads * per_thread) << "the destructor waits for what is under way";

  auto const io = make();
  for (std::uint64_t i = 0; i < memory.size(); ++i) {
    AlignedMemory destination(bytes);
    Completion done;
    io->read(file, i * bytes, destination.data(), bytes, done.callback());
    done.get();
    ASSERT_TRUE(equal(memory[i], destination)) << i;
  }
  EXPECT_EQ(io->bytes_read(), memory.size() * bytes);
  EXPECT_EQ(io->bytes_written(), 0U);
}

TEST_P(AsyncFileIoContract, GathersAndScattersExtents) {
  AlignedMemory content(64_KiB);
  fill(content, 7);
  write_file(directory / "f", content);
  auto const io = make();
  auto const file = File::open_for_reading(directory / "f");
  AlignedMemory memory(3000);
  std::vector<IoExtent> extents;
  for (std::uint64_t i = 0; i < 30; ++i) extents.push_back({100 + 2000 * i, memory.data() + 100 * i, 100});
  Completion done;
  io->submit(IoDirection::Read, file, extents, done.callback());
  done.get();
  for (std::uint64_t i = 0; i < 3000; ++i) {
    ASSERT_EQ(memory.data()[i], content.data()[100 + 2000 * (i / 100) + i % 100]) << i;
  }
}

TEST_P(AsyncFileIoContract, ACompletionMaySubmit) {
  AlignedMemory content(64_KiB);
  fill(content, 3);
  write_file(directory / "f", content);
  auto const file = File::open_for_reading(directory / "f");
  AlignedMemory memory(64_KiB);
  auto const io = make({.queue_depth = 1, .piece_bytes = 4_KiB});
  Completion done;
  io->read(file, 0, memory.data(), 32_KiB,
           [&](std::exception_ptr) { io->read(file, 32_KiB, memory.data() + 32_KiB, 32_KiB, done.callback()); });
  done.get();
  EXPECT_TRUE(equal(content, memory));
}

TEST_P(AsyncFileIoContract, CompletionsComeFromAnotherThread) {
  AlignedMemory content(4_KiB);
  write_file(directory / "f", content);
  auto const io = make();
  std::promise<std::thread::id> who;
  io->read(File::open_for_reading(directory / "f"), 0, content.data(), 4_KiB,
           [&](std::exception_ptr) { who.set_value(std::this_thread::get_id()); });
  EXPECT_NE(who.get_future().get(), std::this_thread::get_id());
}

TEST_P(AsyncFileIoContract, TheEndOfTheFileIsAnErrorWithItsOffset) {
  AlignedMemory content(10000);
  write_file(directory / "f", content);
  auto const io = make({.piece_bytes = 4_KiB});
  AlignedMemory memory(20000);
  for (Bytes const bytes : {Bytes{10001}, 16_KiB}) {
    Completion done;
    io->read(File::open_for_reading(directory / "f"), 0, memory.data(), bytes, done.callback());
    try {
      done.get();
      FAIL() << "read beyond the end";
    } catch (IoError const& error) {
      EXPECT_EQ(error.file(), directory / "f");
      EXPECT_GE(error.offset(), 10000U);
      EXPECT_EQ(error.error_number(), ENODATA);
    }
  }
  EXPECT_EQ(io->bytes_read(), 0U);
}

TEST_P(AsyncFileIoContract, AFailedWriteNamesFileOffsetAndReason) {
  AlignedMemory content(8_KiB);
  write_file(directory / "f", content);
  auto const io = make();
  Completion done;
  io->write(File::open_for_reading(directory / "f"), 4096, content.data(), 4096, done.callback());
  auto const message = message_of<IoError>([&] { done.get(); });
  EXPECT_EQ(message, "cannot write " + (directory / "f") + " at byte 4096: Bad file descriptor");
}

TEST_P(AsyncFileIoContract, AnErrorDoesNotDisturbOtherRequests) {
  AlignedMemory content(64_KiB);
  fill(content, 9);
  write_file(directory / "f", content);
  auto const file = File::open_for_reading(directory / "f");
  auto const io = make({.queue_depth = 2, .piece_bytes = 4_KiB});
  AlignedMemory bad(1_MiB);
  AlignedMemory good(64_KiB);
  Completion failed;
  Completion done;
  io->read(file, 32_KiB, bad.data(), 1_MiB, failed.callback());
  io->read(file, 0, good.data(), 64_KiB, done.callback());
  EXPECT_THROW(failed.get(), IoError);
  done.get();
  EXPECT_TRUE(equal(content, good));
}

TEST_P(AsyncFileIoContract, AThrottleTakesAtLeastTheStatedTime) {
  AlignedMemory content(256_KiB);
  write_file(directory / "f", content);
  auto const file = File::open_for_reading(directory / "f");
  auto const start = std::chrono::steady_clock::now();
  {
    auto const io = make({.bytes_per_second = 4_MiB});
    for (Bytes i = 0; i < 8; ++i) io->read(file, 0, content.data() + i * 32_KiB, 32_KiB, [](std::exception_ptr) {});
    for (int i = 0; i < 4; ++i) io->complete_elsewhere(IoDirection::Write, 32_KiB, nullptr, [](std::exception_ptr) {});
  }
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::microseconds(93750)) << "384 KiB at 4 MiB/s";
}

TEST_P(AsyncFileIoContract, EmptyRequestsAreRefused) {
  auto const io = make();
  auto const file = File::create_unlinked(directory.path());
  AlignedMemory memory(1);
  EXPECT_THROW(io->read(file, 0, memory.data(), 0, [](std::exception_ptr) {}), InvalidArgument);
  EXPECT_THROW(io->submit(IoDirection::Read, file, {}, [](std::exception_ptr) {}), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Engines, AsyncFileIoContract, ::testing::Values(IoEngine::Uring, IoEngine::ThreadPool),
                         [](auto const& engine) { return engine.param == IoEngine::Uring ? "Uring" : "ThreadPool"; });

TEST(AsyncFileIo, RefusesOptionsOutOfRange) {
  EXPECT_THROW((void)make_async_file_io({.queue_depth = 0}), InvalidArgument);
  EXPECT_THROW((void)make_async_file_io({.piece_bytes = 1000}), InvalidArgument);
  EXPECT_THROW((void)make_async_file_io({.piece_bytes = 0}), InvalidArgument);
}

// An engine with a scripted kernel: every piece gets the next results.
class ScriptedIo final : public AsyncFileIo {
 public:
  explicit ScriptedIo(IoOptions const& options) : AsyncFileIo(options) {}
  ~ScriptedIo() override { drain(); }
  [[nodiscard]] std::string_view engine_name() const override { return "script"; }

  struct Call {
    std::uint64_t offset;
    Bytes bytes;
    bool direct;
    bool operator==(Call const&) const = default;
  };

  // Performs all submitted pieces; results beyond the script are full transfers.
  std::vector<Call> play(std::vector<std::int64_t> const& script) {
    std::vector<Call> calls;
    Finished finished;
    {
      std::lock_guard lock(m_mutex);
      while (auto piece = take_piece()) {
        while (piece) {
          auto const result =
              calls.size() < script.size() ? script[calls.size()] : static_cast<std::int64_t>(piece->bytes);
          calls.push_back({piece->offset, piece->bytes, piece->direct});
          piece = advance(*piece, result, finished);
        }
      }
    }
    deliver(finished);
    return calls;
  }

 private:
  void pieces_arrived() override {}
};

class PieceLogic : public ::testing::Test {
 protected:
  test::TemporaryDirectory directory;
  std::shared_ptr<File const> file = File::create_unlinked(directory.path());
  AlignedMemory memory{64_KiB};
  ScriptedIo io{{.piece_bytes = 8_KiB}};
  Completion done;
};

TEST_F(PieceLogic, ShortTransfersAreContinuedAndInterruptedOnesRepeated) {
  io.read(file, 0, memory.data(), 12_KiB, done.callback());
  auto const calls = io.play({4096, -EINTR, 100, -EAGAIN});
  bool const direct = file->has_direct();
  std::vector<ScriptedIo::Call> const expected = {{0, 8192, direct},   {4096, 4096, direct}, {4096, 4096, direct},
                                                  {4196, 3996, false}, {4196, 3996, false},  {8192, 4096, direct}};
  EXPECT_EQ(calls, expected);
  done.get();
}

TEST_F(PieceLogic, DirectTransfersThatAreRefusedGoThroughThePageCache) {
  if (!file->has_direct()) GTEST_SKIP() << "no direct I/O on this file system";
  io.write(file, 0, memory.data(), 4_KiB, done.callback());
  EXPECT_EQ(io.play({-EINVAL}), (std::vector<ScriptedIo::Call>{{0, 4096, true}, {0, 4096, false}}));
  done.get();
}

TEST_F(PieceLogic, TailsGoThroughThePageCache) {
  io.write(file, 4096, memory.data(), 10000, done.callback());
  bool const direct = file->has_direct();
  auto const calls = io.play({});
  if (direct) {
    EXPECT_EQ(calls, (std::vector<ScriptedIo::Call>{{4096, 8192, true}, {12288, 1808, false}}));
  }
  done.get();
}

TEST_F(PieceLogic, TheFirstErrorEndsTheRequest) {
  io.write(file, 0, memory.data(), 64_KiB, done.callback());
  EXPECT_EQ(io.play({8192, -ENOSPC}).size(), 2U) << "no further piece is given to the kernel";
  auto const message = message_of<IoError>([&] { done.get(); });
  EXPECT_NE(message.find("at byte 8192: No space left on device"), std::string::npos) << message;
}

TEST_F(PieceLogic, AWriteThatTakesNothingIsAnError) {
  io.write(file, 0, memory.data(), 4_KiB, done.callback());
  static_cast<void>(io.play({0}));
  EXPECT_THROW(done.get(), IoError);
}

}  // namespace
}  // namespace granary
