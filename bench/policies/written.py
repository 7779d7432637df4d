#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `darts` gains if its eviction policy prefers data that are valid elsewhere, too: `luf:written=W` against `luf`, in virtual time.
One CSV line per simulation; geometric means and extremes of the times and of the bytes, as ratios to `luf`, on standard output.

  bench/policies/written.py --bin build/bin
"""
import argparse
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "figures"))

from simulate import run_all, write_rows  # noqa: E402

EVICTIONS = ["luf", "luf:written=1", "luf:written=2", "luf:written=4", "luf:written=8", "luf:written=1000"]
COLUMNS = ["case", "eviction", "seconds", "bytes_total"]


def cases():
    """Name and options of granary-simulate: the DARTS paper's problems, and others with 0.1, 0.25 and 0.5 of their data as memory."""
    single = {"precision": "s", "tile": 2880}
    one = {**single, "platform": "v100x1", "cpus": 0}
    four = {**single, "platform": "v100x4", "cpus": 0, "gpus": 4}
    for tiles in (60, 75, 90):
        yield f"v100x1 cholesky {tiles}", {**one, "algorithm": "cholesky", "tiles": tiles}
        yield f"v100x1 cholesky {tiles}, half duplex", {**one, "algorithm": "cholesky", "tiles": tiles, "half_duplex": True}
    yield "p100 cholesky 70", {**one, "platform": "p100", "algorithm": "cholesky", "tiles": 70, "tile": 1920}
    yield "a100x1 cholesky 90", {**one, "platform": "a100x1", "algorithm": "cholesky", "tiles": 90}
    for tiles in (60, 100):
        yield f"v100x4 cholesky {tiles}", {**four, "algorithm": "cholesky", "tiles": tiles}
    yield "a100x4 cholesky 90", {**four, "platform": "a100x4", "algorithm": "cholesky", "tiles": 90}
    for tiles in (48, 72):
        yield f"v100x4 lu {tiles}", {**four, "algorithm": "lu", "tiles": tiles}
    yield "v100x1 lu 47", {**one, "algorithm": "lu", "tiles": 47}
    for tiles in (40, 50):
        yield f"xeon-disk lu {tiles}", {**single, "platform": "xeon-disk", "algorithm": "lu", "tiles": tiles}
        yield f"xeon-disk cholesky {tiles + 15}", {**single, "platform": "xeon-disk", "algorithm": "cholesky", "tiles": tiles + 15}
    for memory in (0.1, 0.25, 0.5):
        for name, options in (
                ("v100x1 cholesky 40", {**one, "algorithm": "cholesky", "tiles": 40}),
                ("v100x4 cholesky 40", {**four, "algorithm": "cholesky", "tiles": 40}),
                ("v100x1 gemm 20", {**one, "algorithm": "gemm", "tiles": 20}),
                ("v100x4 stencil-z 64", {**four, "algorithm": "stencil-z", "tiles": 64, "tile": 1024, "precision": "d", "iterations": 16}),
                ("sirocco cholesky 32", {**single, "platform": "sirocco", "algorithm": "cholesky", "tiles": 32, "tile": 960}),
                ("mirage cholesky 30", {**single, "platform": "mirage", "algorithm": "cholesky", "tiles": 30, "tile": 960}),
                ("mirage tree 24", {**single, "platform": "mirage", "algorithm": "tree", "tiles": 24, "tile": 960}),
                ("xeon-disk cholesky 30", {"platform": "xeon-disk", "algorithm": "cholesky", "tiles": 30, "tile": 960, "precision": "d"})):
            yield f"{name}, {memory}", {**options, "memory": memory}


def simulate(simulations, number, name, options, eviction):
    run, = simulations.runs(f"run{number}", **options, scheduler="darts", eviction=eviction, no_bounds=True)
    return {"case": name, "eviction": eviction, "seconds": run["seconds"], "bytes_total": run["bytes_total"]}


def print_ratios(rows):
    by_eviction = {eviction: {row["case"]: row for row in rows if row["eviction"] == eviction} for eviction in EVICTIONS}
    for eviction in EVICTIONS[1:]:
        for key in ("seconds", "bytes_total"):
            ratios = [row[key] / by_eviction["luf"][name][key] for name, row in by_eviction[eviction].items()]
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(f"{eviction}: {key} {mean:.3f}, {min(ratios):.3f} to {max(ratios):.3f} of {len(ratios)} cases")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "written.csv")
    arguments = parser.parse_args()
    jobs = [(name, options, eviction) for name, options in cases() for eviction in EVICTIONS]
    rows = run_all(arguments.bin / "granary-simulate", jobs, simulate)
    write_rows(arguments.output, COLUMNS, rows)
    print_ratios(rows)


if __name__ == "__main__":
    main()
