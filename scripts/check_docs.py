#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every C++ block of README.md and docs/ stands in a file of examples/, which the tests build and run: each of its lines, in order."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent


def lines(text: str) -> list[str]:
    """Lines without indentation, comments, markers and blank lines."""
    stripped = (re.sub(r"\s*//.*", "", line).strip() for line in text.splitlines())
    return [line for line in stripped if line]


def stands_in(block: list[str], example: str) -> bool:
    # Compared without line breaks, so that the documents may break lines where a reader likes it.
    text = re.sub(r"\s+", "", "".join(lines(example)))
    position = 0
    for piece in re.split(r"(?<=[;{}])", re.sub(r"\s+", "", "".join(block))):
        found = text.find(piece, position)
        if found < 0:
            return False
        position = found + len(piece)
    return True


examples = {path: path.read_text() for path in sorted((root / "examples").rglob("*.cpp"))}
documents = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
blocks = 0
failed = 0
for document in documents:
    for block in re.findall(r"```cpp\n(.*?)```", document.read_text(), re.S):
        blocks += 1
        if not any(stands_in(lines(block), text) for text in examples.values()):
            failed += 1
            print(f"{document.relative_to(root)}: no example holds the block that begins with '{block.splitlines()[0]}'")
if blocks == 0:
    failed = 1
    print("no C++ block was found in the documents")
print(f"{blocks} blocks of C++ in {len(documents)} documents, {failed} not in an example")
sys.exit(1 if failed else 0)
