#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The installed headers, cmake/GranaryHeaders.cmake, are the public ones and what these include; examples and the
reference use public ones only; the façade's header includes few. Prints each fault and exits with 1; with --write, first
writes the second list of that file."""
import argparse
import pathlib
import re
import sys

# granary.hpp may include this many of granary's headers, directly and through others.
MOST_OF_FACADE = 28
# <granary/X> is the file X, except for the umbrella.
UMBRELLA = {"granary.hpp": "runtime/granary.hpp"}
LISTS = "cmake/GranaryHeaders.cmake"
# Documents and programs that show what a user includes.
SHOWN = ("docs/reference.md", "examples/*.cpp", "examples/own_policy/*.cpp", "tests/install/*/*.cpp")
INCLUDE = re.compile(r"^\s*#\s*include\s*[<\"]granary/([^>\"]+)[>\"]", re.M)


def file_of(root, header):
    return root / UMBRELLA.get(header, header)


def closure(root, headers):
    """`headers` and what they include, directly and through others; names as in <granary/...>."""
    found, left = set(), list(headers)
    while left:
        header = left.pop()
        if header not in found:
            found.add(header)
            left += INCLUDE.findall(file_of(root, header).read_text(encoding="utf-8"))
    return found


def listed(text, name):
    """The headers of a list in cmake/GranaryHeaders.cmake."""
    return re.search(rf"set\({name}\b([^)]*)\)", text)[1].split()


def faults(root):
    text = (root / LISTS).read_text(encoding="utf-8")
    public = listed(text, "granary_public_headers") + listed(text, "granary_mpi_headers")
    needed = listed(text, "granary_included_headers")
    for header in public + needed:
        if not file_of(root, header).exists():
            yield f"{LISTS} names {header}, which does not exist"
            return
    installed = closure(root, public)
    for header in sorted(installed - {*public, *needed}):
        yield f"{header} is included by an installed header and not installed: run scripts/check_headers.py --write"
    for header in sorted(set(needed) - installed | set(needed) & set(public)):
        yield f"{header} is included by no public header, or public itself: run scripts/check_headers.py --write"
    for shown in (file for pattern in SHOWN for file in sorted(root.glob(pattern))):
        used = re.findall(r"granary/([a-z0-9_/]+\.hpp)", shown.read_text(encoding="utf-8"))
        for header in sorted(set(used) - set(public)):
            yield f"{shown.relative_to(root)} names granary/{header}, which is not public: see {LISTS}"
    included = closure(root, ["granary.hpp"]) - {"granary.hpp"}
    if len(included) > MOST_OF_FACADE:
        yield f"granary.hpp includes {len(included)} of granary's headers, more than {MOST_OF_FACADE}: {' '.join(sorted(included))}"


def write(root):
    text = (root / LISTS).read_text(encoding="utf-8")
    public = listed(text, "granary_public_headers") + listed(text, "granary_mpi_headers")
    lines = "\n".join(f"  {header}" for header in sorted(closure(root, public) - set(public)))
    text = re.sub(r"(set\(granary_included_headers)\s[^)]*\)", lambda found: f"{found[1]}\n{lines})", text)
    (root / LISTS).write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.write:
        write(arguments.root)
    found = list(faults(arguments.root))
    for fault in found:
        print(fault)
    print(f"headers: {len(found)} fault{'' if len(found) == 1 else 's'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
