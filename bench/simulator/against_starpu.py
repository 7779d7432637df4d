#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Simulates the cases that were run with StarPU master and SimGrid (float Cholesky, tile size 960) and prints both, as a table
and as CSV: GFlop/s and total GB moved. "xK": the memories of all devices together hold 1/K of the lower triangle.

    bench/simulator/against_starpu.py [--program build/bin/granary-simulate] [--output FILE.csv]
"""
import argparse
import csv
import json
import pathlib
import subprocess
import tempfile

# (name, GPUs, tiles, memory of each, {scheduler: (GFlop/s, GB)}); darts with its own eviction, "darts lru" with LRU.
SIROCCO = [
    ("1 GPU x2", 1, 24, "527MiB", {"eager": (1365, 17.3), "lws": (1651, 11.7), "dmdas": (1639, 11.3), "dmdar": (1684, 8.1),
                                   "darts": (1722, 3.5), "darts lru": (1723, 3.6)}),
    ("1 GPU x4", 1, 24, "263MiB", {"eager": (1274, 22.4), "lws": (1181, 25.0), "dmdas": (1153, 26.6), "dmdar": (1661, 13.7),
                                   "darts": (1716, 6.1), "darts lru": (1720, 6.1)}),
    ("4 GPUs x0.5", 4, 32, "928MiB", {"eager": (3374, 24.6), "lws": (6069, 11.6), "dmdas": (6417, 10.0),
                                      "dmdar": (6171, 11.4), "darts": (6877, 8.3)}),
    ("4 GPUs x2", 4, 32, "232MiB", {"eager": (1781, 51.0), "lws": (2494, 37.4), "dmdas": (2535, 36.4), "dmdar": (2680, 34.3),
                                    "darts": (4845, 18.5), "darts lru": (5418, 16.4)}),
    ("4 GPUs x4", 4, 32, "116MiB", {"eager": (1544, 59.3), "lws": (1970, 47.6), "dmdas": (1293, 72.6), "dmdar": (2174, 42.9),
                                    "darts": (3391, 27.4), "darts lru": (4071, 22.7)}),
]
SCHEDULERS = ["eager", "lws", "dmdas", "dmdar", "darts", "darts lru", "superblock", "planned", "auto"]
MIRAGE = {8: 794, 12: 1135, 16: 1430, 20: 1648, 24: 1801, 32: 1971}
MIRAGE_SCHEDULERS = ["heft", "heftp", "dmdas", "heteroprio", "laheteroprio", "darts", "superblock", "planned", "auto"]


def simulate(program, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "runs.json")
        subprocess.run([program, *map(str, arguments), "--json", path], check=True, stdout=subprocess.DEVNULL)
        return json.loads(path.read_text())


def run_sirocco(program, priorities):
    rows = []
    for name, gpus, tiles, memory, peer in SIROCCO:
        for scheduler in SCHEDULERS:
            policy, _, eviction = scheduler.partition(" ")
            run, = simulate(program, "--platform", "sirocco", "--gpus", gpus, "--cpus", 0, "--algorithm", "cholesky",
                            "--tiles", tiles, "--tile", 960, "--precision", "s", "--memory", memory, "--priorities",
                            priorities, "--scheduler", policy, *(["--eviction", eviction] if eviction else []))
            rows.append(("sirocco", name, priorities, scheduler, round(run["gflops"]), round(run["bytes_total"] / 1e9, 1),
                         *peer.get(scheduler, ("", ""))))
    return rows


def run_mirage(program):
    rows = []
    for tiles, best in MIRAGE.items():
        for run in simulate(program, "--platform", "mirage", "--gpus", 3, "--cpus", 9, "--algorithm", "cholesky", "--tiles",
                            tiles, "--tile", 960, "--precision", "s", "--scheduler", ",".join(MIRAGE_SCHEDULERS)):
            rows.append(("mirage", f"{tiles} tiles", "bottom-level", run["scheduler"], round(run["gflops"]),
                         round(run["bytes_total"] / 1e9, 1), best, ""))
    return rows


def print_table(rows):
    schedulers = list(dict.fromkeys(row[3] for row in rows))
    print("| case | " + " | ".join(schedulers) + " |\n|" + "---|" * (len(schedulers) + 1))
    for case in dict.fromkeys(row[1] for row in rows):
        cells = [f"{row[4]}/{row[5]}" for row in rows if row[1] == case]
        print(f"| {case} | " + " | ".join(cells) + " |")


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description="Simulate the cases that were run with StarPU and SimGrid, and print both.")
    parser.add_argument("--program", default=root / "build/bin/granary-simulate", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, help="CSV file")
    options = parser.parse_args()
    sets = [run_sirocco(options.program, "bottom-level"), run_sirocco(options.program, "starpu"), run_mirage(options.program)]
    for rows in sets:
        print(f"\n{rows[0][0]}, priorities: {rows[0][2]}: GFlop/s / GB")
        print_table(rows)
    if options.output:
        with open(options.output, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["platform", "case", "priorities", "scheduler", "gflops", "gb", "starpu_gflops", "starpu_gb"])
            writer.writerows(row for rows in sets for row in rows)


if __name__ == "__main__":
    main()
