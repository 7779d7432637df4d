#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and times granary on a GPU. Writes one CSV line, with the exact command, per measurement.

  bench/gpu/gpu.py --build build-cuda --output bench/gpu/h200.csv

The build must use a Kokkos with the GPU's backend; or be a folder that bench/gpu/pack.sh made from one, for a machine
without a build. Nothing is built. Without a device nothing is written and the exit status is 1. It is also 1 if
a check failed or a measurement is missing; these are listed at the end. Sections, in this order, with --seconds as the
limit of the total time:
  check      potrf, getrf and potri of small matrices, double and float, in memory and out of it
  in-core    the same of large ones, against the vendor's solver on the same data
  out        potrf (or --out-operation) in double with memory for 1/2, 1/4 and 1/8 of the matrix, scheduler by scheduler
  gaps       between kernels of one lane, from a trace of nsys
  tests      the tests with label device
  sanitizer  small factorizations and inverses, and tasks of an application, under compute-sanitizer
  beyond     getrf of a matrix that exceeds the device's physical memory
A line has the device's peak, the traffic, the used fraction of the link's bandwidth, and the reached fraction
of the larger of two lower bounds of the time: the vendor's rate in core and the link.
"""
import argparse
import csv
import itertools
import json
import math
import os
import pathlib
import shlex
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

COLUMNS = ["section", "operation", "n", "precision", "tile", "scheduler", "lanes", "device", "device_limit_bytes", "device_peak_bytes",
           "seconds", "gflops", "residual", "vendor_gflops", "vendor_with_input_gflops", "ratio", "of_in_core",
           "from_host_bytes", "to_host_bytes", "link_utilisation", "bound_fraction", "median_gap_us", "command"]
LANES = 2
WORKSPACES = LANES * 2**20  # of runs with small limits
OPERATIONS = ["potrf", "getrf", "potri"]
SECTIONS = ["check", "in-core", "out", "gaps", "tests", "sanitizer", "beyond"]


class Session:
    def __init__(self, arguments):
        self.bench = arguments.build / "bin" / "gpu_bench"
        self.tests = arguments.build / "tests" / "bin"
        self.arguments = arguments
        self.missing = []
        self.end = time.monotonic() + arguments.seconds
        self.environment = dict(os.environ)
        if (arguments.build / "lib").is_dir():  # made by pack.sh
            known = [str(arguments.build / "lib"), os.environ.get("LD_LIBRARY_PATH")]
            self.environment["LD_LIBRARY_PATH"] = ":".join(filter(None, known))
        self.environment.setdefault("GRANARY_STALL_TIMEOUT", "10")  # a run that hangs says where
        self.rates = known_rates(arguments.output)

    def run(self, command, **kwargs):
        """The completed command; None if there was no time for it, or if it took two minutes."""
        left = self.end - time.monotonic()
        if left <= 0:
            return None
        print("$", shlex.join(map(str, command)), flush=True)
        try:
            return subprocess.run([str(part) for part in command], check=False, timeout=min(left, 120), env=self.environment, **kwargs)
        except subprocess.TimeoutExpired:
            return None

    def succeeds(self, what, command, **kwargs):
        done = self.run(command, **kwargs)
        if done is None or done.returncode != 0:
            self.miss(what, "no time was left" if done is None else f"status {done.returncode}")
            return None
        return done

    def miss(self, what, why):
        self.missing.append(f"{what}: {why}")
        print("missing:", self.missing[-1], flush=True)

    def write(self, row):
        new = not self.arguments.output.exists()
        with self.arguments.output.open("a", newline="", encoding="utf-8") as stream:
            table = csv.DictWriter(stream, COLUMNS, extrasaction="ignore")
            if new:
                table.writeheader()
            table.writerow(row)

    def command(self, operation, n, precision, tile, scheduler, memory=0, repeat=1, vendor=False):
        command = [self.bench, "--operation", operation, "--n", n, "--precision", precision, "--tile", tile, "--scheduler", scheduler,
                   "--repeat", repeat, "--devices", self.arguments.devices, "--device-lanes", LANES]
        command += ["--device-memory", memory] if memory else []
        return command + (["--vendor"] if vendor else [])

    def measure(self, section, *arguments, **options):
        command = self.command(*arguments, **options)
        text = shlex.join(["gpu_bench", *map(str, command[1:])])
        done = self.succeeds(f"{section}: {text}", command, stdout=subprocess.PIPE, text=True)
        if done is None:
            return
        row = derived(json.loads(done.stdout), self.rates, in_core=section == "in-core")
        row.update(section=section, command=text)
        self.write(row)
        print({key: row[key] for key in COLUMNS if row.get(key) not in (None, "") and key != "command"}, flush=True)


def known_rates(output):
    """flop/s by (operation, precision) from an earlier run's in-core lines: the vendor's and granary's best."""
    rates = {}
    if output.exists():
        with output.open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                if row["section"] == "in-core":
                    remember(rates, row, float(row["vendor_gflops"]) * 1e9, float(row["gflops"]) * 1e9)
    return rates


def remember(rates, row, vendor, ours):
    known = rates.setdefault((row["operation"], row["precision"]), {"vendor": 0, "ours": 0})
    known["vendor"], known["ours"] = max(known["vendor"], vendor), max(known["ours"], ours)


def derived(line, rates, in_core=False):
    """The columns of a CSV line from a line of gpu_bench; stores rates in core, the reference of other lines."""
    row = dict(line)
    flops, seconds = line["flops"], line["seconds"]
    row["gflops"] = flops / seconds * 1e-9
    if "vendor_solver_seconds" in line:
        solver, moved = line["vendor_solver_seconds"], line["vendor_to_device_seconds"]
        row["vendor_gflops"] = flops / solver * 1e-9
        row["vendor_with_input_gflops"] = flops / (solver + moved) * 1e-9
        row["ratio"] = (solver + moved) / seconds
        if in_core:
            remember(rates, line, flops / solver, flops / seconds)
    known = rates.get((line["operation"], line["precision"]))
    if known and not in_core:
        row["of_in_core"] = flops / seconds / known["ours"]
    transfer = max(line["from_host_bytes"] / line["to_device_bytes_per_second"], line["to_host_bytes"] / line["to_host_bytes_per_second"])
    row["link_utilisation"] = transfer / seconds
    if known:
        row["bound_fraction"] = max(flops / known["vendor"], transfer) / seconds
    return row


def small(session, n, tile, part, what, prefix=()):
    """Factorizations and inverses with memory for this fraction of the matrix, which fail if the residual is too large."""
    for operation, (precision, size) in itertools.product(session.arguments.operation, [("double", 8), ("float", 4)]):
        memory = WORKSPACES + n * n * size // part if part > 1 else 0
        command = session.command(operation, n, precision, tile, "darts", memory=memory)
        text = f"{what}: {shlex.join(map(str, command))}"
        done = session.run([*prefix, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done is None or done.returncode != 0:
            session.miss(text, "no time was left" if done is None else f"status {done.returncode}\n{done.stdout[-4000:]}")


def check(session):
    for n, tile, part in [(1, 96, 1), (97, 96, 1), (300, 32, 3), (900, 96, 3), (2000, 96, 1), (2000, 96, 3), (5000, 512, 1)]:
        small(session, n, tile, part, "check")


def in_core(session):
    options = session.arguments
    for precision, operation in itertools.product(["double", "float"], options.operation):
        for tile, scheduler in itertools.product(options.tile, options.in_core_scheduler):
            session.measure("in-core", operation, options.n, precision, tile, scheduler, repeat=options.repeat, vendor=True)


def out(session):
    options = session.arguments
    for operation, part in itertools.product(options.out_operation, options.part):
        for scheduler in options.scheduler:
            session.measure("out", operation, options.n, "double", options.tile[0], scheduler, memory=options.n**2 * 8 // part,
                            repeat=options.repeat)


def gaps_of(database):
    """The gaps in microseconds between one kernel's end and the next one's start on each stream of an export of nsys."""
    with sqlite3.connect(database) as connection:
        rows = connection.execute('SELECT deviceId, streamId, start, "end" FROM CUPTI_ACTIVITY_KIND_KERNEL '
                                  "ORDER BY deviceId, streamId, start").fetchall()
    return [max(0, later[2] - earlier[3]) / 1000 for earlier, later in itertools.pairwise(rows) if earlier[:2] == later[:2]]


def gaps(session):
    tool = shutil.which("nsys")
    if tool is None:
        session.miss("gaps", "there is no nsys to trace with")
        return
    with tempfile.TemporaryDirectory() as folder:
        n, tile = min(session.arguments.n, 20480), session.arguments.tile[0]
        command = [tool, "profile", "--trace", "cuda", "--sample", "none", "--export", "sqlite", "--output", f"{folder}/trace",
                   *session.command("potrf", n, "double", tile, "darts", repeat=2)]
        if session.succeeds("gaps: the traced run", command, stdout=subprocess.DEVNULL) is None:
            return
        exported = pathlib.Path(folder) / "trace.sqlite"
        found = gaps_of(exported) if exported.exists() else []
    if not found:
        session.miss("gaps", "the trace has no kernels")
        return
    row = {"section": "gaps", "operation": "potrf", "n": n, "precision": "double", "tile": tile, "scheduler": "darts", "lanes": LANES,
           "median_gap_us": statistics.median(found), "command": shlex.join(map(str, command))}
    session.write(row)
    print(row, flush=True)


def tests(session):
    for name in ["test_device_kernels", "test_device"]:
        session.succeeds(f"tests: {name}", [session.tests / name])


def sanitizer(session):
    tool = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
    if tool is None:
        session.miss("sanitizer", "there is no compute-sanitizer")
        return
    for checks in ["memcheck", "racecheck"]:
        prefix = [tool, "--tool", checks, "--error-exitcode", "1"]
        small(session, 300, 32, 3, f"sanitizer: {checks}", prefix)
        session.succeeds(f"sanitizer: {checks}: tasks", [*prefix, session.tests / "test_device", "--gtest_filter=OnDevice.*"])


def beyond(session):
    device = session.devices[0]
    n = int(math.sqrt(device["memory_bytes"] * 1.05 / 8)) // 1024 * 1024 + 1024
    host = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if n * n * 8 > 0.9 * host:
        session.miss("beyond", f"a matrix of order {n} takes {n * n * 8} bytes, which the host's {host} bytes do not hold")
        return
    session.measure("beyond", "getrf", n, "double", session.arguments.tile[0], session.arguments.scheduler[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--output", type=pathlib.Path, required=True, help="CSV; lines are appended")
    parser.add_argument("--section", nargs="+", choices=SECTIONS, default=SECTIONS)
    parser.add_argument("--operation", nargs="+", choices=OPERATIONS, default=OPERATIONS, help="of check, in-core and sanitizer")
    parser.add_argument("--out-operation", nargs="+", choices=OPERATIONS, default=["potrf"])
    parser.add_argument("--n", type=int, default=40960)
    parser.add_argument("--tile", nargs="+", type=int, default=[2048, 4096])
    parser.add_argument("--scheduler", nargs="+", default=["darts", "superblock", "dmdar", "dmdas", "heft", "prio", "lws"])
    parser.add_argument("--in-core-scheduler", nargs="+", default=["prio"])
    parser.add_argument("--part", nargs="+", type=int, default=[4, 2, 8], help="out: memory for 1/PART of the matrix")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--devices", default="0", help="devices of granary; the vendor's solver uses device 0 (default: 0)")
    parser.add_argument("--seconds", type=float, default=540, help="time limit; later measurements are missing (default: 540)")
    session = Session(parser.parse_args())
    if not session.bench.exists():
        sys.exit(f"{session.bench} does not exist: build it first")
    listed = subprocess.run([session.bench, "--list"], check=False, capture_output=True, text=True, env=session.environment)
    if listed.returncode != 0:
        sys.exit(f"nothing was measured: {listed.stderr.strip()}")
    session.devices = [json.loads(line) for line in listed.stdout.splitlines()]
    print(listed.stdout, end="", flush=True)
    run = {"check": check, "in-core": in_core, "out": out, "gaps": gaps, "tests": tests, "sanitizer": sanitizer, "beyond": beyond}
    for section in [name for name in SECTIONS if name in session.arguments.section]:
        run[section](session)
    if session.missing:
        sys.exit("\n".join(["missing or failed:", *session.missing]))


if __name__ == "__main__":
    main()
