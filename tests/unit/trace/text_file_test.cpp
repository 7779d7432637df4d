// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/trace/text_file.hpp>

#include <granary/detail/core/base/error.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace granary {
namespace {

namespace fs = std::filesystem;

std::string read(std::string const& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(TextFile, ReplacesAnOldFileWhenItIsComplete) {
  auto pattern = (fs::temp_directory_path() / "granary-text-XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  auto const path = pattern + "/text";
  std::ofstream(path) << "old";
  {
    TextFile file(path);
    file.write(std::string(3U << 20U, 'x'));
    EXPECT_EQ(read(path), "old");
  }
  EXPECT_EQ(read(path), "old");
  EXPECT_FALSE(fs::exists(path + ".partial"));
  TextFile file(path);
  file.print("{} and {}", "more", 1);
  file.close();
  EXPECT_EQ(read(path), "more and 1");
  fs::remove_all(pattern);
}

TEST(TextFile, GoesToADeviceAsItIs) {
  TextFile null("/dev/null");
  null.write("text");
  EXPECT_NO_THROW(null.close());
  TextFile full("/dev/full");
  full.write("text");
  EXPECT_THROW(full.close(), IoError);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

}  // namespace
}  // namespace granary
