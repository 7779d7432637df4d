// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits of the system on stacks, memory and threads: the run works, or ends with one sentence.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "apps/cli_test.hpp"

namespace granary::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class LimitsCli : public CliTest {
 protected:
  LimitsCli() : CliTest("granary-cholesky") {}

  // After this line of a shell.
  [[nodiscard]] ChildResult run_after(std::string const& line, std::string const& arguments) const {
    return run_child("/bin/sh",
                     {"-c", line + "; export OPENBLAS_NUM_THREADS=1; exec timeout 60 " GRANARY_BIN_DIR "/" + m_name +
                                " " + arguments},
                     {.directory = m_directory.path()});
  }
  void expect_sentence(ChildResult const& result) const {
    EXPECT_TRUE(result.status == 1 || result.status == 2) << result.status;
    EXPECT_THAT(result.err, StartsWith(m_name + ": "));
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_EQ(m_directory.files(), std::vector<std::string>{});
  }
};

TEST_F(LimitsCli, ASmallStackIsEnough) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need larger stacks";
#endif
  auto const result = run_after("ulimit -s 64", "random:500 L.h5 --tile 128 --memory 4MiB --workers 2 --check");
  EXPECT_EQ(result.status, 0) << result.err;
}

TEST_F(LimitsCli, ALimitOnDataIsRefusedWithNumbers) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers allocate memory of their own";
#endif
  auto const result = run_after("ulimit -d 100000", "random:500 L.h5 --tile 128 --memory 60MiB --workers 2");
  expect_sentence(result);
  EXPECT_THAT(result.err, HasSubstr("of data (ulimit -d), of which"));
  EXPECT_THAT(result.err, HasSubstr("60.0 MiB for data"));
}

// A group for processes in which this one may put others; empty: there is none.
class PidsGroup {
 public:
  PidsGroup() {
    auto const name = "granary-test-" + std::to_string(::getpid());
    for (std::filesystem::path const root : {"/sys/fs/cgroup/pids", "/sys/fs/cgroup"}) {
      std::error_code error;
      if (!std::filesystem::create_directory(root / name, error)) continue;
      if (std::filesystem::exists(root / name / "pids.max", error)) {
        m_path = root / name;
        return;
      }
      std::filesystem::remove(root / name, error);
    }
  }
  ~PidsGroup() {
    std::error_code error;
    for (int i = 0; i < 100 && !m_path.empty() && !std::filesystem::remove(m_path, error); ++i) ::usleep(10'000);
  }
  [[nodiscard]] std::string path() const { return m_path.string(); }
  [[nodiscard]] bool set(int most) const {
    std::ofstream limit(m_path / "pids.max");
    limit << most;
    return static_cast<bool>(limit.flush());
  }

 private:
  std::filesystem::path m_path;
};

// The kernel cancels what io_uring has for a thread that it cannot start.
TEST_F(LimitsCli, WithFewThreadsTheRunWorksOrSaysSo) {
  PidsGroup const group;
  if (group.path().empty() || !group.set(100)) GTEST_SKIP() << "no control group can be made here";
  ASSERT_EQ(run_child(GRANARY_BIN_DIR "/granary-matrix", {"generate", "spd", "900", "A.h5", "--tile", "128"},
                      {.directory = m_directory.path()})
                .status,
            0);
  int worked = 0;
  for (int const most : {2, 4, 6, 7, 8, 9, 10, 12, 16, 30}) {
    SCOPED_TRACE(most);
    ASSERT_TRUE(group.set(most));
    // The shell is replaced: one process, and its threads.
    auto const result =
        run_child("/bin/sh",
                  {"-c", "export OPENBLAS_NUM_THREADS=1; echo $$ > " + group.path() +
                             "/cgroup.procs; exec " GRANARY_BIN_DIR
                             "/granary-cholesky A.h5 L.h5 --memory 2MiB --tile 128 --workers 2 --quiet"},
                  {.directory = m_directory.path()});
    EXPECT_THAT(result.err, Not(HasSubstr("anceled")));
    if (result.status == 0) {
      ++worked;
      std::filesystem::remove(file("L.h5"));
      continue;
    }
    EXPECT_TRUE(result.status == 1 || result.status == 2) << result.status;
    EXPECT_THAT(result.err, HasSubstr("pids limit"));
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_EQ(m_directory.files(), std::vector<std::string>{"A.h5"});
  }
  EXPECT_GT(worked, 0);
}

TEST_F(LimitsCli, WithoutAnyThreadItSaysSo) {
  if (::getuid() != 0 || run_child("/usr/bin/setpriv", {"--version"}).status != 0)
    GTEST_SKIP() << "the limit of another user needs rights and setpriv";
  auto const result =
      run_child("/usr/bin/setpriv", {"--reuid=65534", "--clear-groups", "/usr/bin/prlimit", "--nproc=1", "/usr/bin/env",
                                     "OPENBLAS_NUM_THREADS=1", GRANARY_BIN_DIR "/granary-cholesky", "random:100"});
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("granary-cholesky: cannot start a thread for signals: "));
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
}

}  // namespace
}  // namespace granary::testing
