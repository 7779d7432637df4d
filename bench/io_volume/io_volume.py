#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes that schedulers move through one memory in virtual time, against lower bounds; one CSV line per simulation, tables on standard output.

  bench/io_volume/io_volume.py --bin build/bin
  bench/io_volume/io_volume.py --quick --parts factorizations --schedulers darts,superblock --output quick.csv
"""
import argparse
import concurrent.futures
import csv
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "figures"))

from simulate import Simulations  # noqa: E402

FRACTIONS = [2, 4, 8, 16]  # memory is the working set divided by these
TILE = 960
TILE_BYTES = 8 * TILE * TILE
COPIES = HERE / "platforms"
COLUMNS = ["part", "case", "platform", "tiles", "graph_seed", "fraction", "memory_bytes", "memory_tiles", "scheduler", "eviction", "depth",
           "bytes_loaded", "bytes_written", "compulsory_written", "times_bound", "times_symmetric_bound", "times_ab_bound", "times_written",
           "gflops", "upper_bound_gflops", "seconds", "tasks", "wall_seconds"]


class Factorization:
    """A tiled algorithm, with its bounds in tiles; n tiles per row, m tiles in memory."""

    def __init__(self, working_set, written, bound, symmetric=None, operands=None):
        self.working_set, self.written, self.bound, self.symmetric, self.operands = working_set, written, bound, symmetric, operands


# GEMM: Smith et al. 2019; LU: Olivry et al. 2019. Cholesky: the bound of orders that do not use the symmetry of the products; the symmetric one is
# smaller by the square root of 2 (Beaumont et al. 2022). References are in linalg/algorithms/io_bounds.hpp.
GEMM = Factorization(lambda n: 3 * n * n, lambda n: n * n, lambda n, m: max(2 * n**3 / math.sqrt(m), 3 * n * n),
                     operands=lambda n, m: 2 * n**3 / math.sqrt(m))
LU = Factorization(lambda n: n * n, lambda n: n * n, lambda n, m: max(2 * n**3 / (3 * math.sqrt(m)), n * n))
CHOLESKY = Factorization(lambda n: n * (n + 1) // 2, lambda n: n * (n + 1) // 2, lambda n, m: max(n**3 / (3 * math.sqrt(m)), n * n / 2),
                         symmetric=lambda n, m: n**3 / (3 * math.sqrt(2 * m)))
KINDS = {"gemm": GEMM, "lu": LU, "cholesky": CHOLESKY}

FACTORIZATIONS = [("lu", 24), ("lu", 48), ("lu", 96), ("lu-left", 48), ("cholesky", 24), ("cholesky", 48), ("cholesky", 96), ("cholesky-left", 48),
                  ("gemm", 48), ("gemm-outer", 48)]
QUICK = [("lu", 24), ("lu-left", 24), ("cholesky", 24), ("cholesky-left", 24), ("gemm", 24), ("gemm-outer", 24)]

# Name: platform, options. Only trees have tasks for cores.
OTHERS = {"stencil 2-D": ("v100x1", {"algorithm": "stencil", "tiles": 24, "iterations": 16}),
          "stencil 3-D": ("v100x1", {"algorithm": "stencil", "dimensions": 3, "tiles": 8, "tile": 96, "iterations": 16}),
          "stencil-z": ("v100x1", {"algorithm": "stencil-z", "tiles": 32, "iterations": 16}),
          "tree": ("h200x1", {"algorithm": "tree", "tiles": 16}),
          "tree-ldlt": ("h200x1", {"algorithm": "tree-ldlt", "tiles": 16}),
          "gemm": ("v100x1", {"algorithm": "gemm", "tiles": 24}),
          "lu-left": ("v100x1", {"algorithm": "lu-left", "tiles": 24}),
          "cholesky-left": ("v100x1", {"algorithm": "cholesky-left", "tiles": 24})}
# Generator: tiles, memory. In `random` two layers of 24 are alive, so that nothing is evicted unless memory is small.
RANDOM = {"random": (24, [16, 32]), "random-dag": (24, [4, 8])}
# Algorithm, divisor of the working set: 0 is the whole memory of the platform, which holds everything.
TIMES = [("cholesky", 48, 0), ("cholesky", 48, 4), ("cholesky", 48, 16), ("lu", 48, 0), ("lu", 48, 16)]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "io_volume.csv")
    parser.add_argument("--table", type=pathlib.Path, help="write the tables to this file instead of standard output")
    parser.add_argument("--parts", nargs="+", choices=["factorizations", "times", "others", "random"],
                        default=["factorizations", "times", "others", "random"])
    parser.add_argument("--schedulers", help="as granary-simulate's --scheduler (default: planned, superblock, darts, dmdar, eager as far as they exist)")
    parser.add_argument("--depth", help="depth of factorizations, others and random (default: the platform's, which is 4)")
    parser.add_argument("--depths", default="4,16,64", help="depths of the times, besides each scheduler's own; dmdas, the comparison in memory, has its own only")
    parser.add_argument("--seeds", type=int, default=50, help="random graphs of each generator")
    parser.add_argument("--extra", default="", help="more options of granary-simulate, KEY=VALUE or KEY, separated by spaces")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--quick", action="store_true", help="24 tiles, 5 random graphs, no times")
    arguments = parser.parse_args()
    listed = subprocess.run([arguments.bin / "granary-simulate", "--list"], stdout=subprocess.PIPE, check=True, text=True).stdout
    known = re.search(r"^schedulers:(.*)$", listed, re.MULTILINE).group(1).split()
    arguments.algorithms = re.search(r"^algorithms:(.*)$", listed, re.MULTILINE).group(1).split()
    defaults = [name for name in ["planned", "superblock", "darts", "dmdar", "eager"] if name in known]
    arguments.schedulers = arguments.schedulers.split(",") if arguments.schedulers else defaults
    arguments.extra = {key: value if equals else True for key, equals, value in (word.partition("=") for word in arguments.extra.split())}
    if arguments.quick:
        arguments.seeds = min(arguments.seeds, 5)
        arguments.parts = [part for part in arguments.parts if part != "times"]
    return arguments


class Job:
    """One simulation; `row` has the columns that are known before, `options` are those of granary-simulate."""

    def __init__(self, row, options, kind=None):
        self.row, self.options, self.kind = row, options, kind


def factorizations(arguments):
    for (algorithm, tiles) in QUICK if arguments.quick else FACTORIZATIONS:
        kind = KINDS[algorithm.split("-")[0]]
        for fraction in FRACTIONS:
            for scheduler in arguments.schedulers:
                yield Job({"part": "factorizations", "case": algorithm, "tiles": tiles, "fraction": fraction, "memory_tiles": kind.working_set(tiles) / fraction},
                          {"platform": COPIES / "v100x1.json", "algorithm": algorithm, "tiles": tiles, "tile": TILE, "memory": 1 / fraction,
                           "scheduler": scheduler, **depth_option(arguments.depth), "no_bounds": True}, kind)


def others(arguments):
    for name, (platform, problem) in OTHERS.items():
        for fraction in FRACTIONS[:3]:
            for scheduler in with_darts(arguments):
                yield Job({"part": "others", "case": name, "tiles": problem["tiles"], "fraction": fraction},
                          {"platform": COPIES / f"{platform}.json", "tile": TILE, **problem, "memory": 1 / fraction, "scheduler": scheduler,
                           **depth_option(arguments.depth), "no_bounds": True})


def random(arguments):
    for generator, (tiles, fractions) in RANDOM.items():
        if generator not in arguments.algorithms:
            continue
        for seed in range(1, arguments.seeds + 1):
            for fraction in fractions:
                for scheduler in with_darts(arguments):
                    yield Job({"part": "random", "case": generator, "tiles": tiles, "graph_seed": seed, "fraction": fraction},
                              {"platform": COPIES / "v100x1.json", "algorithm": generator, "tiles": tiles, "tile": TILE, "graph_seed": seed,
                               "memory": 1 / fraction, "scheduler": scheduler, **depth_option(arguments.depth), "no_bounds": True})


def times(arguments):
    for algorithm, tiles, fraction in TIMES:
        kind = KINDS[algorithm]
        for platform in [COPIES / "v100x1.json", "v100x1"]:
            for scheduler in arguments.schedulers + ([] if fraction else ["dmdas"]):
                for depth in [""] + ([] if scheduler == "dmdas" else arguments.depths.split(",")):
                    memory = {"memory": 1 / fraction} if fraction else {}
                    yield Job({"part": "times", "case": algorithm, "tiles": tiles, "fraction": fraction or "", "depth": depth,
                               "platform": "shipped" if platform == "v100x1" else "copy"},
                              {"platform": platform, "algorithm": algorithm, "tiles": tiles, "tile": TILE, **memory, "scheduler": scheduler,
                               **depth_option(depth)}, kind)


def depth_option(depth):
    return {"depth": depth} if depth else {}


def with_darts(arguments):
    return arguments.schedulers if "darts" in arguments.schedulers else [*arguments.schedulers, "darts"]


def simulate(simulations, arguments, number, job):
    options = {"precision": "d", **job.options, **arguments.extra}
    name = f"run{number}"
    trace = simulations.folder / f"{name}.trace.json"
    if job.kind is GEMM:
        options["trace"] = trace
    run = simulations.runs(name, **options)[0]
    loaded, written = run["bytes_host_to_device"], run["bytes_device_to_host"]
    row = {**job.row, "scheduler": job.options["scheduler"], "eviction": run["eviction"], "depth": job.row.get("depth", run["depth"]),
           "platform": job.row.get("platform", pathlib.Path(job.options["platform"]).stem), "memory_bytes": run["memory_bytes"],
           "bytes_loaded": loaded, "bytes_written": written, "gflops": round(run["gflops"], 1),
           "upper_bound_gflops": round(run["upper_bound_gflops"], 1), "seconds": run["seconds"], "tasks": run["tasks"], "wall_seconds": run["wall_seconds"]}
    if job.kind:
        n, memory = job.row["tiles"], row["memory_bytes"] / TILE_BYTES
        row["compulsory_written"] = job.kind.written(n) * TILE_BYTES
        row["times_bound"] = round(loaded / TILE_BYTES / job.kind.bound(n, memory), 4)
        row["times_written"] = round(written / row["compulsory_written"], 4)
        if job.kind.symmetric:
            row["times_symmetric_bound"] = round(loaded / TILE_BYTES / job.kind.symmetric(n, memory), 4)
        if job.kind.operands:
            row["times_ab_bound"] = round(operand_tiles(trace) / job.kind.operands(n, memory), 4)
            trace.unlink()
    return row


def operand_tiles(trace):
    """Tiles of A and B in the transfers of a trace: they are only read, so that all these are loads."""
    transfer = re.compile(r'"name": ?"[AB]\(\d+, \d+\)".*"cat": ?"transfer"')
    with open(trace) as lines:
        return sum(len(transfer.findall(line)) for line in lines)


# Tables: one line per case, one number per memory, as "1/2 1/4 1/8 1/16".

def key(row):
    return row["case"], row["tiles"]


def groups(rows, by):
    result = {}
    for row in rows:
        result.setdefault(by(row), []).append(row)
    return result


def factorization_tables(rows):
    schedulers = list(dict.fromkeys(row["scheduler"] for row in rows))
    for title, column in [("Bytes loaded / bound", "times_bound"), ("Bytes loaded / symmetric bound", "times_symmetric_bound"),
                          ("Bytes of A and B loaded / 2N³/√M", "times_ab_bound"), ("Bytes written / compulsory", "times_written")]:
        chosen = [row for row in rows if row.get(column) not in (None, "")]
        if not chosen:
            continue
        yield from head(f"{title}; memory in tiles at 1/2, 1/4, 1/8, 1/16 of the working set", ["case (m)", *schedulers])
        for (case, tiles), group in groups(chosen, key).items():
            memories = "/".join(dict.fromkeys(str(math.ceil(row["memory_tiles"])) for row in group))
            cells = [" ".join(number(row[column]) for row in group if row["scheduler"] == scheduler) for scheduler in schedulers]
            yield line([f"{case} {tiles} ({memories})", *cells])


def submission_orders_table(rows):
    """Bytes of the second order of submission over those of the first."""
    first = {(row["case"], row["tiles"], row["fraction"], row["scheduler"]): row["bytes_loaded"] for row in rows}
    schedulers = list(dict.fromkeys(row["scheduler"] for row in rows))
    yield from head("Bytes loaded, other order of submission / first; memory 1/2, 1/4, 1/8, 1/16", ["orders", *schedulers])
    for case, tiles in dict.fromkeys(key(row) for row in rows):
        base = case.split("-")[0]
        if base == case or not any(group[:2] == (base, tiles) for group in first):
            continue
        cells = [" ".join(f"{first[case, tiles, fraction, scheduler] / first[base, tiles, fraction, scheduler]:.2f}" for fraction in FRACTIONS)
                 for scheduler in schedulers]
        yield line([f"{case} / {base} {tiles}", *cells])


def ratios_tables(rows, title, by):
    """Bytes loaded, and bytes loaded and written, over those of darts."""
    darts = {identity(row): row for row in rows if row["scheduler"] == "darts"}
    schedulers = [name for name in dict.fromkeys(row["scheduler"] for row in rows) if name != "darts"]
    for what, columns in {"loaded": ["bytes_loaded"], "loaded and written": ["bytes_loaded", "bytes_written"]}.items():
        moved = {id(row): sum(row[column] for column in columns) for row in rows}
        pairs = [(row, ratio(moved[id(row)], moved[id(darts[identity(row)])])) for row in rows if row["scheduler"] != "darts"]
        yield from ratios_table(pairs, schedulers, f"Bytes {what} / darts', {title}", by)


def ratios_table(pairs, schedulers, title, by):
    yield from head(title, ["case", *[f"{name}: mean (worst)" for name in schedulers]])
    lines = list(dict.fromkeys(by(row) for row, _ in pairs))
    for name in [*lines, None]:
        cells = []
        for scheduler in schedulers:
            found = [(value, row) for row, value in pairs if row["scheduler"] == scheduler and name in (None, by(row))]
            worst, row = max(found, key=lambda pair: pair[0])
            mean = math.exp(sum(math.log(value) for value, _ in found) / len(found))
            above = sum(value > 1.03 for value, _ in found)
            cells.append(f"{mean:.2f} ({worst:.2f} at 1/{row['fraction']}{seed(row)}; {above} of {len(found)} above 1.03)")
        yield line([name or "all", *cells])


def ratio(moved, of_darts):
    """Graphs without initial data may need no load at all: a tile is added to both."""
    return (moved + TILE_BYTES) / (of_darts + TILE_BYTES)


def seed(row):
    return f", seed {row['graph_seed']}" if row.get("graph_seed") else ""


def identity(row):
    return row["case"], row.get("graph_seed"), row["fraction"]


def times_table(rows):
    schedulers = list(dict.fromkeys(row["scheduler"] for row in rows))
    depths = list(dict.fromkeys(row["depth"] for row in rows))
    yield from head(f"GFlop/s (fraction of the bound; GB loaded) at depths {', '.join(depth or 'own' for depth in depths)}",
                    ["case", "memory", "platform", "bound", *schedulers])
    for (case, tiles, fraction, platform), group in groups(rows, lambda row: (*key(row), row["fraction"], row["platform"])).items():
        cells = ["; ".join(f"{row['gflops']:.0f} ({row['gflops'] / row['upper_bound_gflops']:.3f}; {row['bytes_loaded'] / 1e9:.0f})" for row in group
                           if row["scheduler"] == scheduler) or "–" for scheduler in schedulers]
        yield line([f"{case} {tiles}", f"1/{fraction}" if fraction else "all", platform, f"{group[0]['upper_bound_gflops']:.0f}", *cells])


def number(value):
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def head(title, columns):
    return ["", f"**{title}**", "", line(columns), line(["---"] * len(columns)).replace(" ", "")]


def line(cells):
    return "| " + " | ".join(cells) + " |"


def tables(rows):
    part = {name: [row for row in rows if row["part"] == name] for name in ("factorizations", "times", "others", "random")}
    lines = []
    if part["factorizations"]:
        lines += [*factorization_tables(part["factorizations"]), *submission_orders_table(part["factorizations"])]
    if part["times"]:
        lines += times_table(part["times"])
    if part["others"]:
        lines += ratios_tables(part["others"], "geometric mean over memory 1/2, 1/4, 1/8", lambda row: f"{row['case']} {row['tiles']}")
    if part["random"]:
        lines += ratios_tables(part["random"], "geometric mean over random graphs",
                               lambda row: f"{row['case']} {row['tiles']}, 1/{row['fraction']}")
    return "\n".join(lines).strip() + "\n"


def main():
    arguments = parse()
    makers = {"factorizations": factorizations, "times": times, "others": others, "random": random}
    jobs = [job for part in arguments.parts for job in makers[part](arguments)]
    with tempfile.TemporaryDirectory() as folder:
        simulations = Simulations((arguments.bin / "granary-simulate").resolve(), folder)
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            rows = list(pool.map(lambda pair: simulate(simulations, arguments, *pair), enumerate(jobs)))
    with arguments.output.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, COLUMNS)
        table.writeheader()
        table.writerows(rows)
    text = tables(rows)
    if arguments.table:
        arguments.table.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
