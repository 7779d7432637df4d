#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts what a user of the installed headers sees, prints the counts with their limits, and exits with 1 if one is
above its limit. A limit is the count of the day when it was set: a change may lower it, never raise it."""
import pathlib
import re
import sys

from check_headers import closure, file_of, front_door

# Count: (limit of today, what we want).
LIMITS = {
    "types in namespace granary, in all installed headers": (120, 120),
    "types in namespace granary, shown by granary.hpp": (36, 40),
    "functions of Runtime": (45, 45),
    "lines of Runtime's class": (250, 250),
    "friends of Runtime": (0, 0),
    "virtual functions of Scheduler": (11, 11),
    "names added to namespace Kokkos": (0, 0),
}
ROOT = pathlib.Path(__file__).resolve().parents[1]
OPENING = re.compile(r"(?:inline )?namespace (?:([\w:]+) )?\{")
TYPE = re.compile(r"(?:class|struct|union|enum class|enum)\s+(?:GRANARY_EXPORT\s+|\[\[\w+\]\]\s+)*(\w+)\b(?!\s*;)|using (\w+) =|using detail::([A-Z]\w+);")
FUNCTION = re.compile(r"  (?![ /#}])(?:.*[\w>&*)] )?(?:~?\w+|operator\S+)\(")


def types_of(text):
    """Names of the types that stand in namespace granary itself; namespaces begin in the first column."""
    spaces, found = [], set()
    for line in text.splitlines():
        if opened := OPENING.match(line):
            spaces.append(opened[1] or "")
        elif line.startswith("}  // namespace"):
            spaces.pop()
        elif spaces == ["granary"] and (named := TYPE.match(line)):
            found.add(named[1] or named[2] or named[3])
    return found


def class_of(text, name):
    """The lines of a class's definition."""
    return re.search(rf"^class GRANARY_EXPORT {name}\b[^;]*?\{{\n(.*?)^\}};", text, re.M | re.S)[1].splitlines()


def counts(root):
    texts = {header: file_of(root, header).read_text(encoding="utf-8") for header in closure(root, front_door(root))}
    shown = closure(root, ["granary.hpp"])
    runtime = class_of(texts["detail/runtime/api/runtime.hpp"], "Runtime")
    return {
        "types in namespace granary, in all installed headers": len(set().union(*map(types_of, texts.values()))),
        "types in namespace granary, shown by granary.hpp": len(set().union(*(types_of(texts[header]) for header in shown))),
        "functions of Runtime": sum(bool(FUNCTION.match(line)) for line in runtime),
        "lines of Runtime's class": len(runtime),
        "friends of Runtime": sum(line.startswith("  friend ") for line in runtime),
        "virtual functions of Scheduler": sum(" virtual " in line for line in class_of(texts["detail/core/policy/scheduler.hpp"], "Scheduler")),
        "names added to namespace Kokkos": sum(len(re.findall(r"^namespace Kokkos\b", text, re.M)) for text in texts.values()),
    }


def main():
    too_many = False
    for what, count in counts(ROOT).items():
        limit, wanted = LIMITS[what]
        print(f"{what}: {count} of {limit}, wanted {wanted}{'' if count <= limit else ': too many'}")
        too_many |= count > limit
    return too_many


if __name__ == "__main__":
    sys.exit(main())
