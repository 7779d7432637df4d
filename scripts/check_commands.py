#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the documents with the programs' --help: check_commands.py BIN [ROOT].

Every command line of a granary program in README.md or docs/, in a block or in `code`, has only options that the program knows, and
every option of every program is in the documents.
"""
import pathlib
import re
import shlex
import sys

sys.dont_write_bytecode = True
import program_help  # noqa: E402


def command_lines(document: str) -> list[str]:
    """Lines of shell blocks, continued lines joined, and pieces of `code`."""
    blocks = re.findall(r"^```(?:sh|bash|text|)\n(.*?)^```", document, re.S | re.M)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    prose = re.sub(r"^```.*?^```", "", document, flags=re.S | re.M)
    return lines + [re.sub(r"\s+", " ", code) for code in re.findall(r"`([^`]+)`", prose)]


def commands(line: str) -> list[list[str]]:
    """The words of each granary command on a line, the program's name first."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return []
    found: list[list[str]] = []
    inside = bool(words) and words[0].endswith(".py")  # A script's argument may be a program's name.
    for word in words:
        name = pathlib.PurePath(word).name
        if re.fullmatch(r"granary-[a-z]+", name) and not inside:
            found.append([name])
            inside = True
        elif word in ("|", "&&", "||", ";", "&") or word.startswith(">"):
            inside = False
        elif inside and found:
            found[-1].append(word)
    return found


def known_options(help_: program_help.Help, words: list[str]) -> set[str]:
    options = set(help_.option_names)
    for subcommand in help_.subcommands:
        if subcommand.words[-1] in words:
            options |= subcommand.option_names
    return options


def unknown_options(command: list[str], helps: dict[str, program_help.Help]) -> list[str]:
    known = known_options(helps[command[0]], command[1:])
    given = [word.partition("=")[0].rstrip(",.") for word in command[1:] if re.match(r"--?[a-zA-Z]", word)]
    return [option for option in given if option not in known]


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else pathlib.Path(__file__).resolve().parent.parent
    programs = sorted(folder.name for folder in (root / "apps").glob("granary-*"))
    helps = {name: program_help.read_help(pathlib.Path(sys.argv[1]) / name) for name in programs}
    documents = {path: path.read_text() for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]}
    others = "".join(path.read_text() for folder in ("bench", "examples") for path in (root / folder).rglob("CMakeLists.txt"))
    wrong = []
    checked = 0
    for path, document in documents.items():
        for line in command_lines(document):
            for command in commands(line):
                if command[0] in helps:
                    checked += 1
                    wrong += [f"{path.relative_to(root)}: {command[0]} has no option {option}: {line.strip()}"
                              for option in unknown_options(command, helps)]
                elif len(command) > 1 and command[0] not in others:
                    wrong.append(f"{path.relative_to(root)}: there is no program {command[0]}: {line.strip()}")
    everything = "\n".join(documents.values())
    for program, help_ in helps.items():
        for command in [help_, *help_.subcommands]:
            wrong += [f"{program}: no document names its option {name}" for name in sorted(command.option_names)
                      if name.startswith("--") and not re.search(re.escape(name) + r"(?![\w-])", everything)]
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    print(f"{checked} command lines of {len(helps)} programs in {len(documents)} documents, {len(wrong)} faults")
    return 1 if wrong or checked == 0 or not helps else 0


if __name__ == "__main__":
    sys.exit(main())
