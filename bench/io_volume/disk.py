#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes that schedulers read and write, and their seconds, in factorizations larger than memory on a real disk; one CSV line per run.

  bench/io_volume/disk.py --bin build/bin --directory /some/disk --cases cholesky-150 lu-200MBps --repeat 3

The schedulers take turns within each repeat, so that other users of the machine slow down all of them alike. Needs about 2.5 GB in the directory.
"""
import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "linalg"))

from machine import machine  # noqa: E402

# Name: program, n, memory, tile, further options.
CASES = {"cholesky-150": ("granary-cholesky", 12288, "150MB", 512, []),
         "cholesky-75": ("granary-cholesky", 12288, "75MB", 512, []),
         "cholesky-75-1024": ("granary-cholesky", 12288, "75MB", 1024, []),
         "lu-200MBps": ("granary-lu", 8192, "64MiB", 512, ["--no-pivoting", "--disk-bandwidth", "200MB/s"])}
KINDS = {"granary-cholesky": "spd", "granary-lu": "general"}
MEASURED = ["scheduler", "eviction", "depth", "workers", "seconds", "gflops", "bytes_read", "bytes_written", "io_bound_bytes", "compulsory_bytes",
            "memory_limit_bytes", "memory_peak_bytes", "wait_seconds", "decision_seconds", "tasks"]
COLUMNS = ["case", "program", "n", "tile", "repeat", *MEASURED, "cpu", "cores", "memory", "kernel"]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--directory", type=pathlib.Path, default=pathlib.Path("."), help="folder of the matrices, on the disk to measure")
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "disk.csv", help="CSV; lines are appended")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--schedulers", nargs="+", default=["superblock", "darts"], help="each with its own eviction policy")
    parser.add_argument("--depth", help="default: the programs', which is 4")
    parser.add_argument("--repeat", type=int, default=3)
    return parser.parse_args()


def matrix(arguments, program, n, tile):
    kind = KINDS[program]
    path = arguments.directory / f"{kind}{n}-{tile}.h5"
    if not path.exists():
        subprocess.run([arguments.bin / "granary-matrix", "generate", kind, str(n), path, "--tile", str(tile)], check=True)
        os.sync()  # or else the first run shares the disk with the rest of the new file
    return path


def factor(arguments, case, scheduler):
    program, n, memory, tile, options = CASES[case]
    result, output = arguments.directory / "disk.json", arguments.directory / "disk-factor.h5"
    command = [arguments.bin / program, matrix(arguments, program, n, tile), output, *options, "--memory", memory, "--tile", str(tile),
               "--scheduler", scheduler, "--quiet", "--json", result, *(["--depth", arguments.depth] if arguments.depth else [])]
    subprocess.run(command, check=True)
    run = json.loads(result.read_text(encoding="utf-8"))
    output.unlink()
    result.unlink()
    return {**machine(), **{name: run.get(name, "") for name in MEASURED}, "scheduler": scheduler, "case": case, "program": program, "n": n, "tile": tile}


def table(rows):
    """Medians per scheduler; seconds also relative to darts in the same repeat."""
    lines = ["| case | scheduler | GB read | GB written | seconds (range) | seconds / darts' |", "|---|---|---|---|---|---|"]
    darts = {(row["case"], row["repeat"]): row["seconds"] for row in rows if row["scheduler"] == "darts"}
    for case, scheduler in dict.fromkeys((row["case"], row["scheduler"]) for row in rows):
        group = [row for row in rows if (row["case"], row["scheduler"]) == (case, scheduler)]
        seconds = [row["seconds"] for row in group]
        paired = [row["seconds"] / darts[case, row["repeat"]] for row in group if (case, row["repeat"]) in darts]
        lines.append(f"| {case} | {scheduler} | {gigabytes(group, 'bytes_read')} | {gigabytes(group, 'bytes_written')} | "
                     f"{statistics.median(seconds):.1f} ({min(seconds):.1f}–{max(seconds):.1f}) | {f'{statistics.median(paired):.2f}' if paired else '–'} |")
    return "\n".join(lines)


def gigabytes(rows, column):
    return f"{statistics.median(row[column] for row in rows) / 1e9:.2f}"


def main():
    arguments = parse()
    new = not arguments.output.exists()
    rows = []
    with arguments.output.open("a", newline="", encoding="utf-8") as stream:
        lines = csv.DictWriter(stream, COLUMNS)
        if new:
            lines.writeheader()
        for case in arguments.cases:
            for repeat in range(arguments.repeat):
                for scheduler in arguments.schedulers:
                    rows.append({**factor(arguments, case, scheduler), "repeat": repeat})
                    lines.writerow(rows[-1])
                    stream.flush()
    print(table(rows))


if __name__ == "__main__":
    main()
