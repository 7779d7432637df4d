// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/api/progress.hpp>

#include "support/message_of.hpp"
#include "support/task_bodies.hpp"

#include <granary/granary.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace granary::progress_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

class ProgressTest : public testing::Test {
 protected:
  Vector x{"x", 100};
  Runtime runtime{{.workers = 2U, .devices = "none", .host_memory = 1_MiB, .models = models_off}};
  Data<Vector> dx = runtime.data(x);

  void submit(int count) {
    for (int i = 0; i < count; ++i) runtime.submit("increase", test::Increase{}, read_write(dx));
  }
};

TEST(FormatProgress, StatesSpeedAndTimeLeft) {
  ProgressFigures const some{.tasks_done = 25, .tasks_submitted = 100, .seconds = 5};
  EXPECT_EQ(format_progress("kriging", some), "kriging  25/100 tasks  5.0 tasks/s  15 s left");
  EXPECT_EQ(format_progress("kriging", some, 4e9), "kriging  25/100 tasks  0.2 GFlop/s  15 s left");
  EXPECT_EQ(format_progress("solving", {.tasks_submitted = 7, .seconds = 5}), "solving  0/7 tasks");
  EXPECT_EQ(format_progress("solving", {}), "solving  0/0 tasks");
  ProgressFigures expected{.tasks_done = 10, .tasks_submitted = 20, .tasks_expected = 40, .seconds = 1};
  EXPECT_EQ(format_progress("x", expected), "x  10/40 tasks  10.0 tasks/s  3 s left");
  expected.tasks_done = 41;
  EXPECT_EQ(format_progress("x", expected, 1e9), "x  41 tasks");
}

TEST_F(ProgressTest, CountsFromItsBeginningWhatMayGrow) {
  submit(5);
  runtime.wait();
  Progress const progress(runtime, "steps", {.quiet = true});
  EXPECT_EQ(progress.figures().tasks_submitted, 0U);
  test::Held const held;
  runtime.submit("held", held, read_write(dx));
  submit(3);
  auto now = progress.figures();
  EXPECT_EQ(now.tasks_submitted, 4U);
  EXPECT_EQ(now.tasks_done, 0U);
  EXPECT_EQ(now.memory_limit, 1_MiB);
  submit(2);
  EXPECT_EQ(progress.figures().tasks_submitted, 6U);
  held.end();
  runtime.wait();
  now = progress.figures();
  EXPECT_EQ(now.tasks_done, 6U);
  EXPECT_GT(now.seconds, 0);
}

TEST_F(ProgressTest, CountsTasksThatFailOrAreCancelled) {
  Progress const progress(runtime, "steps", {.quiet = true});
  runtime.submit("fail", test::Fail{}, read_write(dx));
  submit(3);
  EXPECT_THROW(runtime.wait(), std::runtime_error);
  EXPECT_EQ(progress.figures().tasks_done, 4U);
}

TEST_F(ProgressTest, ToldBytesAreThoseOfFiles) {
  Runtime small({.workers = 1U, .devices = "none", .host_memory = 64_KiB, .scratch = testing::TempDir()});
  Progress const progress(small, "spilling", {.quiet = true});
  std::vector<decltype(small.temporary<double>("part", 4096))> parts;
  for (int i = 0; i < 6; ++i) {
    parts.push_back(small.temporary<double>("part", 4096));
    small.submit("fill", test::Increase{}, write(parts.back()));
  }
  for (auto const& part : parts) small.submit("increase", test::Increase{}, read_write(part));
  small.wait();
  auto const now = progress.figures();
  EXPECT_EQ(now.bytes_written, small.figures().bytes_written);
  EXPECT_GT(now.bytes_written, 0U);
  EXPECT_GT(now.bytes_read, 0U);
  EXPECT_LE(now.memory_used, now.memory_limit);
}

TEST_F(ProgressTest, CallsAreMadeMeanwhileAndAtTheEnd) {
  std::mutex mutex;
  std::vector<ProgressFigures> seen;
  std::atomic<int> calls = 0;
  test::Held const held;
  {
    Progress const progress(runtime, "steps",
                            {.quiet = true,
                             .callback =
                                 [&](ProgressFigures const& now) {
                                   std::lock_guard const lock(mutex);
                                   seen.push_back(now);
                                   ++calls;
                                 },
                             .callback_seconds = 0.001});
    runtime.submit("held", held, read_write(dx));
    submit(9);
    int const before = calls;
    while (calls < before + 3) std::this_thread::yield();
    held.end();
    runtime.wait();
  }
  EXPECT_EQ(seen.back().tasks_done, 10U);
  EXPECT_EQ(seen.back().tasks_submitted, 10U);
  for (std::size_t i = 1; i < seen.size(); ++i) {
    EXPECT_GE(seen[i].tasks_done, seen[i - 1].tasks_done);
    EXPECT_GE(seen[i].seconds, seen[i - 1].seconds);
  }
}

TEST_F(ProgressTest, ACallbackThatThrowsIsCalledOnceAndTheRunGoesOn) {
  for (bool const known : {true, false}) {
    std::atomic<int> calls = 0;
    {
      Progress const progress(runtime, "steps",
                              {.quiet = true,
                               .callback =
                                   [&](ProgressFigures const&) {
                                     ++calls;
                                     if (known) throw std::runtime_error("no room on the page");
                                     throw 7;
                                   },
                               .callback_seconds = 0.001});
      while (calls == 0) std::this_thread::yield();
      submit(3);
      runtime.wait();
    }
    EXPECT_EQ(calls, 1);
  }
  EXPECT_EQ(x(0), 6);
}

TEST_F(ProgressTest, ACallbackMayUseTheRuntime) {
  std::string state;
  {
    Progress const progress(runtime, "steps",
                            {.quiet = true, .callback = [&](auto const&) { state = runtime.describe(); }});
    submit(3);
    runtime.wait();
  }
  EXPECT_THAT(state, HasSubstr("0 tasks have not ended"));
}

TEST_F(ProgressTest, LinesGoToAFile) {
  testing::internal::CaptureStderr();
  std::atomic<bool> called = false;
  {
    // A line is due before the call.
    Progress const progress(
        runtime, "steps",
        {.tasks = 8, .line_seconds = 1e-3, .callback = [&](auto const&) { called = true; }, .callback_seconds = 0.05});
    submit(8);
    runtime.wait();
    while (!called) std::this_thread::yield();
  }
  auto const said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, testing::StartsWith("steps  "));
  EXPECT_THAT(said, HasSubstr("/8 tasks"));
  EXPECT_THAT(said, testing::EndsWith("\n"));
  EXPECT_THAT(said, Not(HasSubstr("\r")));
}

TEST_F(ProgressTest, NothingIsWrittenToAFileUnasked) {
  testing::internal::CaptureStderr();
  {
    Progress const progress(runtime, "steps");
    Progress const quiet(runtime, "steps", {.quiet = true, .line_seconds = 1e-3});
    submit(8);
    runtime.wait();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// The line on a terminal, as a program sees it.
TEST_F(ProgressTest, OneLineIsRedrawnOnATerminalAndErased) {
  int const terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) GTEST_SKIP() << "there is no terminal";
  int const side = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
  ASSERT_GE(side, 0);
  int const error = ::dup(STDERR_FILENO);
  ::dup2(side, STDERR_FILENO);
  std::string said;
  auto const read_until = [&](char const* end) {
    while (!said.ends_with(end)) {
      char c = 0;
      if (::read(terminal, &c, 1) != 1) break;
      said += c;
    }
  };
  {
    Progress const progress(runtime, "steps", {.tasks = 4});
    submit(2);
    runtime.wait();
    read_until("2/4 tasks");
  }
  read_until("\r\x1b[K");
  ::dup2(error, STDERR_FILENO);
  for (int const descriptor : {side, terminal, error}) ::close(descriptor);
  EXPECT_THAT(said, testing::StartsWith("\r\x1b[Ksteps  "));
  EXPECT_THAT(said, HasSubstr("2/4 tasks"));
  EXPECT_THAT(said, testing::EndsWith("\r\x1b[K"));
  EXPECT_THAT(said, Not(HasSubstr("\n")));
}

TEST_F(ProgressTest, RefusesIntervalsThatAreNone) {
  auto const with = [&](ProgressOptions const& options) {
    return test::message_of([&] { return std::make_unique<Progress>(runtime, "steps", options) != nullptr; });
  };
  EXPECT_EQ(with({.line_seconds = -1}), "the time between lines of a Progress cannot be -1 s");
  EXPECT_EQ(with({.callback_seconds = 0}), "the time between calls of a Progress cannot be 0 s");
  EXPECT_EQ(with({.callback_seconds = std::nan("")}), "the time between calls of a Progress cannot be nan s");
  EXPECT_EQ(with({.line_seconds = std::numeric_limits<double>::infinity()}),
            "the time between lines of a Progress cannot be inf s");
}

}  // namespace
}  // namespace granary::progress_test
