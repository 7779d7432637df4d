// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/text_file.hpp>
#include <granary/version.hpp>

#include <gtest/gtest.h>

#include <regex>
#include <string>

namespace granary {
namespace {

// The preprocessor can compare versions.
#if GRANARY_VERSION < 10000 * GRANARY_VERSION_MAJOR || GRANARY_VERSION >= 10000 * (GRANARY_VERSION_MAJOR + 1)
#error "GRANARY_VERSION does not begin with its major version"
#endif

TEST(Version, isThatOfTheProject) {
  auto const project = read_text_file(GRANARY_SOURCE_DIR "/CMakeLists.txt");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(project, found, std::regex(R"(project\(granary VERSION (\d+)\.(\d+)\.(\d+))")));
  auto const part = [&](std::size_t i) { return std::stoi(found[i]); };
  EXPECT_EQ(GRANARY_VERSION_MAJOR, part(1));
  EXPECT_EQ(GRANARY_VERSION_MINOR, part(2));
  EXPECT_EQ(GRANARY_VERSION_PATCH, part(3));
  EXPECT_EQ(GRANARY_VERSION, 10000 * part(1) + 100 * part(2) + part(3));
  EXPECT_EQ(std::string(GRANARY_VERSION_STRING), found.str(1) + "." + found.str(2) + "." + found.str(3));
}

}  // namespace
}  // namespace granary
