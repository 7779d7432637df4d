#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedulers on machines with several devices, and `auto`, in virtual time: GFlop/s, bytes, part of the upper bound; one CSV line per simulation,
tables on standard output.

  bench/policies/auto.py --bin build/bin
  bench/policies/auto.py --bin build/bin --cases v100x4 --schedulers planned,auto --output few.csv

`auto_before.csv` has, for each case, the fastest scheduler before `planned` shared tasks between devices.
"""
import argparse
import csv
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "figures"))

from simulate import run_all, write_rows  # noqa: E402

COPIES = HERE.parent / "io_volume" / "platforms"
SCHEDULERS = ["auto", "planned", "superblock", "darts", "dmdas", "heteroprio", "laheteroprio"]
# Those that `auto` simulates.
CANDIDATES = ["planned", "superblock", "darts", "dmdas", "heteroprio", "laheteroprio"]
COLUMNS = ["case", "platform", "scheduler", "gflops", "upper_bound_gflops", "bytes", "seconds", "tasks", "simulated_tasks", "remark"]
# The cases of bench/simulator/against_starpu.py: GPUs, tiles, memory of each.
STARPU = {"1 GPU x2": (1, 24, "527MiB"), "1 GPU x4": (1, 24, "263MiB"), "4 GPUs x0.5": (4, 32, "928MiB"), "4 GPUs x2": (4, 32, "232MiB"),
          "4 GPUs x4": (4, 32, "116MiB")}


def cases():
    """Name, platform ("copy" or "shipped"), options of granary-simulate."""
    for kind, path in (("copy", lambda name: COPIES / f"{name}.json"), ("shipped", lambda name: name)):
        for algorithm, tiles in (("cholesky", 32), ("lu", 32), ("gemm", 24)):
            problem = {"algorithm": algorithm, "tiles": tiles, "tile": 1920, "precision": "d"}
            yield f"v100x4 {algorithm} {tiles}, 1/4", kind, {"platform": path("v100x4"), **problem, "memory": 0.25}
            for platform in ("v100x4", "h200x8"):
                yield f"{platform} {algorithm} {tiles}", kind, {"platform": path(platform), **problem}
        yield "k40x4 tree", kind, {"platform": path("k40x4"), "algorithm": "tree", "tiles": 36, "tile": 512, "precision": "d"}
    sirocco = {"platform": "sirocco", "cpus": 0, "algorithm": "cholesky", "tile": 960, "precision": "s"}
    yield "sirocco, 4 GPUs, 24 tiles", "shipped", {**sirocco, "gpus": 4, "tiles": 24}
    for priorities in ("bottom-level", "starpu"):
        for name, (gpus, tiles, memory) in STARPU.items():
            yield f"sirocco, {name}, {priorities}", "shipped", {**sirocco, "gpus": gpus, "tiles": tiles, "memory": memory, "priorities": priorities}
    mirage = {"platform": "mirage", "gpus": 3, "cpus": 9, "algorithm": "cholesky", "tile": 960, "precision": "s"}
    for tiles in (8, 12, 16, 20, 24, 28, 32):
        yield f"mirage, {tiles} tiles", "shipped", {**mirage, "tiles": tiles}
        yield f"mirage, {tiles} tiles, 1/4", "shipped", {**mirage, "tiles": tiles, "memory": 0.25}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "auto.csv")
    parser.add_argument("--schedulers", default=",".join(SCHEDULERS))
    parser.add_argument("--cases", default="", help="those whose names contain this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    return parser.parse_args()


def simulate(simulations, number, case, scheduler):
    name, kind, options = case
    run, = simulations.runs(f"run{number}", **options, scheduler=scheduler)
    counters = run["counters"]
    return {"case": name, "platform": kind, "scheduler": scheduler, "gflops": round(run["gflops"], 1),
            "upper_bound_gflops": round(run["upper_bound_gflops"], 1), "bytes": run["bytes_total"], "seconds": run["seconds"],
            "tasks": run["tasks"], "simulated_tasks": counters.get("simulated tasks", ""), "remark": run.get("chosen", "")}


def read_before():
    with open(HERE / "auto_before.csv", newline="") as file:
        return {(row["case"], row["platform"]): row for row in csv.DictReader(file)}


def cell(row):
    return f"{row['gflops']:.0f} ({row['bytes'] / 1e9:.0f})"


def table(rows, schedulers, kind, before):
    """GFlop/s and, in parentheses, GB; `bound`: the best of `planned` and `auto` as a part of the upper bound."""
    print(f"\nPlatforms: {kind}. GFlop/s (GB)\n")
    print("| case | before | " + " | ".join(schedulers) + " | auto / before | auto / best candidate | planned / bound |")
    print("|---|---|" + "---|" * (len(schedulers) + 3))
    worst_before, worst_candidate = 9.0, 9.0
    for name in dict.fromkeys(row["case"] for row in rows if row["platform"] == kind):
        runs = {row["scheduler"]: row for row in rows if row["case"] == name and row["platform"] == kind}
        old = before.get((name, kind))
        texts = [f"{float(old['gflops']):.0f} {old['scheduler']}" if old else ""] + [cell(runs[s]) if s in runs else "" for s in schedulers]
        auto = runs.get("auto")
        to_before = auto["gflops"] / float(old["gflops"]) if auto and old else None
        candidates = [runs[s]["gflops"] for s in CANDIDATES if s in runs]
        to_candidate = auto["gflops"] / max(candidates) if auto and candidates else None
        worst_before = min(worst_before, to_before or 9)
        worst_candidate = min(worst_candidate, to_candidate or 9)
        planned = runs.get("planned")
        part = planned["gflops"] / planned["upper_bound_gflops"] if planned and planned["upper_bound_gflops"] else None
        texts += [f"{value:.3f}" if value else "" for value in (to_before, to_candidate, part)]
        print(f"| {name} | " + " | ".join(texts) + " |")
    print(f"\nleast: auto / before {worst_before:.3f}, auto / best candidate {worst_candidate:.3f}")


def main():
    arguments = parse()
    schedulers = arguments.schedulers.split(",")
    chosen = [case for case in cases() if arguments.cases in case[0]]
    jobs = [(case, scheduler) for case in chosen for scheduler in schedulers]
    rows = run_all(arguments.bin / "granary-simulate", jobs, simulate, arguments.jobs)
    write_rows(arguments.output, COLUMNS, rows)
    before = read_before()
    for kind in ("copy", "shipped"):
        table(rows, schedulers, kind, before)


if __name__ == "__main__":
    main()
