// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs that are killed at any instant: the output is absent or complete, and partial files are removed.
#include <hdf5.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "apps/cli_test.hpp"
#include "support/seeds.hpp"

namespace granary::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Kill : public CliTest {
 protected:
  Kill() : CliTest("granary-cholesky") {}

  // Half a second of transfers on an idle machine.
  [[nodiscard]] static std::vector<std::string> short_run() {
    return {"random:600", "L.h5", "--tile", "64", "--memory", "512KiB", "--workers", "2", "--disk-bandwidth", "40MB/s"};
  }
  // Far longer than the handling of a signal may take.
  [[nodiscard]] static std::vector<std::string> long_run() {
    return {"random:3000", "L.h5", "--tile", "128", "--memory", "1MiB", "--disk-bandwidth", "4MB/s"};
  }
  [[nodiscard]] std::vector<double> factor() const {
    hid_t const opened = H5Fopen(file("L.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t const dataset = H5Dopen2(opened, "L", H5P_DEFAULT);
    std::vector<double> values(600 * 600);
    EXPECT_GE(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    H5Dclose(dataset);
    H5Fclose(opened);
    return values;
  }
  [[nodiscard]] bool there(std::string const& name) const { return std::filesystem::exists(file(name)); }
  void expect_ended_by(int signal, std::vector<std::string> const& arguments, ChildOptions options) const {
    auto const before = m_directory.files();
    options.signal = signal;
    auto const result = run(arguments, options);
    EXPECT_EQ(result.status, 128 + signal) << result.err;
    // A signal before main() also ends the process, but without a message.
    if (!options.err_is_stuck && !options.signal_when.empty()) {
      EXPECT_THAT(result.err, HasSubstr(m_name + ": interrupted: "));
    }
    EXPECT_EQ(m_directory.files(), before);
  }
};

// GRANARY_KILL_INSTANTS: number of instants for each signal; GRANARY_KILL_SEED: their seed.
TEST_F(Kill, TheOutputIsAbsentOrWhole) {
  auto const* const instants = std::getenv("GRANARY_KILL_INSTANTS");
  auto const* const chosen = std::getenv("GRANARY_KILL_SEED");
  int const count = instants != nullptr ? std::atoi(instants) : test::Seeds::sanitized ? 2 : 5;
  auto const seed = chosen != nullptr ? std::strtoul(chosen, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE("GRANARY_KILL_SEED=" + std::to_string(seed));
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  auto const start = std::chrono::steady_clock::now();
  ASSERT_EQ(run(short_run()).status, 0);
  auto const whole = std::chrono::steady_clock::now() - start;
  auto const reference = factor();
  std::filesystem::remove(file("L.h5"));
  std::uniform_int_distribution<long> instant(0, std::chrono::duration_cast<milliseconds>(whole).count());
  int ended = 0;
  for (int const signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR2, SIGXCPU, SIGPIPE, SIGXFSZ}) {
    for (int k = 0; k < count; ++k) {
      milliseconds const after(instant(random));
      SCOPED_TRACE("signal " + std::to_string(signal) + " after " + std::to_string(after.count()) + " ms");
      auto const result = run(short_run(), {.signal = signal, .signal_after = after});
      EXPECT_TRUE(result.status == 0 || result.status == 128 + signal) << result.status << ' ' << result.err;
      ended += result.status != 0 ? 1 : 0;
      EXPECT_TRUE(result.status != 0 || there("L.h5"));
      EXPECT_TRUE(!there("L.h5") || factor() == reference);
      bool const left = there("L.h5.partial");
      EXPECT_TRUE(!left || signal == SIGKILL);
      EXPECT_EQ(m_directory.files().size(), std::size_t{there("L.h5")} + std::size_t{left});
      auto const next = run({"random:64", "L.h5", "--tile", "64"});
      EXPECT_EQ(next.status, 0) << next.err;
      EXPECT_EQ(next.err, left ? "[warning] granary: removed " +
                                     std::filesystem::canonical(m_directory.path()).string() +
                                     "/L.h5.partial, left by a run that was killed\n"
                               : "");
      EXPECT_EQ(m_directory.files(), std::vector<std::string>{"L.h5"});
      std::filesystem::remove(file("L.h5"));
    }
  }
  EXPECT_GT(ended, 0);
}

TEST_F(Kill, EverySignalEndsTheRun) {
  for (int const signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR2, SIGXCPU})
    expect_ended_by(signal, long_run(), {.signal_when = "L.h5.partial", .signal_after = milliseconds(100)});
}

TEST_F(Kill, PlanningAndSubmissionEnd) {
  // More than a thousand million tasks, which take minutes to count.
  std::vector<std::string> const large{"random:16000", "--tile", "8", "--memory", "4GiB"};
  expect_ended_by(SIGTERM, large, {.signal_after = milliseconds(2000)});
}

TEST_F(Kill, ACallThatDoesNotReturnEnds) {
  ASSERT_EQ(::mkfifo(file("fifo").c_str(), 0600), 0);
  expect_ended_by(SIGHUP, {"random:64", "--json", "fifo"}, {.signal_after = milliseconds(2000)});
  m_name = "granary-matrix";
  expect_ended_by(SIGINT, {"generate", "spd", "20000", "A.mtx", "--memory", "128MiB"},
                  {.signal_when = "A.mtx.partial", .signal_after = milliseconds(50)});
}

TEST_F(Kill, AFloodOfStateRequestsIsHarmless) {
  auto const result = run(long_run(), {.signal = SIGTERM,
                                       .signal_when = "L.h5.partial",
                                       .signal_after = milliseconds(100),
                                       .flood = milliseconds(500)});
  EXPECT_EQ(result.status, 128 + SIGTERM) << result.err;
  EXPECT_THAT(result.err, HasSubstr("memory node 'host"));
  // Nobody reads the standard output and error.
  auto arguments = long_run();
  arguments.insert(arguments.end(), {"--progress", "0.01"});
  expect_ended_by(SIGTERM, arguments,
                  {.signal_when = "L.h5.partial",
                   .signal_after = milliseconds(100),
                   .flood = milliseconds(500),
                   .err_is_stuck = true});
}

TEST_F(Kill, AClosedPipeDoesNotEndARun) {
  auto const result = run({"random:300", "L.h5", "--tile", "64", "--progress", "0.01", "--disk-bandwidth", "4MB/s"},
                          {.out_without_reader = true});
  EXPECT_EQ(result.status, 128 + SIGPIPE) << result.err;
  EXPECT_EQ(m_directory.files(), std::vector<std::string>{"L.h5"});
}

}  // namespace
}  // namespace granary::testing
