#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""right.cpp compiles, and the compiler has exactly one error for each program of wrong/: the text after `// error:` in
it. Where the error is the compiler's own: one with a text after `// error with:`, and a note with that after `// note
with:`; a bar separates the texts of several compilers.

compile_errors_test.py COMPILE_COMMANDS [--compiler COMPILER]: the first is CMake's compile_commands.json, which has the
options for right.cpp; another compiler is used without the precompiled header."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

folder = pathlib.Path(__file__).resolve().parent
RIGHT = folder / "right.cpp"
# As GCC, Clang up to 15 and Clang from 16 on introduce the text of a static_assert.
ASSERTION = re.compile(r"static assertion failed(?: due to requirement '.*')?: (?P<text>.*)"
                       r"|static_assert failed(?: due to requirement '.*')? \"(?P<quoted>.*)\"")


def command(commands: pathlib.Path, compiler: str) -> list[str]:
    """The command that only checks a program, whose name follows."""
    entry = next(entry for entry in json.loads(commands.read_text()) if entry["file"] == str(RIGHT))
    words = shlex.split(entry["command"])
    words = words[:words.index("-o")] + words[words.index("-o") + 2:]
    words = [word for word in words if word not in ("-c", str(RIGHT))]
    if pathlib.Path(words[0]).name == "ccache":
        words = words[1:]
    if compiler:
        precompiled = ("-Winvalid-pch", "-include", "-Xclang", "-include-pch")
        words = [compiler] + [word for word in words[1:] if word not in precompiled and "cmake_pch" not in word]
    return words + ["-fsyntax-only"]


def expected(program: pathlib.Path) -> str:
    comment = re.search(r"^// error: (.*(?:\n// .*)*)", program.read_text(), re.M)
    return comment[1].replace("\n// ", " ") if comment else ""


def lacks(program: pathlib.Path, kind: str, lines: list[str]) -> bool:
    """Whether the program states a text for such a message that no line has."""
    comment = re.search(rf"^// {kind} with: (.*)", program.read_text(), re.M)
    return bool(comment) and not any(text in line for text in comment[1].split(" | ") for line in lines)


def fault(compile_only: list[str], program: pathlib.Path) -> str:
    """What is not as it should be; empty: nothing."""
    environment = {**os.environ, "LC_ALL": "C"}
    run = subprocess.run([*compile_only, program], capture_output=True, text=True, env=environment, check=False)
    errors = [line.split("error: ", 1)[1] for line in run.stderr.splitlines() if "error: " in line]
    if program == RIGHT:
        return "" if run.returncode == 0 else f"{program.name} does not compile:\n{run.stderr}"
    if len(errors) != 1:
        return f"{program.name} has {len(errors)} errors, not one:\n{run.stderr}"
    if not expected(program):
        assert "// error with: " in program.read_text(), f"{program.name} does not state its error"
        notes = [line for line in run.stderr.splitlines() if "note: " in line]
        wrong = lacks(program, "error", errors) or lacks(program, "note", notes)
        return f"{program.name} has other messages than it states:\n{run.stderr}" if wrong else ""
    found = ASSERTION.fullmatch(errors[0])
    text = (found["text"] or found["quoted"].replace('\\"', '"')) if found else errors[0]
    return "" if text == expected(program) else f"{program.name} has the error\n  {text}\nnot\n  {expected(program)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commands", type=pathlib.Path)
    parser.add_argument("--compiler", default="")
    options = parser.parse_args()
    compile_only = command(options.commands, options.compiler)
    programs = [RIGHT, *sorted((folder / "wrong").glob("*.cpp"))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [found for found in pool.map(lambda program: fault(compile_only, program), programs) if found]
    for found in faults:
        print(found)
    print(f"compile errors: {len(programs)} programs, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
