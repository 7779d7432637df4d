# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs granary-simulate for the figures and stores its output beside them."""
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess


class Simulations:
    """Simulations that write into one folder; commands are recorded in commands.txt there."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "commands.txt").write_text("")

    def _call(self, arguments):
        command = [str(self.program), *map(str, arguments)]
        with open(self.folder / "commands.txt", "a") as commands:
            commands.write("granary-simulate " + " ".join(command[1:]) + "\n")
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)} failed: {done.stderr.strip()}")

    def runs(self, name, **options):
        """The runs of one experiment, as dictionaries with the keys of docs/simulate.md."""
        path = self.folder / f"{name}.json"
        self._call([*_arguments(options), "--csv", self.folder / f"{name}.csv", "--json", path, "--force"])
        return json.loads(path.read_text())

    def runs_with(self, name, evictions, **options):
        """The same with each of these eviction policies, several at a time."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            parts = [pool.submit(self.runs, f"{name}-{eviction.replace(':', '-')}", eviction=eviction, **options)
                     for eviction in evictions]
            return [run for part in parts for run in part.result()]

    def order(self, name, **options):
        """The tasks of one run in the order in which they started."""
        path = self.folder / f"{name}.csv"
        self._call([*_arguments(options), "--order", path, "--force"])
        with open(path) as file:
            return list(csv.DictReader(file))


def _arguments(options):
    arguments = []
    for key, value in options.items():
        arguments.append("--" + key.replace("_", "-"))
        if value is not True:
            arguments.append(",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value))
    return arguments
