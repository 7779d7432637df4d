// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages of a program while it runs: its state, its progress, and warnings.
#include <unistd.h>

#include <csignal>

#include "apps/cli_test.hpp"

namespace granary::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Diagnosis : public CliTest {
 protected:
  Diagnosis() : CliTest("granary-cholesky") {}

  // A run whose transfers take 0.1 s each.
  [[nodiscard]] static std::vector<std::string> slow_run() {
    return {"random:640", "L.h5", "--tile", "256", "--workers", "1", "--disk-bandwidth", "5MB/s"};
  }
  // A run without warnings.
  [[nodiscard]] static std::vector<std::string> sane_run() {
    return {"random:1024", "--tile", "128", "--workers", "1"};
  }
  // Returns what a run with these arguments writes to stderr.
  [[nodiscard]] std::string said(std::vector<std::string> arguments, std::vector<std::string> const& more) const {
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto const result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.err;
  }
  void expect_said_once(std::string const& all, std::string const& text) const {
    auto const first = all.find(text);
    ASSERT_NE(first, std::string::npos) << "'" << text << "' is not in\n" << all;
    EXPECT_EQ(all.find(text, first + 1), std::string::npos) << all;
    EXPECT_EQ(std::ranges::count(all, '\n'), 1) << all;
  }
};

TEST_F(Diagnosis, ASignalAsksForTheStateAndTheRunGoesOn) {
  auto const result =
      run(slow_run(), {.signal = SIGUSR1, .signal_when = ".partial", .signal_after = std::chrono::milliseconds(20)});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr(" tasks have not ended; with a worker: "));
  EXPECT_THAT(result.err, HasSubstr("memory node 'host"));
  EXPECT_EQ(m_directory.files(), std::vector<std::string>{"L.h5"});
}

TEST_F(Diagnosis, AStallIsReportedAndTheRunGoesOn) {
  auto const err = said(slow_run(), {"--stall-timeout", "0.02"});
  EXPECT_THAT(err, HasSubstr("granary: no task and no transfer has ended for "));
  EXPECT_THAT(err, HasSubstr("memory node 'host"));
  EXPECT_EQ(said(slow_run(), {"--stall-timeout", "1000"}), "");
  EXPECT_THAT(said(slow_run(), {"--stall-timeout", "0.02", "--quiet"}), HasSubstr("no transfer has ended"));
}

TEST_F(Diagnosis, ProgressGoesToAFileInLines) {
  auto const err = said(slow_run(), {"--progress", "0.05"});
  EXPECT_THAT(err, HasSubstr("/10 tasks"));
  EXPECT_THAT(err, Not(HasSubstr("\r")));
  EXPECT_THAT(err, ::testing::StartsWith("factoring  "));
  EXPECT_GT(std::ranges::count(err, '\n'), 1);
}

TEST_F(Diagnosis, BadTimesAreRefused) {
  expect_refused({"random:10", "--progress", "0"}, 2, "--progress");
  expect_refused({"random:10", "--stall-timeout", "-1"}, 2, "--stall-timeout");
  expect_refused({"random:10", "--stall-timeout", "soon"}, 2, "--stall-timeout");
}

TEST_F(Diagnosis, ASaneRunSaysNothing) { EXPECT_EQ(said(sane_run(), {}), ""); }

TEST_F(Diagnosis, MoreWorkersThanCores) {
  std::vector<std::string> const many{"random:1024", "--tile", "32", "--workers", "300"};
  expect_said_once(said(many, {}), "granary: 300 workers share the ");
  EXPECT_EQ(said(many, {"--quiet"}), "");
}

TEST_F(Diagnosis, ALimitAboveTheMachinesMemory) {
  auto const memory =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
  expect_said_once(said(sane_run(), {"--memory", std::to_string(memory + (1U << 30U))}),
                   "granary: the memory limit of ");
}

TEST_F(Diagnosis, ASchedulerThatIgnoresPriorities) {
  expect_said_once(said(sane_run(), {"--scheduler", "eager"}), "granary: the scheduler 'eager' ignores the priorities");
  EXPECT_EQ(said(sane_run(), {"--scheduler", "prio"}), "");
}

TEST_F(Diagnosis, TilesTooFewForTheWorkers) {
  for (auto const* program : {"granary-cholesky", "granary-lu"}) {
    m_name = program;
    auto const err = said({"random:1024", "--workers", "2"}, {"--tile", "1024", "--scheduler", "darts"});
    EXPECT_THAT(err, HasSubstr("granary: 1 tiles of size 1024 leave some of 2 workers idle: use smaller tiles "
                               "(--tile "));
    EXPECT_THAT(said({"random:1024", "--workers", "2"}, {"--tile", "128"}), Not(HasSubstr("workers idle")));
    EXPECT_THAT(said({"random:100", "--workers", "2"}, {}), Not(HasSubstr("workers idle")))
        << "small work needs no care";
  }
}

}  // namespace
}  // namespace granary::testing
