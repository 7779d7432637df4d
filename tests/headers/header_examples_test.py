#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""header_examples.py refuses each kind of fault, in a small tree, and what it writes has the header's lines:
header_examples_test.py COMPILER."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "header_examples.py"
COMPILER = sys.argv.pop(1)
# What the source needs of GoogleTest.
GTEST = """#define TEST(suite, name) void test_##suite##_##name()
#define EXPECT_TRUE(condition) ((condition) ? 0 : throw __LINE__)
"""


def header(*example):
    """A header of two comments; the first line of the example has the number 7."""
    lines = ["/// A number.", "///", *(f"/// {line}".rstrip() for line in example)]
    return "\n".join(["#pragma once", "", "namespace granary {", *lines, "inline int one() { return 1; }", "}", ""])


def block(*lines):
    return header("```cpp", *lines, "```")


class HeaderExamples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.source = self.root / "examples.cpp"
        (self.root / "include/gtest").mkdir(parents=True)
        (self.root / "include/granary").mkdir()
        (self.root / "include/granary/detail").symlink_to(self.root)
        (self.root / "include/gtest/gtest.h").write_text(GTEST)

    def make(self, files):
        """Headers of the front door, and those whose names begin with detail/."""
        self.source.unlink(missing_ok=True)
        for name, content in files.items():
            (self.root / "include/granary" / name).write_text(content)
        return subprocess.run([sys.executable, SCRIPT, self.source, self.root], capture_output=True, text=True)

    def accepted(self, files):
        """The compiler's result for what the script writes."""
        result = self.make(files)
        self.assertEqual(result.returncode, 0, result.stderr)
        return subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", "-I", self.root / "include", self.source],
                              capture_output=True, text=True)

    def refused(self, files, message):
        result = self.make(files)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stderr, message + "\n")
        self.assertFalse(self.source.exists())

    def compiles(self, files):
        result = self.accepted(files)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_header_of_the_front_door_has_an_example(self):
        door = "#pragma once\n#include <granary/detail/a.hpp>\n"
        self.compiles({"granary.hpp": door, "detail/a.hpp": block("assert(granary::one() == 1);")})
        self.assertIn("#include <granary/granary.hpp>\n", self.source.read_text())
        self.assertNotIn("#include <granary/detail/a.hpp>\n", self.source.read_text())
        for without in (header(), header("```text", "one", "```")):
            self.refused({"granary.hpp": door, "detail/a.hpp": without},
                         "detail/a.hpp is in the front door and has no example: write one in a docstring, as a block ```cpp")

    def test_headers_that_only_include_need_none(self):
        self.compiles({"granary.hpp": "#include <granary/detail/a.hpp>\n",
                       "detail/a.hpp": "#pragma once\n#include <granary/detail/b.hpp>\n", "detail/b.hpp": block("granary::one();")})

    def test_an_error_has_the_line_of_the_header(self):
        for lines in ([], ["struct Two {", "  template <class T>", "  void operator()(T) const {}", "};"],
                      ["#include <vector>", "std::vector<int> x;"]):
            result = self.accepted({"a.hpp": block(*lines, "granary::two();")})
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, rf"(?m)^{self.root}/include/granary/a\.hpp:{7 + len(lines)}:\d+: error: .*two")

    def test_types_and_includes_stand_before_the_function(self):
        self.compiles({"a.hpp": block("#include <vector>", "template <class T>", "struct Pair {", "  T a, b;", "};", "struct Empty {};",
                                      "std::vector<Pair<int>> const pairs{{1, 2}};", "struct Both : Empty, Pair<int> {};")})

    def test_an_example_has_an_end(self):
        self.refused({"a.hpp": header("```cpp", "granary::one();")}, "a.hpp:7: the example has no end, ```")
        self.refused({"a.hpp": block("struct Two {", "  int a;", "  };")},
                     "a.hpp:7: a type in the example has no end, }; in the first column")

    def test_examples_include_the_front_door(self):
        self.refused({"a.hpp": block("#include <granary/detail/b.hpp>"), "detail/b.hpp": header()},
                     "a.hpp:7: the example includes granary/detail/b.hpp, which is not in the front door")


if __name__ == "__main__":
    unittest.main()
