# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tasks that run as finer graphs, measured with hierarchical_bench and simulated with granary-simulate, as CSV.

  python3 bench/hierarchical/hierarchical.py simulated BUILD > bench/hierarchical/simulated.csv
  python3 bench/hierarchical/hierarchical.py measured BUILD > bench/hierarchical/measured.csv

BUILD is a build directory. Simulated is Figure 6 of the Hierarchical paper (Cholesky in double precision, 3 GPUs and 16
cores) on the nearest shipped platform, sirocco: 3 of its 4 NVIDIA K40m and 16 of its 20 cores (Intel Xeon E5-2680 v3;
the paper: K40c, E5-2650 v2). For each matrix order and tile size, without and with inner tiles of 192, as in
the paper; the scheduler is dmdas. Run the measurement on an idle machine.
"""
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ORDERS = range(5760, 46081, 5760)
TILES = (384, 576, 960, 1152, 1440)  # divisors of 5760
INNER = (0, 192)
PLATFORM = ["--platform", "sirocco", "--gpus", "3", "--cpus", "16", "--precision", "d", "--scheduler", "dmdas"]
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


def simulate(program, algorithm, order, tile, inner):
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "run.json"
        subprocess.run(
            [program, *PLATFORM, "--algorithm", algorithm, "--tiles", str(order // tile), "--tile", str(tile),
             "--inner-tile", str(inner), "--no-bounds", "--json", str(result)],
            check=True, stdout=subprocess.DEVNULL)
        run = json.loads(result.read_text())[0]
    return run


def simulated(build):
    program = find(build, "granary-simulate")
    rows = []
    for algorithm, flops in (("cholesky", 1 / 3), ("lu", 2 / 3)):
        for order in ORDERS:
            for tile in TILES:
                seconds = [simulate(program, algorithm, order, tile, inner)["seconds"] for inner in INNER]
                whole, shared = (flops * order**3 / s * 1e-9 for s in seconds)
                rows.append({"algorithm": algorithm, "n": order, "tile": tile, "inner_tile": INNER[1],
                             "whole_gflops": f"{whole:.0f}", "inner_gflops": f"{shared:.0f}",
                             "gain": f"{shared / whole:.3f}"})
    write(rows)


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
    if len(sys.argv) != 3 or sys.argv[1] not in ("simulated", "measured"):
        sys.exit(__doc__)
    {"simulated": simulated, "measured": measured}[sys.argv[1]](sys.argv[2])
