# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tasks that run as finer graphs, measured with incore_bench, as CSV.

  python3 bench/hierarchical/hierarchical.py BUILD > bench/hierarchical/measured.csv

BUILD is a build directory. Run it on an idle machine. Simulated runs are in bench/figures/hierarchical.py.
"""
import csv
import json
import subprocess
import sys
from pathlib import Path

MEASURED = (("potrf", 4096, 1024, (192, 256, 344, 512)), ("potrf", 4096, 2048, (256,)), ("getrf_nopiv", 4096, 1024, (256,)))
COLUMNS = ("operation", "n", "tile", "inner_tile", "workers", "runs", "best_gflops", "granary_gflops", "best_gain", "median_gain", "inner_tasks", "busy", "difference")


def find(build, program):
    found = [path for path in Path(build).rglob(program) if path.is_file()]
    if not found:
        sys.exit(f"{program} is not in {build}: build it")
    return str(found[0])


def write(rows):
    out = csv.DictWriter(sys.stdout, fieldnames=rows[0].keys(), lineterminator="\n")
    out.writeheader()
    out.writerows(rows)


def measured(build):
    program = find(build, "incore_bench")
    rows = []
    for operation, order, tile, inner in MEASURED:
        tiles = [str(tile), *(f"{tile}/{size}" for size in inner)]
        lines = subprocess.run([program, operation, str(order), "double", "auto", "5", *tiles], check=True,
                               capture_output=True, text=True).stdout.splitlines()
        whole, *_ = found = [json.loads(line) for line in lines]
        for line in found:
            line["best_gain"] = line["best_gflops"] / whole["best_gflops"]
            line["median_gain"] = line["granary_gflops"] / whole["granary_gflops"]
            rows.append({key: f"{line[key]:.4g}" if isinstance(line[key], float) else line[key] for key in COLUMNS})
    write(rows)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    measured(sys.argv[1])
