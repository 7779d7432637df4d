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
UMBRELLA = {"granary.hpp": "runtime/granary.hpp"}
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
        (self.root / "include/granary").symlink_to(self.root)
        (self.root / "granary.hpp").symlink_to(self.root / UMBRELLA["granary.hpp"])
        (self.root / "include/gtest/gtest.h").write_text(GTEST)

    def make(self, files, included=()):
        self.source.unlink(missing_ok=True)
        public = [name for name in files if name not in included]
        lists = f"set(granary_public_headers {' '.join(public)})\nset(granary_mpi_headers)\nset(granary_included_headers {' '.join(included)})\n"
        for name, content in {**files, "cmake/GranaryHeaders.cmake": lists}.items():
            file = self.root / UMBRELLA.get(name, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        return subprocess.run([sys.executable, SCRIPT, self.source, self.root], capture_output=True, text=True)

    def accepted(self, files, included=()):
        """The compiler's result for what the script writes."""
        result = self.make(files, included)
        self.assertEqual(result.returncode, 0, result.stderr)
        return subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", "-I", self.root / "include", self.source],
                              capture_output=True, text=True)

    def refused(self, files, message, included=()):
        result = self.make(files, included)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stderr, message + "\n")
        self.assertFalse(self.source.exists())

    def compiles(self, files, included=()):
        result = self.accepted(files, included)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_public_header_has_an_example(self):
        self.compiles({"a.hpp": block("assert(granary::one() == 1);")})
        self.refused({"a.hpp": header("```text", "one", "```")},
                     "a.hpp is public and has no example: write one in a docstring, as a block ```cpp")

    def test_an_umbrella_includes_one_with_an_example(self):
        umbrella = "#pragma once\n#include <granary/a.hpp>\n"
        through = block("granary::one();")
        self.compiles({"granary.hpp": umbrella, "a.hpp": through}, ["a.hpp"])
        self.assertIn("#include <granary/granary.hpp>\n", self.source.read_text())
        self.assertNotIn("#include <granary/a.hpp>\n", self.source.read_text())
        self.refused({"granary.hpp": umbrella, "a.hpp": header()},
                     "granary.hpp is public and has no example: write one in a docstring, as a block ```cpp", ["a.hpp"])

    def test_an_error_has_the_line_of_the_header(self):
        for lines in ([], ["struct Two {", "  template <class T>", "  void operator()(T) const {}", "};"],
                      ["#include <vector>", "std::vector<int> x;"]):
            result = self.accepted({"a.hpp": block(*lines, "granary::two();")})
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, rf"(?m)^{self.root}/a\.hpp:{7 + len(lines)}:\d+: error: .*two")

    def test_types_and_includes_stand_before_the_function(self):
        self.compiles({"a.hpp": block("#include <vector>", "template <class T>", "struct Pair {", "  T a, b;", "};", "struct Empty {};",
                                      "std::vector<Pair<int>> const pairs{{1, 2}};", "struct Both : Empty, Pair<int> {};")})

    def test_an_example_has_an_end(self):
        self.refused({"a.hpp": header("```cpp", "granary::one();")}, "a.hpp:7: the example has no end, ```")
        self.refused({"a.hpp": block("struct Two {", "  int a;", "  };")},
                     "a.hpp:7: a type in the example has no end, }; in the first column")

    def test_examples_include_public_headers(self):
        self.refused({"a.hpp": block("#include <granary/b.hpp>"), "b.hpp": header()},
                     "a.hpp:7: the example includes granary/b.hpp, which is not public", ["b.hpp"])


if __name__ == "__main__":
    unittest.main()
