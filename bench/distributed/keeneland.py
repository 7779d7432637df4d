#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Section VI-D of the Hierarchical paper (Wu, Bouteiller, Bosilca, Faverge, Dongarra 2015) in virtual time: Cholesky in
double precision on up to 64 nodes of Keeneland. One CSV line per simulation.

  bench/distributed/keeneland.py --bin build/bin --jobs 2

Stated, and not fitted: the platform `keeneland` (its file names the sources), 40 Gbit/s, square grids of processes,
PaRSEC's choice of devices, equal priorities as in DPLASMA, only GEMM on GPUs; of the 16 cores, three drive the GPUs and
one the network. `--only` runs one part: figure 9 (speed by order, with and without inner tiles), figure 10 (weak
scaling), and what the assumptions cost.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INNER = 192
BASE = {"platform": "keeneland", "processes": 64, "cpus": 12, "algorithm": "cholesky", "precision": "d",
        "scheduler": "prio:balance=parsec", "priorities": "none"}
COLUMNS = ["part", "case", "processes", "n", "tile", "inner_tile", "tflops", "gb_sent", "idle", "wall_seconds"]
LARGE = 218880


def cases():
    """Part, name, order, tile, inner tile, other options."""
    for order, tiles in ((46080, (384, 576, 768, 960)), (92160, (576, 768, 960, 1152)), (115200, (576, 768, 960, 1152)),
                         (LARGE, (768, 960, 1152))):
        for tile in tiles:
            for inner in (0, INNER):
                yield "figure 9", "inner tiles" if inner else "whole tasks", order, tile, inner, {}
    for side in range(1, 9):
        yield "figure 10", "inner tiles", 27648 * side, 1152, INNER, {"processes": side * side}
        if side in (1, 2, 4, 8):
            yield "figure 10", "whole tasks", 27648 * side, 1152, 0, {"processes": side * side}
    for name, options in (("no core for the network", {"cpus": 13}), ("all 16 cores work", {"cpus": 16}),
                          ("bottom levels as priorities", {"priorities": "bottom-level"}),
                          ("transfers by priority", {"transfers_by_priority": True}),
                          ("32 Gbit/s", {"network": "4GB/s:1500ns"}), ("56 Gbit/s", {"network": "6.8GB/s:1500ns"}),
                          ("20 Gbit/s", {"network": "2.5GB/s:1500ns"}), ("no limit of the network", {"network": "1000GB/s:0s"}),
                          ("PCIe one way at a time", {"half_duplex": True}),
                          ("any device may run any task", {"scheduler": "prio"})):
        yield "assumptions", name, LARGE, 1152, INNER, options


def simulate(program, order, tile, inner, options):
    arguments = {**BASE, **options, "tiles": order // tile, "tile": tile}
    if inner:
        arguments["inner_tile"] = inner
    command = [str(program), "--no-bounds"]
    for name, value in arguments.items():
        command += [f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)])
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "run.json"
        subprocess.run([*command, "--json", str(result)], check=True, stdout=subprocess.DEVNULL)
        return json.loads(result.read_text())[0]


def row(program, case):
    part, name, order, tile, inner, options = case
    run = simulate(program, order, tile, inner, options)
    workers = run["processes"] * (run["cpus"] + run["devices"])
    return {"part": part, "case": name, "processes": run["processes"], "n": order, "tile": tile, "inner_tile": inner,
            "tflops": f"{run['gflops'] * 1e-3:.2f}", "gb_sent": f"{run['bytes_sent'] * 1e-9:.0f}",
            "idle": f"{run['idle_seconds'] / run['seconds'] / workers:.3f}", "wall_seconds": f"{run['wall_seconds']:.1f}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "keeneland.csv")
    parser.add_argument("--only", default="", help="parts whose names contain this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    chosen = [case for case in cases() if arguments.only in case[0]]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool, open(arguments.output, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for line in pool.map(lambda case: row(arguments.bin / "granary-simulate", case), chosen):
            writer.writerow(line)
            file.flush()
            print(",".join(map(str, line.values())), flush=True)


if __name__ == "__main__":
    main()
