// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/text_file.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "support/file_size_limit.hpp"

namespace granary {
namespace {

int error_of(std::filesystem::path const& path, std::size_t most) {
  try {
    static_cast<void>(read_text_file(path, most));
  } catch (IoError const& error) {
    EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos);
    return error.error_number();
  }
  return 0;
}

TEST(TextFile, IsReadWhole) {
  auto const path = std::filesystem::temp_directory_path() / ("granary_text_" + std::to_string(::getpid()));
  std::string const text = std::string(200000, 'x') + std::string("\0\n", 2);
  std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(read_text_file(path), text);
  EXPECT_EQ(error_of(path, text.size()), 0);
  EXPECT_EQ(error_of(path, text.size() - 1), EFBIG);
  std::filesystem::remove(path);
}

TEST(TextFile, WhatCannotBeOpenedHasNoOffset) {
  try {
    static_cast<void>(read_text_file("/nowhere/x.json"));
    ADD_FAILURE() << "not refused";
  } catch (IoError const& error) {
    EXPECT_STREQ(error.what(), "cannot read /nowhere/x.json: No such file or directory");
  }
}

TEST(TextFile, AFailedWriteLeavesTheOldFile) {
  auto const path = std::filesystem::temp_directory_path() / ("granary_write_" + std::to_string(::getpid()));
  write_text_file(path, "old");
  EXPECT_EQ(read_text_file(path), "old");
  {
    test::FileSizeLimit const limit(100);
    EXPECT_THROW(write_text_file(path, std::string(1000, 'x')), IoError);
  }
  EXPECT_EQ(read_text_file(path), "old");
  EXPECT_FALSE(std::filesystem::exists(path.string() + ".partial"));
  write_text_file(path, "new");
  EXPECT_EQ(read_text_file(path), "new");
  std::filesystem::remove(path);
}

TEST(TextFile, IsWrittenStraightToADevice) {
  EXPECT_NO_THROW(write_text_file("/dev/null", "text"));
  EXPECT_THROW(write_text_file("/dev/full", "text"), IoError);
  EXPECT_THROW(write_text_file("/nowhere/x.json", "text"), InvalidArgument);
}

TEST(TextFile, WhatCannotBeReadIsNamed) {
  EXPECT_EQ(error_of("/nowhere/x.json", 10), ENOENT);
  EXPECT_EQ(error_of("/", 10), EISDIR);
  EXPECT_EQ(error_of("/dev/zero", 1 << 20), EFBIG) << "it never ends";
}

}  // namespace
}  // namespace granary
