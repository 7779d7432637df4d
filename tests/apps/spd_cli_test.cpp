// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/files/matrix_file.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/child.hpp"

namespace granary {
namespace {

std::string const program = GRANARY_BIN_DIR "/granary-spd";

TEST(SpdCli, WritesAMatrixInChunks) {
  testing::TemporaryDirectory const directory;
  ASSERT_EQ(
      testing::run_child(program, {"300", "A.h5", "--tile", "64", "--float"}, {.directory = directory.path()}).status,
      0);
  EXPECT_THAT(directory.files(), ::testing::ElementsAre("A.h5"));
  auto const info = open_matrix_file((directory.path() / "A.h5").string());
  EXPECT_EQ(info.rows, 300U);
  EXPECT_EQ(info.chunk_rows, 64U);
  EXPECT_EQ(info.scalar_type, ScalarType::Float32);
}

TEST(SpdCli, RefusesBadArguments) {
  testing::TemporaryDirectory const directory;
  std::vector<std::vector<std::string>> const bad{
      {}, {"300"}, {"0", "A.h5"}, {"many", "A.h5"}, {"300", "A.h5", "--tile", "0"}, {"300", "/no/such/place/A.h5"}};
  for (auto const& arguments : bad) {
    auto const result = testing::run_child(program, arguments, {.directory = directory.path()});
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_THAT(result.err, ::testing::StartsWith("granary-spd: "));
    EXPECT_THAT(directory.files(), ::testing::ElementsAre());
  }
}

}  // namespace
}  // namespace granary
