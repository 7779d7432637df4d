// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Signals that applications of the library receive: they end in order, or go on and say what they do.
#include <chrono>
#include <csignal>
#include <filesystem>

#include "apps/cli_test.hpp"

namespace granary::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class Services : public CliTest {
 protected:
  Services() : CliTest("granary-example-services") {}

  [[nodiscard]] ChildResult application(std::string const& mode, ChildOptions options) const {
    options.directory = m_directory.path();
    return run_child(GRANARY_TEST_SERVICES, {mode}, options);
  }
  [[nodiscard]] static bool no_example() {
    return !std::filesystem::exists(GRANARY_BIN_DIR "/granary-example-services");
  }
  // More than a minute of transfers.
  [[nodiscard]] static std::vector<std::string> long_run() { return {"4096", "L.h5", "2000000"}; }
  // Half a second.
  [[nodiscard]] static std::vector<std::string> short_run() { return {"512", "L.h5", "10000000"}; }
};

TEST_F(Services, ASignalEndsTheExampleAndLeavesNothing) {
  if (no_example()) GTEST_SKIP() << "the examples are not built";
  for (int const signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR2, SIGXCPU}) {
    auto const result =
        run(long_run(), {.signal = signal, .signal_when = "L.h5.partial", .signal_after = milliseconds(100)});
    EXPECT_EQ(result.status, 128 + signal) << result.err;
    EXPECT_EQ(m_directory.files(), std::vector<std::string>{});
  }
}

TEST_F(Services, ARequestForTheStateIsAnsweredAndTheExampleGoesOn) {
  if (no_example()) GTEST_SKIP() << "the examples are not built";
  auto const result =
      run(short_run(), {.signal = SIGUSR1, .signal_when = "L.h5.partial", .signal_after = milliseconds(20)});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr(" tasks have not ended; with a worker: "));
  EXPECT_THAT(result.err, HasSubstr("memory node 'host"));
  EXPECT_EQ(m_directory.files(), std::vector<std::string>{"L.h5"});
}

TEST_F(Services, TheExamplesErrorNamesTaskDataAndLine) {
  if (no_example()) GTEST_SKIP() << "the examples are not built";
  auto const result = run({"256", "L.h5"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, ::testing::ContainsRegex("the length must be positive \\(in task 'assemble' [0-9]+ on "
                                                   "'covariance', submitted at .*services\\.cpp:[0-9]+\\)"));
  EXPECT_THAT(result.out, HasSubstr(" s: 10 of 10 tasks\n"));
}

TEST_F(Services, AnApplicationThatCatchesNothingEndsInOrder) {
  auto const result =
      application("uncaught", {.signal = SIGTERM, .signal_when = "A.h5.partial", .signal_after = milliseconds(100)});
  EXPECT_EQ(result.status, 128 + SIGTERM) << result.err;
  EXPECT_THAT(result.err, HasSubstr("interrupted: "));
  EXPECT_EQ(m_directory.files(), std::vector<std::string>{});
}

TEST_F(Services, AnApplicationThatDoesNotReactIsEnded) {
  auto const result =
      application("deaf", {.signal = SIGTERM, .signal_when = "A.h5.partial", .signal_after = milliseconds(100)});
  EXPECT_EQ(result.status, 128 + SIGTERM) << result.err;
  EXPECT_EQ(m_directory.files(), std::vector<std::string>{});
}

TEST_F(Services, WithoutARuntimeTheFirstSignalEnds) {
  EXPECT_EQ(application("no runtime", {.signal = SIGINT, .signal_when = "ready"}).status, 128 + SIGINT);
}

TEST_F(Services, WorkOutsideOfTasksAsks) {
  auto const result = application("checks", {.signal = SIGHUP, .signal_when = "ready"});
  EXPECT_EQ(result.status, 128 + SIGHUP) << result.err;
  EXPECT_THAT(result.out, HasSubstr("interrupted: "));
}

TEST_F(Services, ASignalCancelsEveryRuntimeThatListens) {
  auto const result = application("two runtimes", {.signal = SIGINT, .signal_when = "ready"});
  EXPECT_EQ(result.status, 128 + SIGINT) << result.err;
}

TEST_F(Services, AListenerThatComesLateIsTold) {
  auto const result = application("late listener", {});
  EXPECT_EQ(result.status, 0) << result.err;
}

TEST_F(Services, ALateRequestForTheStateIsHarmless) {
  auto const result = application("after", {});
  EXPECT_EQ(result.status, 0) << result.err;
}

TEST_F(Services, AFloodOfRequestsIsHarmless) {
  if (no_example()) GTEST_SKIP() << "the examples are not built";
  auto const result = run(long_run(), {.signal = SIGTERM,
                                       .signal_when = "L.h5.partial",
                                       .signal_after = milliseconds(100),
                                       .flood = milliseconds(300)});
  EXPECT_EQ(result.status, 128 + SIGTERM) << result.err;
  EXPECT_THAT(result.err, HasSubstr("memory node 'host"));
  EXPECT_EQ(m_directory.files(), std::vector<std::string>{});
}

}  // namespace
}  // namespace granary::testing
