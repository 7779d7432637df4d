#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares bodies on a worker of several cores with the same bodies on Kokkos alone, alternating between the two.

Needs a build with Kokkos 4.0 or newer and OpenMP. Other processes on the cores disturb it: `chrt -f 5 bench/teams/teams.py` has precedence. Prints the time as a task over the time on Kokkos alone, of medians.
"""
import argparse
import csv
import io
import os
import statistics
import subprocess

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("program", help="teams_bench")
parser.add_argument("--cores", type=int, default=2)
parser.add_argument("--repeats", type=int, default=7, help="processes of each kind")
parser.add_argument("--rounds", type=int, default=10, help="measurements of each body in a process; medians count")
parser.add_argument("--output", help="CSV file")
options = parser.parse_args()


def run(*arguments, **environment):
    """Median seconds by body."""
    command = [options.program, "--cores", str(options.cores), "--rounds", str(options.rounds), *arguments]
    done = subprocess.run(command, check=True, text=True, capture_output=True, env=os.environ | environment)
    return {row["body"]: float(row["median_s"]) for row in csv.DictReader(io.StringIO(done.stdout))}


plain, tasks = [], []
for _ in range(options.repeats):
    plain.append(run("--plain", OMP_NUM_THREADS=str(options.cores), OMP_PROC_BIND="spread", OMP_PLACES="cores"))
    tasks.append(run(OMP_NUM_THREADS="1"))
rows = []
for body in plain[0]:
    alone, task = (statistics.median(each[body] for each in all) for all in (plain, tasks))
    rows.append([body, options.cores, f"{alone:.4g}", f"{task:.4g}", f"{task / alone:.3f}"])
text = io.StringIO()
with open("/proc/cpuinfo", encoding="utf-8") as info:
    model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "unknown processor")
text.write(f"# {model}, {os.cpu_count()} cores\n")
writer = csv.writer(text, lineterminator="\n")
writer.writerows([["body", "cores", "kokkos_alone_s", "task_s", "ratio"], *rows])
print(text.getvalue(), end="")
if options.output:
    with open(options.output, "w", encoding="utf-8") as file:
        file.write(text.getvalue())
