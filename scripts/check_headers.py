#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Examples, documents and programs of the install test include only the front door, include/granary/*.hpp, and the
headers there define nothing: what they include is installed as granary/detail/..., and nothing else is. The façade's
header includes few. Prints each fault and exits with 1."""
import argparse
import pathlib
import re
import sys

# granary.hpp may include this many of granary's headers, directly and through others.
MOST_OF_FACADE = 43
# The headers of the front door are one for each thing that a user comes for.
MOST_FRONT_DOORS = 14
FRONT = "include/granary"
# CMake writes this one.
VERSION, VERSION_FILE = "version.hpp", "cmake/version.hpp.in"
# Documents and programs that show what a user includes.
SHOWN = ("README.md", "docs/*.md", "examples/*.cpp", "examples/*/*.cpp", "tests/install/*/*.cpp")
INCLUDE = re.compile(r"^\s*#\s*include\s*[<\"]granary/([^>\"]+)[>\"]", re.M)


def file_of(root, header):
    """The file of <granary/HEADER>."""
    if header == VERSION:
        return root / VERSION_FILE
    return root / header.removeprefix("detail/") if header.startswith("detail/") else root / FRONT / header


def front_door(root):
    return sorted(file.name for file in (root / FRONT).glob("*.hpp"))


def closure(root, headers):
    """`headers` and what they include, directly and through others; names as in <granary/...>."""
    found, left = set(), list(headers)
    while left:
        header = left.pop()
        if header not in found:
            found.add(header)
            left += INCLUDE.findall(file_of(root, header).read_text(encoding="utf-8"))
    return found


def faults(root):
    public = front_door(root)
    if len(public) > MOST_FRONT_DOORS:
        yield f"{FRONT} has {len(public)} headers, more than {MOST_FRONT_DOORS}"
    for header in public:
        text = (root / FRONT / header).read_text(encoding="utf-8")
        for line in text.splitlines():
            if line and not line.startswith(("//", "#include", "#pragma once")):
                yield f"{FRONT}/{header} has more than comments and includes: {line}"
    for shown in (file for pattern in SHOWN for file in sorted(root.glob(pattern))):
        used = re.findall(r"granary/((?:[a-z0-9_]+/)*[a-z0-9_]+\.hpp)", shown.read_text(encoding="utf-8"))
        for header in sorted(set(used) - {*public, VERSION}):
            yield f"{shown.relative_to(root)} names granary/{header}, which is not in {FRONT}"
    included = closure(root, ["granary.hpp"]) - {"granary.hpp", VERSION}
    if len(included) > MOST_OF_FACADE:
        yield f"granary.hpp includes {len(included)} of granary's headers, more than {MOST_OF_FACADE}: {' '.join(sorted(included))}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    found = list(faults(parser.parse_args().root))
    for fault in found:
        print(fault)
    print(f"headers: {len(found)} fault{'' if len(found) == 1 else 's'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
