#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with default options on a machine that has learnt nothing, and again: orders that nothing divides beside the nearest multiples of 512.

  bench/any_n/defaults.py --bin build/bin --output bench/any_n/defaults.csv                 half an hour
  bench/any_n/defaults.py --bin build/bin --orders 8191 8192 --programs cholesky            seconds

Memory is the bytes of the matrix (of the triangle for Cholesky and posv) divided by --fractions, in whole MiB. Each line is the median by time of
--repeat pairs of a first run, with an empty folder of models, and a second one.
"""
import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

COLUMNS = ["program", "n", "memory_mib", "run", "tile", "scheduler", "seconds", "gflops", "bytes_read", "bytes_written", "bound", "whole_seconds"]
PROGRAMS = {  # the arguments, and the share of n^2 that the matrix takes
    "cholesky": (["granary-cholesky", "random:{n}"], 0.5),
    "lu": (["granary-lu", "random:{n}"], 1),
    "solve": (["granary-solve", "random:{n}", "general:{n}x16", "--spd"], 0.5),
}


def run(options, program, n, memory, models):
    arguments = [part.format(n=n) for part in PROGRAMS[program][0]]
    command = [str(options.bin / arguments[0]), *arguments[1:], "--memory", f"{memory}MiB", "--json", "-"]
    begin = os.times().elapsed
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "GRANARY_MODELS": models})
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed: {done.stderr.strip()}")
    summary = json.loads(done.stdout)
    return {"tile": summary["tile"], "scheduler": summary.get("chosen", summary["scheduler"]).split(":")[0], "seconds": summary["seconds"],
            "gflops": summary["gflops"], "bytes_read": summary["bytes_read"], "bytes_written": summary["bytes_written"],
            "bound": summary.get("io_bound_bytes", 0), "whole_seconds": os.times().elapsed - begin}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--orders", type=int, nargs="+", default=[8191, 8192, 12289, 12288, 20011, 20480])
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    parser.add_argument("--fractions", type=float, nargs="+", default=[4, 8])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--output", type=pathlib.Path, help="CSV")
    options = parser.parse_args()
    file = open(options.output, "w", newline="") if options.output else sys.stdout
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for n in options.orders:
        for program in options.programs:
            for fraction in options.fractions:
                memory = int(PROGRAMS[program][1] * n * n * 8 / fraction / 2**20)
                runs = {"first": [], "second": []}
                for _ in range(options.repeat):
                    with tempfile.TemporaryDirectory() as models:
                        for which in runs:
                            runs[which].append(run(options, program, n, memory, models))
                for which, results in runs.items():
                    median = statistics.median_low(result["whole_seconds"] for result in results)
                    row = next(result for result in results if result["whole_seconds"] == median)
                    rounded = {key: f"{value:.3f}" if isinstance(value, float) else value for key, value in row.items()}
                    writer.writerow({"program": program, "n": n, "memory_mib": memory, "run": which, **rounded})
                    file.flush()


if __name__ == "__main__":
    main()
