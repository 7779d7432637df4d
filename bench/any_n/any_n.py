#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes read and written for orders that the tile size does not divide, beside those of both neighbouring multiples, as bytes / n^3.

  bench/any_n/any_n.py --bin build/bin --output bench/any_n/any_n.csv                simulations, minutes
  bench/any_n/any_n.py --bin build/bin --output bench/any_n/any_n_runs.csv --runs    programs, with devices too
  bench/any_n/any_n.py --bin build/bin --quick --limit 1.15                          a test, seconds

One line per scheduler, order, memory and tile: `to_less` and `to_more` are the ratios of bytes / n^3 to those of the multiple that has less and
the one that has more of them. With --limit the status is 1 if a `to_more` is above it: where the neighbours differ by more than that (a matrix
of which memory holds a third or more), nothing between them can be near both.
"""
import argparse
import csv
import io
import json
import pathlib
import random
import statistics
import subprocess
import sys

SCHEDULERS = ["auto", "planned", "darts", "prio", "dmdas", "superblock"]
COLUMNS = ["kind", "algorithm", "scheduler", "n", "tile", "cut", "memory_tiles", "workers", "bytes", "to_less", "to_more"]
# The tiles of the largest task: for LU with pivoting a column, its copy and the pivots.
LEAST = {"cholesky": lambda tiles: 3, "lu": lambda tiles: 3, "lu-pivot-left": lambda tiles: tiles + 3}


def call(command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed: {done.stderr.strip()}")
    return done.stdout


def simulated(options, algorithm, orders, tile, memory_tiles, workers):
    """The bytes and the tile that was taken, by scheduler and order."""
    text = call([options.bin / "granary-simulate", "--platform", "xeon-disk", "--cpus", workers, "--algorithm", algorithm,
                 "--n", ",".join(map(str, orders)), "--tile", tile, "--precision", "d", "--memory",
                 f"{memory_tiles * tile * tile * 8}B", "--scheduler", ",".join(options.schedulers), "--no-bounds", "--csv", "-"])
    return {(row["scheduler"], int(row["n"])): (int(row["bytes_total"]), int(row["tile"])) for row in csv.DictReader(io.StringIO(text))}


def run(options, program, orders, tile, memory_tiles, more):
    """The same of a program, the median of three runs: the times of tasks change its order."""
    kind, algorithm = {"granary-cholesky": ("random", []), "granary-lu": ("general", []), "granary-lu nopiv": ("random", ["--no-pivoting"]),
                       "granary-solve": ("random", ["--spd"])}[program]
    results = {}
    for n in orders:
        inputs = [f"{kind}:{n}"] + ([f"general:{n}x16"] if program == "granary-solve" else [])
        for scheduler in options.schedulers:
            bytes_of = []
            for _ in range(3):
                summary = json.loads(call([options.bin / program.split()[0], *inputs, *algorithm, "--tile", tile, "--memory",
                                           f"{memory_tiles * tile * tile * 8}B", "--scheduler", scheduler, "--json", "-", *more]))
                moved = sum(summary.get(key, 0) for key in ("bytes_read", "bytes_written"))
                for links in ("bytes_host_to_devices", "bytes_devices_to_host", "bytes_device_to_device"):
                    moved += summary.get(links, 0)
                bytes_of.append(moved)
            results[scheduler, n] = (statistics.median(bytes_of), summary["tile"])
    return results


def cases(options):
    """What moves the bytes of given orders, its name and columns."""
    if options.quick:
        for algorithm, tiles, memory_tiles in (("cholesky", 9, 8), ("cholesky", 20, 20), ("lu", 10, 12)):
            yield "simulated", algorithm, tiles, 64, memory_tiles, 2, None
    elif options.runs:
        for program, tiles, memory_tiles in (("granary-cholesky", 24, 24), ("granary-cholesky", 40, 40), ("granary-lu nopiv", 20, 30),
                                             ("granary-lu", 16, 60), ("granary-solve", 20, 24)):
            yield "run", program, tiles, 128, memory_tiles, 2, ["--workers", 2]
        yield ("run on host:4", "granary-cholesky", 24, 128, 100, 0,
               ["--devices", "host:4", "--device-memory", f"{20 * 128 * 128 * 8}B", "--workers", 0])
    else:
        for algorithm in LEAST:
            for tiles in (8, 13, 24, 40):
                for memory_tiles in (8, 20, 60):
                    of_matrix = tiles * (tiles + 1) / 2 if algorithm == "cholesky" else tiles * tiles
                    if 2 * LEAST[algorithm](tiles) <= memory_tiles <= of_matrix / 3 and (tiles < 40 or algorithm == "cholesky"):
                        for workers in (1, 4):
                            yield "simulated", algorithm, tiles, 128, memory_tiles, workers, None


def rows_of(options, draw, kind, algorithm, tiles, tile, memory_tiles, workers, more):
    between = sorted({tiles * tile + offset for offset in [1, tile - 1, *(draw.randrange(2, tile - 1) for _ in range(options.orders - 2))]})
    orders = [tiles * tile, *between, (tiles + 1) * tile]
    results = (simulated(options, algorithm, orders, tile, memory_tiles, workers) if more is None else
               run(options, algorithm, orders, tile, memory_tiles, more))
    for scheduler in options.schedulers:
        of_order = {n: results[scheduler, n][0] / n ** 3 for n in orders}
        less, more_bytes = sorted((of_order[orders[0]], of_order[orders[-1]]))
        for n in between:
            moved, cut = results[scheduler, n]
            yield dict(zip(COLUMNS, [kind, algorithm, scheduler, n, tile, cut, memory_tiles, workers, int(moved),
                                     f"{of_order[n] / less:.3f}", f"{of_order[n] / more_bytes:.3f}"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--schedulers", type=lambda text: text.split(","), default=SCHEDULERS)
    parser.add_argument("--orders", type=int, default=5, help="between two multiples")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=pathlib.Path, help="CSV")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--runs", action="store_true")
    parser.add_argument("--limit", type=float, help="of to_more")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    rows = []
    for case in cases(options):
        rows += rows_of(options, draw, *case)
    if options.output:
        with open(options.output, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    print(f"{len({(row['algorithm'], row['n'], row['memory_tiles'], row['workers']) for row in rows})} sizes, {len(rows)} lines")
    print("| scheduler | median to_less | to_less above 1.1 | largest to_less | to_more above 1.1 | largest to_more |\n|---|---|---|---|---|---|")
    for scheduler in options.schedulers:
        less, more = ([float(row[key]) for row in rows if row["scheduler"] == scheduler] for key in ("to_less", "to_more"))
        print(f"| `{scheduler}` | {statistics.median(less):.3f} | {sum(x > 1.1 for x in less)} of {len(less)} | {max(less):.3f} | "
              f"{sum(x > 1.1 for x in more)} of {len(more)} | {max(more):.3f} |")
    above = [row for row in rows if options.limit and float(row["to_more"]) > options.limit]
    for row in above:
        print(f"above {options.limit}: {row}", file=sys.stderr)
    sys.exit(1 if above else 0)


if __name__ == "__main__":
    main()
