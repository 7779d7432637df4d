#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and times granary on a GPU and writes a CSV with a line, and the exact command, for each measurement.

  bench/gpu/gpu.py --build build-cuda --output bench/gpu/h200.csv

The build has to be one with a Kokkos that drives the GPU. Without a device nothing is written and the exit status is 1;
it is 1, too, when some check failed or something could not be measured, which is said at the end. Sections:
  tests      ctest -L device
  sanitizer  the device tests under compute-sanitizer
  in-core    potrf and getrf, double and float, against the vendor's solver on the same data
  out        potrf in double with memory for 1/2, 1/4 and 1/8 of the matrix, scheduler by scheduler
  beyond     a matrix that exceeds the device's physical memory
  gaps       between kernels of one lane, from a trace of nsys
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

COLUMNS = ["section", "operation", "n", "precision", "tile", "scheduler", "lanes", "device", "device_limit_bytes", "device_peak_bytes",
           "seconds", "gflops", "residual", "vendor_gflops", "vendor_with_input_gflops", "ratio", "of_in_core",
           "from_host_bytes", "to_host_bytes", "link_utilisation", "bound_fraction", "median_gap_us", "command"]
SECTIONS = ["tests", "sanitizer", "in-core", "out", "beyond", "gaps"]


class Session:
    def __init__(self, arguments):
        self.bench = arguments.build / "bin" / "gpu_bench"
        self.arguments = arguments
        self.missing = []
        self.rates = {}  # (operation, precision): the vendor's flop/s, granary's in core

    def run(self, command, **kwargs):
        print("$", shlex.join(map(str, command)), flush=True)
        return subprocess.run(list(map(str, command)), check=False, **kwargs)

    def miss(self, what):
        print("missing:", what, flush=True)
        self.missing.append(what)

    def write(self, row):
        new = not self.arguments.output.exists()
        with self.arguments.output.open("a", newline="", encoding="utf-8") as stream:
            table = csv.DictWriter(stream, COLUMNS, extrasaction="ignore")
            if new:
                table.writeheader()
            table.writerow(row)

    def measure(self, section, operation, n, precision, tile, scheduler, memory=0, vendor=False):
        command = [self.bench, "--operation", operation, "--n", n, "--precision", precision, "--tile", tile, "--scheduler", scheduler,
                   "--repeat", self.arguments.repeat]
        command += ["--device-memory", memory] if memory else []
        command += ["--devices", self.arguments.devices] if self.arguments.devices else []
        command += ["--vendor"] if vendor else []
        done = self.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            self.miss(f"{section}: {shlex.join(map(str, command))} ended with {done.returncode}")
            return None
        row = derived(json.loads(done.stdout), self.rates)
        row.update(section=section, command=shlex.join(map(str, command)))
        self.write(row)
        print({key: row[key] for key in COLUMNS if row.get(key) not in (None, "") and key != "command"}, flush=True)
        return row


def derived(line, rates):
    """The columns of a CSV line from a line of gpu_bench; remembers rates that later lines are compared with."""
    row = dict(line)
    kind = (line["operation"], line["precision"])
    known = rates.setdefault(kind, {})
    flops, seconds = line["flops"], line["seconds"]
    row["gflops"] = flops / seconds * 1e-9
    if "vendor_factor_seconds" in line:
        factor, moved = line["vendor_factor_seconds"], line["vendor_to_device_seconds"]
        row["vendor_gflops"] = flops / factor * 1e-9
        row["vendor_with_input_gflops"] = flops / (factor + moved) * 1e-9
        row["ratio"] = (factor + moved) / seconds
        known["vendor"] = max(known.get("vendor", 0), flops / factor)
        known["ours"] = max(known.get("ours", 0), flops / seconds)
    elif "ours" in known:
        row["of_in_core"] = flops / seconds / known["ours"]
    if "to_device_bytes_per_second" in line:
        transfer = max(line["from_host_bytes"] / line["to_device_bytes_per_second"],
                       line["to_host_bytes"] / line["to_host_bytes_per_second"])
        row["link_utilisation"] = transfer / seconds
        if "vendor" in known:
            row["bound_fraction"] = max(flops / known["vendor"], transfer) / seconds
    return row


def tests(session):
    done = session.run(["ctest", "--test-dir", session.arguments.build, "--output-on-failure", "--label-regex", "^device$",
                        "--no-tests=error"])
    if done.returncode != 0:
        session.miss("tests: ctest -L device did not pass")


def sanitizer(session):
    tool = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
    if tool is None:
        session.miss("sanitizer: there is no compute-sanitizer")
        return
    for check in ["memcheck", "racecheck"]:
        done = session.run([tool, "--tool", check, "--error-exitcode", "1", session.arguments.build / "tests" / "bin" / "test_device"])
        if done.returncode != 0:
            session.miss(f"sanitizer: {check} found errors")


def in_core(session):
    for precision, operation in itertools.product(["double", "float"], ["potrf", "getrf"]):
        for tile, scheduler in itertools.product(session.arguments.tile, session.arguments.in_core_scheduler):
            session.measure("in-core", operation, session.arguments.n, precision, tile, scheduler, vendor=True)


def out(session):
    n = session.arguments.n
    for part in (2, 4, 8):
        for scheduler in session.arguments.scheduler:
            session.measure("out", "potrf", n, "double", session.arguments.tile[0], scheduler, memory=n * n * 8 // part)


def beyond(session):
    device = session.devices[0]
    n = int(math.sqrt(device["memory_bytes"] * 1.05 / 8)) // 1024 * 1024 + 1024
    host = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if n * n * 8 > 0.9 * host:
        session.miss(f"beyond: a matrix of order {n} takes {n * n * 8} bytes, which the host's {host} bytes do not hold")
        return
    session.measure("beyond", "potrf", n, "double", session.arguments.tile[0], session.arguments.scheduler[0])


def gaps_of(database):
    """The gaps in microseconds between one kernel's end and the next one's start on each stream of an export of nsys."""
    with sqlite3.connect(database) as connection:
        rows = connection.execute('SELECT deviceId, streamId, start, "end" FROM CUPTI_ACTIVITY_KIND_KERNEL '
                                  "ORDER BY deviceId, streamId, start").fetchall()
    return [max(0, later[2] - earlier[3]) / 1000 for earlier, later in itertools.pairwise(rows) if earlier[:2] == later[:2]]


def gaps(session):
    tool = shutil.which("nsys")
    if tool is None:
        session.miss("gaps: there is no nsys to trace with")
        return
    with tempfile.TemporaryDirectory() as folder:
        n, tile = min(session.arguments.n, 20480), session.arguments.tile[0]
        command = [tool, "profile", "--trace", "cuda", "--sample", "none", "--export", "sqlite", "--output", f"{folder}/trace", session.bench,
                   "--operation", "potrf", "--n", n, "--tile", tile, "--repeat", "2"]
        done = session.run(command, stdout=subprocess.DEVNULL)
        if done.returncode != 0:
            session.miss("gaps: the traced run failed")
            return
        found = gaps_of(f"{folder}/trace.sqlite")
    if not found:
        session.miss("gaps: the trace has no kernels")
        return
    row = {"section": "gaps", "operation": "potrf", "n": n, "precision": "double", "tile": tile, "scheduler": "darts",
           "median_gap_us": statistics.median(found), "command": shlex.join(map(str, command))}
    session.write(row)
    print(row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--output", type=pathlib.Path, required=True, help="CSV; lines are appended")
    parser.add_argument("--section", nargs="+", choices=SECTIONS, default=SECTIONS)
    parser.add_argument("--n", type=int, default=40960)
    parser.add_argument("--tile", nargs="+", type=int, default=[2048, 4096])
    parser.add_argument("--scheduler", nargs="+", default=["darts", "dmdar", "dmdas", "heft", "prio", "lws"])
    parser.add_argument("--in-core-scheduler", nargs="+", default=["prio"])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--devices", default="0", help="of granary's: the vendor's solver uses device 0 (default: 0)")
    session = Session(parser.parse_args())
    if not session.bench.exists():
        sys.exit(f"{session.bench} does not exist: build it first")
    listed = session.run([session.bench, "--list"], stdout=subprocess.PIPE, text=True)
    if listed.returncode != 0:
        sys.exit("there is no device to measure on; nothing was written")
    session.devices = [json.loads(line) for line in listed.stdout.splitlines()]
    print(listed.stdout, end="", flush=True)
    run = {"tests": tests, "sanitizer": sanitizer, "in-core": in_core, "out": out, "beyond": beyond, "gaps": gaps}
    for section in session.arguments.section:
        run[section](session)
    if session.missing:
        sys.exit("\n".join(["missing or failed:", *session.missing]))


if __name__ == "__main__":
    main()
