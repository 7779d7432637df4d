#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every command of documents: commands_test.py BUILD DIRECTORY PAGE... or commands_test.py --with-set-up PAGE...

Each page has its own folder in DIRECTORY, which is its HOME. There `build` links to BUILD, `examples` and `bench` to the repository's,
and the programs are in PATH. Its shell blocks are run there unchanged, in order; a line with `# exit status N` must have that status.
Reports that a command writes must be complete. A comment in front of a block changes this:

    <!-- set-up -->            installs packages and builds: run only with --with-set-up, where everything runs at the root of a copy of the repository
    <!-- not run: REASON -->   counted and printed
    <!-- run with A=B, C=D --> run with B instead of A: sizes for the test
    <!-- file: NAME -->        a block in another language, which is first written to that file
    <!-- output -->            the output of the previous block, line by line, ignoring blanks; … stands for any text
    <!-- output, but for A, B -->  the same without lines that begin with A or B, which differ between runs

<!-- numbers: A, B --> separate: these are in the text up to the next block and, equally rounded, in the output of the previous block.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Fault(Exception):
    pass


class Block(typing.NamedTuple):
    language: str
    text: str
    notes: dict[str, str]  # The comments in front of it.


def blocks_of(page: str) -> list[Block]:
    block = r"(?P<comments>(?:^<!-- [^\n]* -->\n)*)^```(?P<language>\w+)\n(?P<text>.*?)^```$"
    numbers = r"^<!-- numbers: (?P<numbers>[^\n]*) -->$(?P<prose>.*?)(?=^```|^<!--|\Z)"
    blocks = []
    for found in re.finditer(f"{numbers}|{block}", page, re.S | re.M):
        if found["numbers"]:
            blocks.append(Block("numbers", found["prose"], {"numbers": found["numbers"]}))
            continue
        notes = {}
        for comment in re.findall(r"<!-- (.*) -->", found["comments"]):
            note = re.fullmatch(r"(set-up)|(output)|(not run|file): (.+)|(run with|output, but for) (.+)", comment)
            if not note:
                raise Fault(f"nobody knows what '{comment}' means")
            notes[(note[1] or note[2] or note[3] or note[5]).split(",")[0]] = note[4] or note[6] or ""
        blocks.append(Block(found["language"], found["text"], notes))
    return blocks


def with_other_sizes(text: str, substitutions: str) -> str:
    for substitution in substitutions.split(", "):
        old, _, new = substitution.partition("=")
        text, count = re.subn(rf"(?<![\w.]){re.escape(old)}(?![\w.])", lambda _: new, text)
        if count == 0:
            raise Fault(f"'{old}', to be run as '{new}', does not stand in\n{text}")
    return text


def with_expected_failures(text: str) -> str:
    return re.sub(r"^(.*\S)\s+# exit status (\d+)$", r"status=0; \1 || status=$?; echo ended with $status; test $status = \2", text, flags=re.M)


def check_output(block: Block, output: str) -> None:
    """Checks that each line of the block is in the output."""
    printed = "\n".join(" ".join(line.split()) for line in output.splitlines())
    differ = tuple(block.notes["output"].split(", ")) if block.notes["output"] else ()
    lines = [" ".join(line.split()) for line in block.text.splitlines() if not line.strip().startswith(differ)]
    if not lines:
        raise Fault("nothing is compared with the output")
    for line in lines:
        if not re.search("^" + ".*".join(re.escape(piece) for piece in line.split("…")) + "$", printed, re.M):
            raise Fault(f"the output has no line '{line}'")


def check_numbers(block: Block, output: str) -> None:
    """Checks that the numbers are in the prose and in the output."""
    printed = re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]\w)", output)
    for number in block.notes["numbers"].split(", "):
        if not re.search(rf"(?<![\w.]){re.escape(number)}(?!\w|\.\d)", block.text):
            raise Fault(f"what follows does not say '{number}'")
        digits = len(number.partition(".")[2])
        if not any(f"{float(other):.{digits}f}" == number for other in printed):
            raise Fault(f"the output has no number {number}")


def processor_time() -> float:
    """Of all processes that have ended here."""
    times = os.times()
    return times.children_user + times.children_system


class Run:
    """Of one page."""

    def __init__(self, page: pathlib.Path, folder: pathlib.Path, environment: dict[str, str], with_set_up: bool):
        self.page, self.folder, self.environment, self.with_set_up = page, folder, environment, with_set_up
        self.run = 0
        self.not_run: list[str] = []

    def shell(self, block: Block) -> str:
        if "not run" in block.notes or ("set-up" in block.notes and not self.with_set_up):
            self.not_run.append(block.notes.get("not run", "set-up"))
            return ""
        text = with_other_sizes(block.text, block.notes["run with"]) if "run with" in block.notes else block.text
        print(f"$ {text}", end="", flush=True)
        start, start_of_processors = time.monotonic(), processor_time()
        process = subprocess.Popen(["bash", "-euo", "pipefail", "-c", with_expected_failures(text)], cwd=self.folder, env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        output = ""
        for line in process.stdout:
            print(line, end="", flush=True)
            output += line
        if process.wait() != 0:
            raise Fault(f"this ended with {process.returncode}:\n{text}")
        print(f"-- {time.monotonic() - start:.1f} s, {processor_time() - start_of_processors:.1f} s of processor time\n", flush=True)
        self.run += 1
        for report in re.findall(r"--report (\S+)", text):
            if "</html>" not in (self.folder / report).read_text()[-200:]:
                raise Fault(f"{report} is no whole page")
        return output

    def all(self) -> None:
        blocks = blocks_of(self.page.read_text())
        for block in blocks:
            if name := block.notes.get("file"):
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / name).write_text(block.text)
        output = ""
        for block in blocks:
            if block.language == "sh":
                output = self.shell(block)
            elif "output" in block.notes:
                check_output(block, output)
            elif block.language == "numbers":
                check_numbers(block, output)


def fresh_folder(build: pathlib.Path, folder: pathlib.Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, target in (("build", build), ("examples", ROOT / "examples"), ("bench", ROOT / "bench")):
        (folder / name).symlink_to(target)


def run_page(page: pathlib.Path, build: pathlib.Path, directory: pathlib.Path | None) -> Run:
    """Runs in a new folder below the directory; without a directory at the root, including set-up blocks."""
    folder = directory / page.stem if directory else ROOT
    environment = dict(os.environ)
    if directory:
        fresh_folder(build, folder)
        # The environment of a reader who has set nothing; models of the machine stay in the folder.
        environment = {name: value for name, value in environment.items() if not name.startswith(("GRANARY_", "XDG_"))}
        environment["HOME"] = str(folder)
    environment["PATH"] = f"{build / 'bin'}:{pathlib.Path(sys.executable).parent}:{environment['PATH']}"
    run = Run(page, folder, environment, directory is None)
    run.all()
    if directory:
        shutil.rmtree(folder)
    return run


def main() -> int:
    arguments = sys.argv[1:]
    if arguments[:1] == ["--with-set-up"] and len(arguments) > 1:
        build, directory, pages = ROOT / "build", None, arguments[1:]
    elif len(arguments) > 2 and not any(argument.startswith("-") for argument in arguments):
        build, directory, pages = pathlib.Path(arguments[0]).resolve(), pathlib.Path(arguments[1]).resolve(), arguments[2:]
    else:
        print(__doc__, file=sys.stderr)
        return 2
    status = 0
    for page in pages:
        try:
            run = run_page(pathlib.Path(page), build, directory)
        except Fault as fault:
            print(f"{page}: {fault}", file=sys.stderr)
            status = 1
            continue
        print(f"{page}: {run.run} blocks were run, {len(run.not_run)} were not" + "".join(f"; {reason}" for reason in run.not_run))
    return status


if __name__ == "__main__":
    sys.exit(main())
