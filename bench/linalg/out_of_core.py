#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factors one matrix out of core with every combination of limit, tile size, policies and depth; one CSV line each.

  bench/linalg/out_of_core.py --bin build/bin --directory /some/disk --output bench/linalg/out_of_core.csv
"""
import argparse
import csv
import itertools
import json
import pathlib
import subprocess
import sys

from machine import machine

COLUMNS = ["program", "n", "precision", "memory_limit_bytes", "tile", "scheduler", "eviction", "depth", "order", "disk_bandwidth", "workers", "seconds",
           "gflops", "bytes_read", "bytes_written", "times_bound", "memory_peak_bytes", "wait_seconds", "decision_seconds", "tasks",
           "cpu", "cores", "memory", "kernel"]


# Program: command, options, kind of matrix.
PROGRAMS = {"cholesky": ("granary-cholesky", [], "spd"), "lu": ("granary-lu", [], "general"),
            "lu-nopiv": ("granary-lu", ["--no-pivoting"], "general")}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--directory", type=pathlib.Path, default=pathlib.Path("."), help="folder of the matrices, on the disk to measure")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="CSV; lines are appended")
    parser.add_argument("--program", nargs="+", choices=PROGRAMS, default=["cholesky"])
    parser.add_argument("--n", type=int, default=12288)
    parser.add_argument("--memory", nargs="+", default=["300MB", "150MB"])
    parser.add_argument("--tile", nargs="+", type=int, default=[256, 512, 1024])
    parser.add_argument("--policies", nargs="+", default=["darts+luf", "darts+lru", "prio+lru", "eager+lru"])
    parser.add_argument("--depth", nargs="+", type=int, default=[1, 4, 16])
    parser.add_argument("--order", nargs="+", choices=["right", "left"], default=["right"])
    parser.add_argument("--disk-bandwidth", default="")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each; the fastest is kept")
    return parser.parse_args()


def matrix(arguments, kind, tile):
    path = arguments.directory / f"{kind}{arguments.n}-{tile}.h5"
    if not path.exists():
        subprocess.run([arguments.bin / "granary-matrix", "generate", kind, str(arguments.n), path, "--tile", str(tile)], check=True)
    return path


def factor(arguments, program, memory, tile, policies, depth, order):
    scheduler, eviction = policies.split("+")
    result = arguments.directory / "out_of_core.json"
    factor_file = arguments.directory / "factor.h5"
    executable, options, kind = PROGRAMS[program]
    command = [arguments.bin / executable, matrix(arguments, kind, tile), factor_file, *options, "--memory", memory, "--tile", str(tile),
               "--scheduler", scheduler, "--eviction", eviction, "--depth", str(depth), "--quiet", "--json", result]
    command += ["--left-looking"] if order == "left" else []
    command += ["--disk-bandwidth", arguments.disk_bandwidth] if arguments.disk_bandwidth else []
    best = None
    for _ in range(arguments.repeat):
        subprocess.run(command, check=True)
        run = json.loads(result.read_text(encoding="utf-8"))
        if best is None or run["seconds"] < best["seconds"]:
            best = run
        factor_file.unlink()
    result.unlink()
    best["times_bound"] = round(best["bytes_read"] / max(best["io_bound_bytes"], best["compulsory_bytes"]), 3)
    return {**best, "program": program, "depth": depth, "order": order, "disk_bandwidth": arguments.disk_bandwidth, **machine()}


def main():
    arguments = parse()
    new = not arguments.output.exists()
    with arguments.output.open("a", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, COLUMNS, extrasaction="ignore")
        if new:
            table.writeheader()
        for case in itertools.product(arguments.program, arguments.memory, arguments.tile, arguments.policies, arguments.depth, arguments.order):
            run = factor(arguments, *case)
            table.writerow(run)
            stream.flush()
            print(*case, f"{run['seconds']:.2f} s, {run['gflops']:.1f} GFlop/s, read {run['bytes_read'] / 1e9:.2f} GB "
                  f"({run['times_bound']} times the least)", file=sys.stderr)


if __name__ == "__main__":
    main()
