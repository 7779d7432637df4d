#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures how evenly factorizations use emulated devices: runs granary-cholesky and granary-lu, without and with pivoting, on devices whose memories together hold
half of the matrix and whose links are throttled; one CSV line per program and scheduler: each device's share of the total computing time, its tasks,
bytes by kind of link, seconds. docs/devices.md describes the emulation, docs/lu.md the figures.

  bench/devices/shares.py --bin build/bin --output bench/devices/shares.csv --real-time
"""
import argparse
import collections
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "linalg"))
from machine import machine  # noqa: E402

PROGRAMS = {"cholesky": ("granary-cholesky", "random", []), "lu-nopiv": ("granary-lu", "general", ["--no-pivoting"]), "lu": ("granary-lu", "general", [])}
COLUMNS = ["program", "n", "tile", "devices", "device_memory_bytes", "link_bandwidth", "scheduler", "runs", "seconds", "seconds_min", "seconds_max",
           "shares", "least_share", "tasks", "bytes_to_devices", "bytes_between_devices", "bytes_from_devices", "cpu", "cores", "memory", "kernel"]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--output", type=pathlib.Path, required=True, help="CSV; lines are appended")
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    parser.add_argument("--n", type=int, default=2048)
    parser.add_argument("--tile", type=int, default=128)
    parser.add_argument("--devices", type=int, default=4)
    parser.add_argument("--link-megabytes", type=int, default=60, help="bandwidth of each link of a device, in MB/s")
    parser.add_argument("--schedulers", nargs="+", default=["eager", "dmdas", "darts", "superblock"])
    parser.add_argument("--runs", type=int, default=3, help="the run with the median time counts")
    parser.add_argument("--real-time", action="store_true", help="run under chrt -r 20, for a machine that others also use")
    return parser.parse_args()


def shares(trace, devices):
    """Each device's share of the total computing time."""
    events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    names = {(e["pid"], e.get("tid")): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    processes = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    busy = collections.Counter()
    for event in events:
        if event["ph"] == "X" and processes[event["pid"]] == "workers":
            busy[names[event["pid"], event["tid"]].split(" lane")[0]] += event["dur"]
    return [busy[f"device {d}"] / sum(busy.values()) for d in range(devices)]


def memory_of_each(arguments):
    """Bytes of each device."""
    return arguments.n**2 // 2 // arguments.devices * 8


def run(arguments, program, scheduler, memory, directory):
    name, matrix, options = PROGRAMS[program]
    trace, summary = directory / "trace.json", directory / "run.json"
    prefix = ["chrt", "-r", "20"] if arguments.real_time else []
    subprocess.run([*prefix, arguments.bin / name, f"{matrix}:{arguments.n}", *options, "--tile", str(arguments.tile), "--workers", "0",
                    "--devices", f"host:{arguments.devices}", "--device-memory", str(memory), "--link-bandwidth", f"{arguments.link_megabytes}MB/s",
                    "--scheduler", scheduler, "--trace", trace, "--json", summary, "--quiet"], check=True, env={**os.environ, "GRANARY_MODELS": str(directory / "models")})
    return {**json.loads(summary.read_text(encoding="utf-8")), "shares": shares(trace, arguments.devices)}


def measure(arguments, program, scheduler, directory):
    memory = memory_of_each(arguments)
    runs = sorted((run(arguments, program, scheduler, memory, directory) for _ in range(arguments.runs)), key=lambda each: each["seconds"])
    middle = runs[(len(runs) - 1) // 2]
    return {"program": program, "n": arguments.n, "tile": arguments.tile, "devices": arguments.devices, "device_memory_bytes": memory,
            "link_bandwidth": arguments.link_megabytes * 10**6, "scheduler": scheduler, "runs": len(runs), "seconds": round(middle["seconds"], 3),
            "seconds_min": round(runs[0]["seconds"], 3), "seconds_max": round(runs[-1]["seconds"], 3),
            "shares": " ".join(f"{share:.3f}" for share in middle["shares"]), "least_share": round(min(middle["shares"]), 3),
            "tasks": " ".join(str(device["tasks"]) for device in middle["devices"]), "bytes_to_devices": middle["bytes_host_to_devices"],
            "bytes_between_devices": middle["bytes_device_to_device"], "bytes_from_devices": middle["bytes_devices_to_host"], **machine()}


def main():
    arguments = parse()
    new = not arguments.output.exists()
    with tempfile.TemporaryDirectory() as directory, arguments.output.open("a", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, COLUMNS)
        if new:
            table.writeheader()
        for program in arguments.programs:
            run(arguments, program, arguments.schedulers[0], memory_of_each(arguments), pathlib.Path(directory))  # so that all counted runs start with models
            for scheduler in arguments.schedulers:
                row = measure(arguments, program, scheduler, pathlib.Path(directory))
                table.writerow(row)
                stream.flush()
                gigabytes = [row[f"bytes_{way}_devices"] / 1e9 for way in ("to", "between", "from")]
                print(f"{program:<9} {scheduler:<12} {row['seconds']:>7.2f} s  shares {row['shares']}  to devices {gigabytes[0]:.3f} GB,"
                      f" between {gigabytes[1]:.3f}, back {gigabytes[2]:.3f}", flush=True)


if __name__ == "__main__":
    main()
