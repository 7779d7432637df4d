#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Follows docs/getting-started.md: getting_started_test.py BUILD DIRECTORY [--with-set-up].

Every shell block is run as it stands, in order, in DIRECTORY, where `build` leads to BUILD and `examples` to the repository's. Blocks that
`<!-- set-up -->` precedes install packages and build; they are run with --with-set-up only, which needs a copy of the repository: then all
is run at its root, and BUILD and DIRECTORY are not used. In the end there are the pictures that the page promises; DIRECTORY is removed.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "getting-started.md"


def blocks(with_set_up: bool) -> list[str]:
    found = re.findall(r"(<!-- set-up -->\n)?```sh\n(.*?)```", PAGE.read_text(), re.S)
    return [text for set_up, text in found if with_set_up or not set_up]


def main() -> int:
    with_set_up = "--with-set-up" in sys.argv[1:]
    arguments = [argument for argument in sys.argv[1:] if argument != "--with-set-up"]
    if with_set_up:
        directory = ROOT
    elif len(arguments) == 2:
        build, directory = (pathlib.Path(argument).resolve() for argument in arguments)
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        (directory / "build").symlink_to(build)
        (directory / "examples").symlink_to(ROOT / "examples")
    else:
        print(__doc__, file=sys.stderr)
        return 2
    commands = blocks(with_set_up)
    if len(commands) < 5:
        print(f"{PAGE.relative_to(ROOT)} has only {len(commands)} blocks to run", file=sys.stderr)
        return 1
    environment = {**os.environ, "GRANARY_MODELS": "off"}
    for command in commands:
        print(f"$ {command}", end="", flush=True)
        status = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=directory, env=environment).returncode
        if status != 0:
            print(f"ended with {status}:\n{command}", file=sys.stderr)
            return 1
    for picture in set(re.findall(r"--report (\S+)", PAGE.read_text())):
        if "</html>" not in (directory / picture).read_text()[-200:]:
            print(f"{picture} is no whole page", file=sys.stderr)
            return 1
    if not with_set_up:
        shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
