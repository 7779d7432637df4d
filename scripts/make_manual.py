#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts a program's --help: make_manual.py man|bash|zsh PROGRAM FILE [--policies granary-simulate].

man: a manual page, by help2man. bash, zsh: completion of options, subcommands and, with --policies, the names of schedulers,
eviction policies, platforms and algorithms, as in granary-simulate --list.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import program_help

LISTED = {"--scheduler": "schedulers", "--eviction": "evictions", "--platform": "platforms", "--algorithm": "algorithms"}
SECTIONS = """[EXIT STATUS]
0: success. 1: failure; the standard error has one sentence about the reason. 2: the input or an option is invalid.
128 + number: ended by a signal.

[ENVIRONMENT]
Defaults for options that the program has and the command line does not set: GRANARY_SCHEDULER, GRANARY_EVICTION, GRANARY_WORKERS,
GRANARY_CORES_PER_WORKER, GRANARY_MEMORY, GRANARY_SCRATCH, GRANARY_DEVICES, GRANARY_DEVICE_MEMORY, GRANARY_DEVICE_LANES, GRANARY_LINK_BANDWIDTH, GRANARY_MODELS,
GRANARY_STALL_TIMEOUT, GRANARY_CHECK, GRANARY_TRACE, GRANARY_SAVE_SCHEDULE, GRANARY_MAX_LIVE_TASKS, GRANARY_BOOKING. GRANARY_BIND=0: do not bind threads to cores; GRANARY_MEASURE_LINKS=0: do not measure links.

[SEE ALSO]
The documentation of granary: docs/ in its sources.
"""


def listed(program: pathlib.Path) -> dict[str, list[str]]:
    """The names in granary-simulate --list, by kind."""
    lines = (line.partition(":") for line in program_help.run(program, "--list").splitlines())
    return {kind: names.split() for kind, colon, names in lines if colon}


def manual_text(help_: program_help.Help) -> str:
    """The help in the form that help2man reads, followed by those of the subcommands."""
    usages = [help_.usage] if not help_.subcommands else [subcommand.usage for subcommand in help_.subcommands]
    body = program_help.USAGE.sub("", help_.full).split("\n", 1)[1]
    text = f"Usage: {usages[0]}\n" + "".join(f"  or:  {usage}\n" for usage in usages[1:])
    text += f"\n{help_.description}\n\n{body}"
    for subcommand in help_.subcommands:
        rest = program_help.USAGE.sub("", subcommand.full).split("\n", 1)[1]
        rest = re.sub(r"^(Positionals|Options):\n", "", rest, flags=re.MULTILINE)
        text += f"\nSubcommand {subcommand.words[-1]}:\n{rest}"
    return re.sub(r"^(\s+-\w),(--)", r"\1, \2", text, flags=re.MULTILINE)


def write_man(help_: program_help.Help, version: str) -> str:
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        (folder / "help").write_text(manual_text(help_))
        (folder / "sections").write_text(SECTIONS)
        stand_in = folder / help_.words[0]
        stand_in.write_text(f"#!/bin/sh\ncat {folder}/help\n")
        stand_in.chmod(0o755)
        page = subprocess.run(
            ["help2man", "--no-info", "--no-discard-stderr", "--source", f"granary {version}", "--version-string", version, "--manual",
             "granary",
             "--name", help_.description.rstrip(".").replace("\n", " "), "--include", folder / "sections", stand_in],
            check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
        heading = f'.SS "{help_.words[0]} \\1"'
        return re.sub(r"^(?:\.PP\n)?Subcommand ([\w-]+):$", heading, page.stdout, flags=re.MULTILINE)


def choices_of(option: program_help.Option, names: dict[str, list[str]]) -> list[str]:
    for name in option.names:
        if name in LISTED and names:
            return names[LISTED[name]]
    return option.choices


def names_a_file(option: program_help.Option) -> bool:
    return re.search(r"\b(file|library|directory|JSON)\b", option.text) is not None


BASH = """\
# Completion of {program} for bash, generated from its --help.
{function}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} words="" subcommand="" word
  COMPREPLY=()
  case $previous in
{values}
  esac
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case $word in {subcommands}) subcommand=$word ;; esac
  done
  case $subcommand in
{words}
  esac
  if [[ $current == -* || {names_subcommand} ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -o filenames -F {function} {program}
"""


def write_bash(help_: program_help.Help, names: dict[str, list[str]]) -> str:
    values = {}
    for option in (option for command in [help_, *help_.subcommands] for option in command.options if option.value):
        choices = choices_of(option, names)
        offered = f'-W "{" ".join(choices)}"' if choices else "-f" if names_a_file(option) else '-W ""'
        values["|".join(option.names)] = f'    {"|".join(option.names)}) COMPREPLY=($(compgen {offered} -- "$current")); return ;;'
    subcommands = [subcommand.words[-1] for subcommand in help_.subcommands]
    words = [f'    {command.words[-1]}) words="{" ".join(sorted(command.option_names))}" ;;' for command in help_.subcommands]
    words.append(f'    *) words="{" ".join(sorted(help_.option_names) + subcommands)}" ;;')
    return BASH.format(program=help_.words[0], function="_" + help_.words[0].replace("-", "_"), values="\n".join(values.values()),
                       subcommands="|".join(subcommands) or "''", words="\n".join(words),
                       names_subcommand="-z $subcommand" if subcommands else "$subcommand")


def zsh_option(option: program_help.Option, names: dict[str, list[str]]) -> list[str]:
    text = re.sub(r"([\[\]:\\'])", lambda special: {"'": "'\\''"}.get(special[1], "\\" + special[1]), option.text)
    choices = choices_of(option, names)
    offered = f"({' '.join(choices)})" if choices else "_files" if names_a_file(option) else " "
    value = f":{option.value}:{offered}" if option.value else ""
    return [f"    '{name}[{text}]{value}'" for name in option.names]


def write_zsh(help_: program_help.Help, names: dict[str, list[str]]) -> str:
    def arguments(command: program_help.Help, positional: str) -> str:
        specifications = [line for option in command.options for line in zsh_option(option, names)]
        return "_arguments -S \\\n" + " \\\n".join([*specifications, f"    '{positional}'"])

    lines = [f"#compdef {help_.words[0]}", f"# Completion of {help_.words[0]} for zsh, generated from its --help."]
    if not help_.subcommands:
        return "\n".join([*lines, arguments(help_, "*:file:_files")]) + "\n"
    subcommands = " ".join(subcommand.words[-1] for subcommand in help_.subcommands)
    lines += ["case ${words[(r)(" + subcommands.replace(" ", "|") + ")]} in"]
    for subcommand in help_.subcommands:
        lines += [f"  {subcommand.words[-1]})", arguments(subcommand, "*:file:_files"), "  ;;"]
    return "\n".join([*lines, "  *)", arguments(help_, f"1:subcommand:({subcommands})"), "  ;;", "esac"]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("form", choices=["man", "bash", "zsh"])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--version", default="")
    parser.add_argument("--policies", type=pathlib.Path)
    arguments = parser.parse_args()
    help_ = program_help.read_help(arguments.program.resolve())
    names = listed(arguments.policies.resolve()) if arguments.policies else {}
    if arguments.form == "man":
        text = write_man(help_, arguments.version)
    else:
        text = {"bash": write_bash, "zsh": write_zsh}[arguments.form](help_, names)
    arguments.file.parent.mkdir(parents=True, exist_ok=True)
    arguments.file.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
