#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The façade's header includes few others of granary. Prints each fault and exits with 1."""
import pathlib
import re
import sys

# granary.hpp may include this many of granary's headers, directly and through others.
MOST_OF_FACADE = 25
# <granary/X> is the file X, except for the umbrella.
UMBRELLA = {"granary.hpp": "runtime/granary.hpp"}
INCLUDE = re.compile(r"#\s*include\s*[<\"]granary/([^>\"]+)[>\"]")


def closure(root, headers):
    """`headers` and what they include, directly and through others; names as in <granary/...>."""
    found, left = set(), list(headers)
    while left:
        header = left.pop()
        if header not in found:
            found.add(header)
            left += INCLUDE.findall((root / UMBRELLA.get(header, header)).read_text(encoding="utf-8"))
    return found


def faults(root):
    included = closure(root, ["granary.hpp"]) - {"granary.hpp"}
    if len(included) > MOST_OF_FACADE:
        yield f"granary.hpp includes {len(included)} of granary's headers, more than {MOST_OF_FACADE}: {' '.join(sorted(included))}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[1])
    found = list(faults(root))
    for fault in found:
        print(fault)
    print(f"headers: {len(found)} fault{'' if len(found) == 1 else 's'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
