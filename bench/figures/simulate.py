# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs granary-simulate and granary-schedule for the figures and stores their output beside them."""
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import tempfile


class Simulations:
    """Simulations that write into one folder; commands are recorded in commands.txt there. `own`: schedulers that are
    drawn beside those of the papers; `libraries` register policies."""

    def __init__(self, program, folder, own=(), libraries=()):
        self.program = program
        self.folder = pathlib.Path(folder)
        self.libraries = libraries
        self.schedules = {}
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "commands.txt").write_text("")
        # An unknown name is refused here, before anything is drawn.
        self.default_evictions = {run["scheduler"]: run["eviction"] for run in self._smallest_runs(own)} if own else {}

    def _smallest_runs(self, schedulers):
        return json.loads(self._call([*_arguments(dict(platform="v100x1", tiles=1, scheduler=schedulers)), "--json", "-"]))

    def own_beside(self, schedulers):
        """The user's schedulers that are not among those of a figure, by their labels, which are their specifications."""
        return {name: name for name in self.default_evictions if name not in schedulers}

    def _call(self, arguments, program="granary-simulate"):
        libraries = self.libraries if program == "granary-simulate" else ()
        loads = [word for library in libraries for word in ("--load", str(library))]
        command = [str(self.program.with_name(program)), *loads, *map(str, arguments)]
        with open(self.folder / "commands.txt", "a") as commands:
            commands.write(" ".join([program, *command[1:]]) + "\n")
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)} failed: {done.stderr.strip()}")
        return done.stdout

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

    def schedule(self, name, **options):
        """A schedule file of granary-schedule, made once, and the speeds that the program printed, in GFlop/s."""
        if name not in self.schedules:
            path = self.folder / f"{name}.schedule.json"
            printed = self._call([*_arguments(options), "--output", path, "--force"], "granary-schedule")
            rows = [line.split() for line in printed.splitlines() if line.endswith(" GFlop/s")]
            speeds = {" ".join(row[:-4]): float(row[-2]) for row in rows}
            self.schedules[name] = path, {key.split(":")[0].split(" of ")[0]: speed for key, speed in speeds.items()}
        return self.schedules[name]

    def order(self, name, **options):
        """The tasks of one run in the order in which they started."""
        path = self.folder / f"{name}.csv"
        self._call([*_arguments(options), "--order", path, "--force"])
        with open(path) as file:
            return list(csv.DictReader(file))

    def trace(self, path, **options):
        """Writes the trace of one run."""
        self._call([*_arguments(options), "--trace", path, "--force"])


def run_all(program, jobs, simulate, workers=None):
    """The results of simulate(simulations, number, *job) for all jobs, several at a time, whose files are not kept."""
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        simulations = Simulations(program.resolve(), folder)
        return list(pool.map(lambda job: simulate(simulations, job[0], *job[1]), enumerate(jobs)))


def write_rows(path, columns, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


def _arguments(options):
    arguments = []
    for key, value in options.items():
        arguments.append("--" + key.replace("_", "-"))
        if value is not True:
            arguments.append(",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value))
    return arguments
