#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factors a matrix on emulated devices whose memories together hold a quarter of it and whose links are throttled, with granary-cholesky, and simulates
each run with granary-simulate on a platform file that is generated from the run's measurements; one CSV line per number of devices and scheduler: bytes by kind of
link, seconds, and the CPU time of the process. docs/devices.md describes the emulation, docs/simulate.md the method of the comparison.

  bench/devices/devices.py --bin build/bin --directory /some/disk --output bench/devices/devices.csv
"""
import argparse
import itertools
import pathlib
import sys
import tempfile

bench = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(bench / "linalg"), str(bench / "support")]
from engine_runs import DISK_WIDTH, Engine, add_arguments, kernel_times, median, require_full_tiles, table  # noqa: E402
from machine import machine  # noqa: E402

KINDS = ["read", "written", "to_device", "between_devices", "from_device"]
COLUMNS = (["n", "tile", "devices", "lanes", "device_memory_bytes", "link_bandwidth", "disk_bandwidth", "scheduler", "eviction", "depth", "runs"]
           + [f"engine_bytes_{kind}" for kind in KINDS] + ["engine_bytes", "engine_bytes_min", "engine_bytes_max"]
           + ["engine_seconds", "engine_seconds_min", "engine_seconds_max", "engine_cpu_seconds", "seeds", "jitter"]
           + [f"simulated_bytes_{kind}" for kind in KINDS] + ["simulated_bytes", "simulated_seconds", "bytes_ratio", "seconds_ratio"]
           + ["cpu", "cores", "memory", "kernel"])
DEVICE_WIDTH = 2  # copies in flight on a device's link
DEVICE_ISSUE = 2  # tasks issued to each lane


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, tile=128, schedulers=["eager", "lws", "dmdas", "dmdar", "darts", "superblock"], runs=3)
    parser.add_argument("--n", type=int, default=2048)
    parser.add_argument("--devices", nargs="+", type=int, default=[1, 2, 4])
    parser.add_argument("--lanes", type=int, default=1, help="lanes of each device")
    parser.add_argument("--share", type=float, default=0.25, help="share of the lower triangle's tiles that fit in the memories of all devices together")
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--link-megabytes", type=int, default=15, help="bandwidth of each link of a device, in MB/s")
    parser.add_argument("--disk-megabytes", type=int, default=400, help="the emulated disk's bandwidth, in MB/s, below the real one's")
    parser.add_argument("--real-time", action="store_true", help="run under chrt -r 20, for a machine that others also use")
    arguments = parser.parse_args()
    require_full_tiles(arguments.n, arguments.tile)
    return arguments


def device_memory(arguments, devices):
    """Bytes of each device: whole tiles."""
    rows = arguments.n // arguments.tile
    tiles = int(arguments.share * rows * (rows + 1) / 2 / devices)
    return tiles * arguments.tile**2 * 8


def factor(engine, devices, scheduler):
    """The run's report. Models are separate for each number of devices, because devices share the machine's cores."""
    arguments = engine.arguments
    options = ["--memory", "2GiB", "--workers", "0", "--devices", f"host:{devices}", "--device-lanes", str(arguments.lanes),
               "--device-memory", str(device_memory(arguments, devices)), "--link-bandwidth", f"{arguments.link_megabytes}MB/s",
               "--scheduler", scheduler, "--depth", str(arguments.depth)]
    run = engine.factor(arguments.n, options, f"models-{devices}", ["chrt", "-r", "20"] if arguments.real_time else [])
    return {**run, **engine_bytes(run)}


def kind_of_link(source, target):
    """The kind, of KINDS, of a link between nodes of these names."""
    if source == "disk":
        return "read"
    if target == "disk":
        return "written"
    if source.startswith("device"):
        return "between_devices" if target.startswith("device") else "from_device"
    return "to_device"


def bytes_by_kind(links):
    result = dict.fromkeys(KINDS, 0)
    for link in links:
        result[kind_of_link(link["from"], link["to"])] += link["bytes"]
    return {**result, "bytes": sum(result.values())}


def platform(models, arguments, devices):
    """The same machine as the runtime's (runtime/setup/machine.hpp), in the same order."""
    disk = {"bandwidth": arguments.disk_megabytes * 1e6, "width": DISK_WIDTH, "buses": ["disk"]}
    links = [{"from": "host memory", "to": "disk", **disk}, {"from": "disk", "to": "host memory", **disk}]
    names = [f"device {d}" for d in range(devices)]
    pairs = [pair for name in names for pair in (("host memory", name), (name, "host memory"))] + list(itertools.permutations(names, 2))
    links += [{"from": source, "to": target, "bandwidth": arguments.link_megabytes * 1e6, "width": DEVICE_WIDTH, "in_order": True} for source, target in pairs]
    return {"name": "emulated", "source": "bench/devices/devices.py, on " + machine()["cpu"], "device_issue": DEVICE_ISSUE,
            "nodes": [{"name": "host memory", "kind": "host", "capacity": 2**31}, {"name": "disk", "kind": "disk"},
                      *({"name": name, "kind": "device", "capacity": device_memory(arguments, devices)} for name in names)],
            "buses": [{"name": "disk", "bandwidth": disk["bandwidth"]}], "links": links,
            "workers": [{"name": f"{name} lane", "node": name, "kind": "device", "count": arguments.lanes} for name in names],
            "kernels": {"d": kernel_times(models, arguments.tile, "device")}}


def simulate(engine, run, devices):
    """Simulates this run of the engine with the kernel times that it measured."""
    simulated = engine.simulate(run, platform(engine.models(f"models-{devices}"), engine.arguments, devices))
    return {"seconds": simulated["seconds"], **bytes_by_kind(simulated["links"])}


def engine_bytes(run):
    """The bytes in a run's report, by KINDS."""
    result = {"read": run["bytes_read"], "written": run["bytes_written"], "to_device": run["bytes_host_to_devices"],
              "between_devices": run["bytes_device_to_device"], "from_device": run["bytes_devices_to_host"]}
    return {**result, "bytes": sum(result.values())}


def measure(arguments, engine, devices, scheduler):
    real, virtual = [], []
    for _ in range(arguments.runs):
        real.append(factor(engine, devices, scheduler))
        virtual.append(simulate(engine, real[-1], devices))
    totals, seconds = [run["bytes"] for run in real], [run["seconds"] for run in real]
    row = {"n": arguments.n, "tile": arguments.tile, "devices": devices, "lanes": arguments.lanes,
           "device_memory_bytes": device_memory(arguments, devices), "link_bandwidth": arguments.link_megabytes * 10**6,
           "disk_bandwidth": arguments.disk_megabytes * 10**6, "scheduler": scheduler,
           "eviction": real[0]["eviction"], "depth": real[0]["depth"], "runs": len(real), "engine_bytes": median(real, "bytes"),
           "engine_bytes_min": min(totals), "engine_bytes_max": max(totals), "engine_seconds": round(median(real, "seconds"), 3),
           "engine_seconds_min": round(min(seconds), 3), "engine_seconds_max": round(max(seconds), 3),
           "engine_cpu_seconds": round(median(real, "cpu_seconds"), 3), "seeds": arguments.seeds, "jitter": arguments.jitter,
           "simulated_bytes": median(virtual, "bytes"), "simulated_seconds": round(median(virtual, "seconds"), 3), **machine()}
    for kind in KINDS:
        row[f"engine_bytes_{kind}"] = median(real, kind)
        row[f"simulated_bytes_{kind}"] = median(virtual, kind)
    row["bytes_ratio"] = round(row["engine_bytes"] / row["simulated_bytes"], 3)
    row["seconds_ratio"] = round(row["engine_seconds"] / row["simulated_seconds"], 3)
    return row


def main():
    arguments = parse()
    print(f"{'devices':>7} {'scheduler':<12} {'to devices':>10} {'between':>8} {'back':>7} {'all GB':>7} {'simulated':>9} {'ratio':>6} {'seconds':>8}"
          f" {'simulated':>9} {'ratio':>6} {'CPU s':>7}")
    with tempfile.TemporaryDirectory(dir=arguments.directory) as directory, table(arguments.output, COLUMNS) as append:
        engine = Engine(arguments, directory)
        for devices in arguments.devices:
            factor(engine, devices, arguments.schedulers[0])  # so that all counted runs start with models
            for scheduler in arguments.schedulers:
                row = measure(arguments, engine, devices, scheduler)
                append(row)
                gigabytes = [row[f"engine_bytes_{kind}"] / 1e9 for kind in ("to_device", "between_devices", "from_device")]
                print(f"{devices:>7} {scheduler:<12} {gigabytes[0]:>10.3f} {gigabytes[1]:>8.3f} {gigabytes[2]:>7.3f} {row['engine_bytes'] / 1e9:>7.3f}"
                      f" {row['simulated_bytes'] / 1e9:>9.3f} {row['bytes_ratio']:>6.3f} {row['engine_seconds']:>8.2f} {row['simulated_seconds']:>9.2f}"
                      f" {row['seconds_ratio']:>6.3f} {row['engine_cpu_seconds']:>7.2f}", flush=True)


if __name__ == "__main__":
    main()
