# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tasks that run as finer graphs, measured with hierarchical_bench, as CSV.

  python3 bench/hierarchical/hierarchical.py BUILD > bench/hierarchical/measured.csv

BUILD is a build directory. Run it on an idle machine. Simulated runs are in bench/figures/hierarchical.py.
"""
import csv
import json
import subprocess
import sys
from pathlib import Path

MEASURED = (("cholesky", 4096, 1024, "192,256,344,512"), ("cholesky", 4096, 2048, "256"), ("lu", 4096, 1024, "256"))


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
    program = find(build, "hierarchical_bench")
    rows = []
    for algorithm, order, tile, inner in MEASURED:
        lines = subprocess.run([program, algorithm, str(order), str(tile), inner, "5", "2"], check=True,
                               capture_output=True, text=True).stdout.splitlines()
        for line in map(json.loads, lines):
            rows.append({key: f"{value:.4g}" if isinstance(value, float) else value for key, value in line.items()})
    write(rows)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    measured(sys.argv[1])
