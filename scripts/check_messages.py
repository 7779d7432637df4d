#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that docs/messages.md lists exactly the messages of the sources: check_messages.py [ROOT] [--write].

docs/troubleshooting.md must have a remedy for each warning and each error of the classes in ADVISED, and quote only messages of the
sources. --write updates the tables of docs/messages.md; the text around them stays.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import source_messages  # noqa: E402

ADVISED = ("warning", "error", "MemoryLimitError", "DeviceError", "DeviceLost", "IoError")
TABLE = re.compile(r"(<!-- messages of (?P<folder>\S+) -->\n\n)(?P<rows>(?:\|[^\n]*\n)*)")


def cell(text: str) -> str:
    return "`" + text.replace("|", "∣").replace("`", "'") + "`"


def quoted(document: str) -> set[str]:
    """The `code` in the first cells of a document's tables; a cell may have several."""
    cells = re.findall(r"^\| (`.*?`) +\|", document, re.M)
    return {text for cell_ in cells for text in re.findall(r"`([^`]*)`", cell_)}


def table(found: set[source_messages.Message], folder: str) -> str:
    kinds: dict[str, set[str]] = {}
    for message in found:
        if message.folder == folder:
            kinds.setdefault(message.text, set()).add(message.kind)
    rows = [f"| {cell(text)} | {', '.join(sorted(kind for kind in kinds[text] if kind))} |" for text in sorted(kinds)]
    return "\n".join(["| message | raised as |", "|---|---|", *rows, ""])


def check(root: pathlib.Path, found: set[source_messages.Message]) -> list[str]:
    listed = (root / "docs" / "messages.md").read_text()
    advice = (root / "docs" / "troubleshooting.md").read_text()
    wrong = []
    sections = {match["folder"]: quoted(match["rows"]) for match in TABLE.finditer(listed)}
    for folder in source_messages.FOLDERS:
        said = {cell(message.text)[1:-1] for message in found if message.folder == folder}
        have = sections.get(folder, set())
        wrong += [f"docs/messages.md does not list what {folder} says: {text}" for text in sorted(said - have)]
        wrong += [f"docs/messages.md lists what {folder} does not say: {text}" for text in sorted(have - said)]
    advised = quoted(advice)
    everything = {cell(message.text)[1:-1] for message in found}
    wrong += [f"docs/troubleshooting.md quotes what the sources do not say: {text}" for text in sorted(advised - everything)]
    needed = {cell(message.text)[1:-1] for message in found if message.kind in ADVISED}
    wrong += [f"docs/troubleshooting.md does not say what to do about: {text}" for text in sorted(needed - advised)]
    return wrong


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    found = source_messages.messages(root)
    if len(found) < 10:
        print(f"only {len(found)} messages were found below {root}", file=sys.stderr)
        return 1
    if "--write" in sys.argv:
        page = root / "docs" / "messages.md"
        page.write_text(TABLE.sub(lambda match: match[1] + table(found, match["folder"]), page.read_text()))
    wrong = check(root, found)
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    if wrong:
        print("scripts/check_messages.py --write lists new messages; their remedies must be written by hand", file=sys.stderr)
    print(f"{len(found)} messages, {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
