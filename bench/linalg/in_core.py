#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares operations on host Views with LAPACK's, in one process, interleaved; one CSV line per tile size.

  bench/linalg/in_core.py --bin build/bin --output bench/linalg/in_core.csv
"""
import argparse
import csv
import itertools
import json
import pathlib
import subprocess

from machine import machine

COLUMNS = ["operation", "n", "precision", "tile", "inner_tile", "stack", "chosen", "blas", "scheduler", "workers", "granary_gflops", "lapack_gflops", "ratio", "difference",
           "cpu", "cores", "memory", "kernel"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--output", type=pathlib.Path, required=True, help="CSV; lines are appended")
    parser.add_argument("--operation", nargs="+", default=["potrf", "getrf_nopiv", "getrf", "posv", "gesv", "geqrf", "gels"])
    parser.add_argument("--n", type=int, nargs="+", default=[8192])
    parser.add_argument("--tile", nargs="+", default=["auto"], help="auto, TILE, TILE/INNER or TILExSTACK")
    parser.add_argument("--precision", nargs="+", default=["double", "float"])
    parser.add_argument("--scheduler", default="prio")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    new = not arguments.output.exists()
    with arguments.output.open("a", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, COLUMNS, extrasaction="ignore")
        if new:
            table.writeheader()
        for n, operation, precision in itertools.product(arguments.n, arguments.operation, arguments.precision):
            command = [arguments.bin / "incore_bench", operation, str(n), precision, arguments.scheduler, str(arguments.repeat)]
            command += arguments.tile
            lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            for line in lines.splitlines():
                table.writerow({**json.loads(line), **machine()})
                print(line)


if __name__ == "__main__":
    main()
