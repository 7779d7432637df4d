// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/printable.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace granary {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  for (std::string const text : {"", "A(3, 2) of a.h5", "Größe μ ∞", "𝄞"}) EXPECT_EQ(printable(text), text);
}

TEST(Printable, EscapesControlCharacters) {
  EXPECT_EQ(printable("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("a\tb\nc\rd\x7f"), "a\\x09b\\x0ac\\x0dd\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b") << "a control sequence introducer of eight bits";
  EXPECT_EQ(printable_lines("a\nb\r"), "a\nb\\x0d");
}

TEST(Printable, EscapesWhatIsNoUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\x9b"), "\\x9b");
  EXPECT_EQ(printable("caf\xe9 x"), "caf\\xe9 x") << "Latin-1";
  EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80") << "longer than it need be";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair of UTF-16";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last character";
  EXPECT_EQ(printable("\xe2\x88"), "\\xe2\\x88") << "cut";
}

TEST(Excerpt, EndsBetweenCharacters) {
  EXPECT_EQ(excerpt("short", 5), "short");
  EXPECT_EQ(excerpt("longer", 5), "longe...");
  EXPECT_EQ(excerpt("\xe2\x88\x9e\xe2\x88\x9e", 4), "\xe2\x88\x9e...");
  EXPECT_EQ(excerpt("\x80\x80\x80", 2), "...");
}

TEST(Excerpts, AreTheFirstOnesAndTheNumberOfTheOthers) {
  EXPECT_EQ(excerpts({}, 5), "");
  std::vector<std::string> names{"", "rain", "longer"};
  EXPECT_EQ(excerpts(names, 5), ", rain, longe...");
  names.assign(23, "a");
  EXPECT_EQ(excerpts(names, 5), "a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a and 3 more");
}

TEST(JsonNestsDeeper, CountsBracketsOutsideOfText) {
  EXPECT_FALSE(json_nests_deeper("", 0));
  EXPECT_FALSE(json_nests_deeper(R"({"a": [[1], {}, [2]]})", 3));
  EXPECT_TRUE(json_nests_deeper(R"({"a": [[1], {}, [2]]})", 2));
  EXPECT_FALSE(json_nests_deeper(R"(["[[[[[[", "\"[[[[", "\\", "{{{"])", 1));
  EXPECT_TRUE(json_nests_deeper(R"(["\\", [[)", 2));
  EXPECT_FALSE(json_nests_deeper("]]]]]][", 1));
  EXPECT_TRUE(json_nests_deeper(std::string(300000, '['), most_json_depth));
}

}  // namespace
}  // namespace granary
