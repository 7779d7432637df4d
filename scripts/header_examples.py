#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes tests of the examples in the installed headers: header_examples.py TO [ROOT] writes one source, TO.

An example is a block ```cpp ... ``` in `///` lines. It becomes the body of a function, and a test calls that. Its lines
#include, and types and templates that begin in its first column, go before the function. The compiler's errors and
failed assertions have the header's line. Prints each fault and exits with 1: a header without an example which the front
door includes, for instance. A header that only includes others needs none if one of these has one."""
import pathlib
import re
import sys

from check_headers import INCLUDE, closure, file_of, front_door

DOCSTRING = re.compile(r" *///(?: (.*))?")
TYPE = re.compile(r"(template|struct|class)\b")
TYPE_END = re.compile(r"(\S.*)?};")

HEAD = """// Written by scripts/header_examples.py.
{includes}
#include <gtest/gtest.h>

#include <cassert>
#include <cstdio>

// A failed assertion is a failed test, also without debugging.
#undef assert
#define assert(condition) EXPECT_TRUE(condition)
// An example ends with its result.
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
"""


class Example:
    """A block of a header, whose first line has the number `first`."""

    def __init__(self, header, first):
        self.header, self.first, self.ended = header, first, False
        self.includes, self.types, self.body = [], [], []  # pairs of number and line
        self.part = self.body

    def add(self, number, line):
        if line.startswith("#include "):
            self.includes.append((number, line))
            return
        if self.part is self.body and TYPE.match(line):
            self.part = self.types
        self.part.append((number, line))
        if self.part is self.types and TYPE_END.fullmatch(line):
            self.part = self.body

    def faults(self, public):
        if not self.ended:
            yield f"{self.header}:{self.first}: the example has no end, ```"
        elif self.part is self.types:
            yield f"{self.header}:{self.first}: a type in the example has no end, }}; in the first column"
        for number, line in self.includes:
            for included in set(INCLUDE.findall(line)) - set(public):
                yield f"{self.header}:{number}: the example includes granary/{included}, which is not in the front door"

    def source(self, file):
        """A namespace with the types and the function, and the test."""
        name = re.sub(r"\W", "_", self.header.removesuffix(".hpp"))
        return "\n".join([f"namespace {name}_{self.first} {{", *placed(self.types, file), "void example() {",
                          *placed(self.body, file), "}", "}  // namespace",
                          f"TEST({name}, line_{self.first}) {{ {name}_{self.first}::example(); }}", ""])


def placed(lines, file):
    """The lines in their columns of the header, and where they are."""
    before = None
    for number, line in lines:
        if number - 1 != before:
            yield f'#line {number} "{file}"'
        yield f"    {line}".rstrip()
        before = number


def examples_of(header, text):
    example = None
    for number, line in enumerate(text.splitlines(), 1):
        found = DOCSTRING.fullmatch(line)
        content = (found[1] or "") if found else None
        if example is None:
            if content == "```cpp":
                example = Example(header, number + 1)
                yield example
        elif content is None or content == "```":
            example.ended = content is not None
            example = None
        else:
            example.add(number, content)


def has_example(header, text, examples):
    """`examples` are lists by header."""
    only_includes = not re.search(r"^namespace ", text, re.M)
    return examples[header] or only_includes and any(examples.get(included) for included in INCLUDE.findall(text))


def source(root, public, examples):
    """A header is included as users include it: through the header of the front door that includes the least."""
    by_size = sorted(public, key=lambda header: len(closure(root, [header])), reverse=True)
    through = {header: door for door in by_size for header in closure(root, [door])}
    includes = {f"#include <granary/{through[example.header]}>" for example in examples}
    includes.update(line for example in examples for _, line in example.includes)
    return "\n".join([HEAD.format(includes="\n".join(sorted(includes))),
                      *(example.source(file_of(root, example.header)) for example in examples)])


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else __file__ + "/../..").resolve()
    public = [header for header in front_door(root) if header != "mpi.hpp"]  # its examples need several processes
    shown = {header for door in public for header in INCLUDE.findall(file_of(root, door).read_text(encoding="utf-8"))}
    texts = {header: file_of(root, header).read_text(encoding="utf-8") for header in sorted(closure(root, public))}
    by_header = {header: list(examples_of(header, text)) for header, text in texts.items()}
    examples = [example for some in by_header.values() for example in some]
    faults = [fault for example in examples for fault in example.faults(public)]
    faults += [f"{header} is in the front door and has no example: write one in a docstring, as a block ```cpp"
               for header in sorted(shown) if not has_example(header, texts[header], by_header)]
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults:
        return 1
    to, text = pathlib.Path(sys.argv[1]), source(root, public, examples)
    if not to.exists() or to.read_text(encoding="utf-8") != text:  # otherwise nothing needs to be compiled
        to.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
