# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program's --help as data, for manual pages, completions and the checks of documented commands."""
import dataclasses
import pathlib
import re
import subprocess

# Names, kind of the value, limits or choices, then the description: after two spaces or on the next line.
OPTION = re.compile(r"^\s+(?P<names>-[\w-]+(?:,\s*-[\w-]+)*)(?P<flag>\{\w+\})?(?P<value>(?: \S+)*?)(?:\s{2,}(?P<text>.*))?$")
SECTION = re.compile(r"^(Positionals|Options|Subcommands):$", re.IGNORECASE)
USAGE = re.compile(r"^\s*Usage: (.*)$", re.MULTILINE)


@dataclasses.dataclass
class Option:
    names: list[str]
    value: str  # TEXT, UINT, …; empty: a flag
    text: str
    choices: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Help:
    """`words`: the program's name, and the subcommand's."""
    words: list[str]
    full: str
    usage: str = ""
    options: list[Option] = dataclasses.field(default_factory=list)
    subcommands: list["Help"] = dataclasses.field(default_factory=list)

    @property
    def description(self) -> str:
        return self.full.strip().splitlines()[0]

    @property
    def option_names(self) -> set[str]:
        return {name for option in self.options for name in option.names}


def make_option(match: re.Match) -> Option:
    value = match["value"].strip()
    if value.startswith("Excludes:"):
        value = ""
    choices = re.search(r"\{([^}]+)\}", value)
    return Option(names=re.split(r",\s*", match["names"]), value=re.split(r"[ :=]", value)[0], text=(match["text"] or "").strip(),
                  choices=choices[1].split(",") if choices else [])


def parse(words: list[str], text: str) -> tuple[Help, list[str]]:
    """The help and the names of subcommands."""
    found = Help(words, text)
    usage = USAGE.search(text)
    found.usage = usage[1].strip() if usage else ""
    section = ""
    names = []
    for line in text.splitlines():
        heading = SECTION.match(line)
        if heading:
            section = heading[1].lower()
        elif section == "options" and (match := OPTION.match(line.rstrip())):
            found.options.append(make_option(match))
        elif section == "options" and line.strip() and found.options:
            found.options[-1].text = f"{found.options[-1].text} {line.strip()}".strip()
        elif section == "subcommands" and (name := re.match(r"^\s{2}([\w-]+)", line)):
            names.append(name[1])
    return found, names


def run(program: pathlib.Path, *arguments: str) -> str:
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def read_help(program: pathlib.Path) -> Help:
    """Throws CalledProcessError if the program fails, ValueError if its help cannot be parsed."""
    found, names = parse([program.name], run(program, "--help"))
    for name in names:
        subcommand, _ = parse([program.name, name], run(program, name, "--help"))
        found.subcommands.append(subcommand)
    if not found.usage or "--help" not in found.option_names:
        raise ValueError(f"the help of {program.name} has no usage or no options")
    return found
