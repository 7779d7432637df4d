#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the tests of sources: find_tests.py FILE... prints, for each, the tests that are nearest to it. Nearest first:
  name      <source>_test.cpp
  header    a test includes its header; a source without one has that of the beginning of its name (engine_waits.cpp:
            engine.hpp), or else the header that it includes first
  policy    a test names the policy that it registers
  program   a test runs the program of its folder
  callers   all of these for the files that include its header, and for the files that include those, until there is a test
Without FILE: counts the sources of the product by this rule, and exits with 1 if there is one without tests."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
NOT_PRODUCT = {"bench", "cmake", "docs", "examples", "scripts", "spack", "tests"}
INCLUDE = re.compile(r"^\s*#\s*include\s*[<\"](?:granary/(?:detail/)?)?([^>\"]+)[>\"]", re.M)
REGISTERED = re.compile(r"Registration (?:const )?\w+[({]\s*\"(\w+)\"")
RULES = ("name", "header", "policy", "program", "callers")


class Tree:
    def __init__(self, root):
        folders = [path for path in sorted(root.iterdir()) if path.is_dir() and path.name not in NOT_PRODUCT and not re.match(r"build|\.", path.name)]
        self.product = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
                        for folder in folders for path in sorted(folder.rglob("*.[ch]pp"))}
        tests = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in sorted((root / "tests").rglob("*.cpp"))}
        # Sources of examples and benchmarks in tests/ are no tests.
        self.tests = {path: text for path, text in tests.items() if "TEST" in text}
        self.by_name = collections.defaultdict(list)
        self.testing, self.including = collections.defaultdict(set), collections.defaultdict(set)
        for path, text in self.tests.items():
            self.by_name[pathlib.PurePosixPath(path).name].append(path)
            for header in self.included(path, text):
                self.testing[header].add(path)
        for path, text in self.product.items():
            for header in self.included(path, text):
                self.including[header].add(path)

    def included(self, path, text):
        """The headers of the product that a file includes; apps include those of their folder by name alone."""
        folder = path.rpartition("/")[0]
        return [found for header in INCLUDE.findall(text) for found in (header, f"include/granary/{header}", f"{folder}/{header}")
                if found in self.product]

    def header_of(self, source):
        if source.endswith(".hpp"):
            return source
        name = source.removesuffix(".cpp")
        while name.rpartition("/")[2]:
            if f"{name}.hpp" in self.product:
                return f"{name}.hpp"
            folder, _, stem = name.rpartition("/")
            name = f"{folder}/{stem.rpartition('_')[0]}"
        return next(iter(self.included(source, self.product[source])), None)

    def named(self, source):
        folders = set(source.split("/")[:-1])
        return {test for test in self.by_name[pathlib.PurePosixPath(source).stem + "_test.cpp"] if folders & set(test.split("/"))}

    def tests_that_contain(self, texts, folder):
        return {path for path, content in self.tests.items() if path.startswith(folder) and any(text in content for text in texts)}

    def near_tests(self, source):
        """The first rule that finds tests without a look at callers, and these."""
        found = self.named(source)
        if found:
            return "name", found
        if found := self.testing[self.header_of(source)]:
            return "header", found
        if found := self.tests_that_contain([f'"{name}' for name in REGISTERED.findall(self.product[source])], "tests/"):
            return "policy", found
        program = re.match(r"apps/(granary-\w+)/", source)
        if program and (found := self.tests_that_contain([program[1]], "tests/apps/")):
            return "program", found
        return None, set()

    def tests_of(self, source):
        """The first rule that finds tests, and these."""
        rule, found = self.near_tests(source)
        if found:
            return rule, found
        seen, level = set(), {self.header_of(source)} - {None}
        while level:
            seen |= level
            callers = set().union(*(self.including[file] for file in level)) - {source}
            if found := set().union(*(self.near_tests(caller)[1] for caller in callers)):
                return "callers", found
            level = (callers | {self.header_of(caller) for caller in callers}) - seen - {None}
        return None, set()


def main():
    files = sys.argv[1:]
    tree = Tree(ROOT)
    for file in files:
        path = pathlib.Path(file).resolve()
        name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else file
        if name not in tree.product:
            print(f"{file} is no C++ file of the product", file=sys.stderr)
            return 2
        rule, tests = tree.tests_of(name)
        print("\n".join([f"{name}: by {rule}" if rule else f"{name}: no test", *(f"  {test}" for test in sorted(tests))]))
    if files:
        return 0
    counts = collections.Counter()
    for source in (path for path in tree.product if path.endswith(".cpp")):
        rule, _ = tree.tests_of(source)
        counts[rule] += 1
        if rule is None:
            print(f"{source} has no test: scripts/find_tests.py says how tests are found")
    print(f"tests of {sum(counts.values())} sources: " + ", ".join(f"{counts[rule]} by {rule}" for rule in RULES) + f", {counts[None]} without")
    return 1 if counts[None] else 0


if __name__ == "__main__":
    sys.exit(main())
