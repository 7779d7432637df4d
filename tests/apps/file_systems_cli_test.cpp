// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices on file systems where locks fail (tests/apps/no_locks): of network file systems without a lock service.
#include <cerrno>
#include <iterator>

#include "apps/cli_test.hpp"

namespace granary::file_systems_cli_test {
namespace {

using ::testing::HasSubstr;
using Strings = std::vector<std::string>;

class FileSystemsCli : public testing::CliTest {
 protected:
  FileSystemsCli() : CliTest("granary-matrix") {}
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers must be the first library";
#endif
    ASSERT_EQ(run({"generate", "spd", "150", "A.h5", "--tile", "64"}).status, 0);
    ASSERT_EQ(run({"convert", "A.h5", "A.npy"}).status, 0);
  }
  // Where locks fail with that error number.
  [[nodiscard]] testing::ChildResult run_without_locks(int error, std::string const& program,
                                                       Strings const& arguments) const {
    Strings all{"-u", "HDF5_USE_FILE_LOCKING", "LD_PRELOAD=" GRANARY_TEST_NO_LOCKS,
                "TEST_LOCK_ERROR=" + std::to_string(error), GRANARY_BIN_DIR "/" + program};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return testing::run_child("/usr/bin/env", all, {.directory = m_directory.path()});
  }
  [[nodiscard]] std::string content(std::string const& name) const {
    std::ifstream stream(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
};

TEST_F(FileSystemsCli, InputsAndOutputsNeedNoLocks) {
  for (int const error : {ENOLCK, EOPNOTSUPP, ENOSYS}) {
    auto const converted = run_without_locks(error, "granary-matrix", {"convert", "A.h5", "B.npy"});
    EXPECT_EQ(converted.status, 0) << converted.err;
    EXPECT_EQ(content("B.npy"), content("A.npy")) << error;
    auto const factored = run_without_locks(error, "granary-cholesky",
                                            {"A.h5", "L.h5", "--memory", "1MiB", "--tile", "50", "--check", "--quiet"});
    EXPECT_EQ(factored.status, 0) << factored.err;
    EXPECT_EQ(m_directory.files(), (Strings{"A.h5", "A.npy", "B.npy", "L.h5"}));
  }
}

TEST_F(FileSystemsCli, AnInputThatAnotherProgramWritesIsRefused) {
  auto const refused = run_without_locks(EWOULDBLOCK, "granary-matrix", {"convert", "A.h5", "B.npy"});
  EXPECT_EQ(refused.status, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("A.h5"));
  EXPECT_THAT(refused.err, HasSubstr("lock"));
  EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err;
  EXPECT_EQ(m_directory.files(), (Strings{"A.h5", "A.npy"}));
}

}  // namespace
}  // namespace granary::file_systems_cli_test
