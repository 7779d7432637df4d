// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What programs find out before they count the tasks: the records of very many tiles, and the space on the disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "apps/cli_test.hpp"

namespace granary::records_cli_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Records : public testing::CliTest {
 protected:
  Records() : CliTest("granary-cholesky") {}

  // One sentence, and nothing is left.
  void expect_one_sentence(testing::ChildResult const& result, int status, std::string const& sentence) const {
    EXPECT_EQ(result.status, status);
    EXPECT_EQ(result.err, "granary-cholesky: " + sentence + "\n");
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(m_directory.files(), ElementsAre());
  }
};

TEST_F(Records, OfMoreTilesThanTheLimitHoldsAreRefused) {
  expect_one_sentence(run({"random:8000", "--tile", "16", "--memory", "100MiB"}), 2,
                      "125250 tiles of size 16 need 75.7 MiB for their records, more than half of the memory limit of "
                      "100.0 MiB: use tiles of at least 19 (--tile), or a limit of at least 151.5 MiB (--memory)");
  auto const huge = run({"random:10000000", "--tile", "32", "--memory", "8GiB"});
  EXPECT_EQ(huge.status, 2);
  EXPECT_THAT(huge.err, HasSubstr(": 48828281250 tiles of size 32 need 34.1 TiB for their records, "));
}

// 22,000 tiles in one tile row: 164 KiB of their records count.
TEST_F(Records, TakeTheirPartOfTheLimit) {
  std::uint64_t const columns = 88000;
  std::ofstream file(m_directory.path() / "A.npy", std::ios::binary);
  std::string header = "{'descr': '<f8', 'fortran_order': True, 'shape': (4, " + std::to_string(columns) + "), }";
  header.resize(117, ' ');
  file << "\x93NUMPY" << '\x01' << '\0' << '\x76' << '\0' << header << '\n';
  for (std::uint64_t j = 0; j < columns; ++j) {
    for (std::uint64_t i = 0; i < 4; ++i) {
      double const entry = i == j ? 2 : 1;
      file.write(reinterpret_cast<char const*>(&entry), sizeof entry);
    }
  }
  file.close();
  auto const result = testing::run_child(GRANARY_BIN_DIR "/granary-lu",
                                         {"A.npy", "--no-pivoting", "--tile", "4", "--memory", "1MiB", "--workers", "1",
                                          "--scheduler", "prio", "--json", "out.json"},
                                         {.directory = m_directory.path()});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("memory limit          1.0 MiB, 116.0 KiB of it for records of tiles\n"));
  auto const json = read_json("out.json");
  EXPECT_EQ(json.at("memory_limit_bytes"), 1 << 20);
  EXPECT_LE(json.at("memory_peak_bytes"), (1 << 20) - 116 * 1024);
}

// Counting the tasks, 10^9 of them, would come first.
TEST_F(Records, SpaceOnTheDiskIsCheckedBeforeTheTasksAreCounted) {
  std::vector<std::string> const of{"random:2000000", "--tile", "1024", "--memory", "4GiB"};
  auto scratch = of;
  scratch.insert(scratch.end(), {"--scratch", "."});
  expect_one_sentence(run(scratch, {.file_size_limit = 1 << 20}), 1,
                      "cannot write the scratch file in . (--scratch): it needs 14.5 TiB, but files are limited to 1.0 "
                      "MiB here (ulimit -f)");
  auto output = of;
  output.emplace_back("L.h5");
  expect_one_sentence(run(output, {.file_size_limit = 1 << 20}), 1,
                      "cannot write the output " + file("L.h5") +
                          ": it needs 14.6 TiB, but files are limited to 1.0 MiB here (ulimit -f)");
}

}  // namespace
}  // namespace granary::records_cli_test
