#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factors matrices on disk with granary-cholesky under emulated limits, simulates the same with granary-simulate on a platform file from
the runs' measurements, and compares the bytes on the disk's link; one CSV line per case. docs/simulate.md describes the method.

  bench/simulator/engine_against_simulator.py --bin build/bin --directory /some/disk --output bench/simulator/engine_against_simulator.csv
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

COLUMNS = ["n", "tile", "memory_limit_bytes", "disk_bandwidth", "workers", "scheduler", "eviction", "depth", "runs", "engine_bytes_read",
           "engine_bytes_written", "engine_bytes", "engine_bytes_min", "engine_bytes_max", "engine_seconds", "seeds", "jitter",
           "simulated_bytes_read", "simulated_bytes_written", "simulated_bytes", "simulated_bytes_min", "simulated_bytes_max", "simulated_seconds", "ratio",
           "cpu", "cores", "memory", "kernel"]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, tile=512, schedulers=["eager", "dmdas", "darts", "superblock"], runs=5)
    parser.add_argument("--cases", nargs="+", default=["8192:100", "12288:150"], help="N:MEMORY, the limit in megabytes")
    parser.add_argument("--depth", nargs="+", type=int, default=[2, 4])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--disk-megabytes", type=int, default=600, help="the emulated disk's bandwidth, in MB/s, below the real one's")
    return parser.parse_args()


def factor(engine, n, megabytes, scheduler, depth):
    run = engine.factor(n, ["--memory", f"{megabytes}MB", "--scheduler", scheduler, "--depth", str(depth), "--workers", str(engine.arguments.workers)])
    return {**run, "bytes": run["bytes_read"] + run["bytes_written"]}


def disk_links(models, megabytes):
    """The runtime's links to and from the disk, in its order: as measured, at most as fast as the emulated disk."""
    def speed(of_disk):
        (link,) = [l for l in models["links"] if of_disk(l)]
        return min(link["bytes_per_second"], megabytes * 1e6), link["latency_seconds"]
    write = speed(lambda l: l["to"].startswith("disk"))
    read = speed(lambda l: l["from"].startswith("disk"))
    link = {"width": DISK_WIDTH, "buses": ["disk"]}
    return max(write[0], read[0]), [
        {"from": "host memory", "to": "disk", "bandwidth": write[0], "latency": write[1], **link},
        {"from": "disk", "to": "host memory", "bandwidth": read[0], "latency": read[1], **link}]


def platform(models, arguments, megabytes):
    bus, links = disk_links(models, arguments.disk_megabytes)
    return {"name": "measured", "source": "bench/simulator/engine_against_simulator.py, on " + machine()["cpu"],
            "nodes": [{"name": "host memory", "kind": "host", "capacity": megabytes * 10**6}, {"name": "disk", "kind": "disk"}],
            "buses": [{"name": "disk", "bandwidth": bus}], "links": links,
            "workers": [{"name": "core", "node": "host memory", "kind": "cpu", "count": arguments.workers}],
            "kernels": {"d": kernel_times(models, arguments.tile, "cpu")}}


def compare(arguments, engine, case):
    n, megabytes = (int(part) for part in case.split(":"))
    require_full_tiles(n, arguments.tile)
    factor(engine, n, megabytes, arguments.schedulers[0], arguments.depth[0])  # so that all counted runs start with models
    for scheduler, depth in itertools.product(arguments.schedulers, arguments.depth):
        real, virtual = [], []
        for _ in range(arguments.runs):
            real.append(factor(engine, n, megabytes, scheduler, depth))
            virtual.append(engine.simulate(real[-1], platform(engine.models(), arguments, megabytes), ["--memory", f"{megabytes}MB"]))
        totals, simulated = [run["bytes"] for run in real], [run["bytes_total"] for run in virtual]
        yield {"n": n, "tile": arguments.tile, "memory_limit_bytes": megabytes * 10**6, "disk_bandwidth": arguments.disk_megabytes * 10**6,
               "workers": arguments.workers, "scheduler": scheduler, "eviction": real[0]["eviction"], "depth": depth, "runs": len(real),
               "engine_bytes_read": median(real, "bytes_read"), "engine_bytes_written": median(real, "bytes_written"),
               "engine_bytes": median(real, "bytes"), "engine_bytes_min": min(totals), "engine_bytes_max": max(totals),
               "engine_seconds": round(median(real, "seconds"), 3), "seeds": arguments.seeds, "jitter": arguments.jitter,
               "simulated_bytes_read": median(virtual, "bytes_host_to_device"), "simulated_bytes_written": median(virtual, "bytes_device_to_host"),
               "simulated_bytes": median(virtual, "bytes_total"), "simulated_bytes_min": min(simulated), "simulated_bytes_max": max(simulated),
               "simulated_seconds": round(median(virtual, "seconds"), 3),
               "ratio": round(median(real, "bytes") / median(virtual, "bytes_total"), 3), **machine()}


def main():
    arguments = parse()
    print(f"{'n':>6} {'memory':>7} {'scheduler':<12} {'depth':>5} {'engine GB':>10} {'(least-most)':>15} {'simulated GB':>12} {'(least-most)':>15} {'ratio':>6}"
          f" {'engine s':>9} {'simulated s':>11}")
    with tempfile.TemporaryDirectory(dir=arguments.directory) as directory, table(arguments.output, COLUMNS) as append:
        engine = Engine(arguments, directory)
        for case in arguments.cases:
            for row in compare(arguments, engine, case):
                append(row)
                spread = f"({row['engine_bytes_min'] / 1e9:.3f}-{row['engine_bytes_max'] / 1e9:.3f})"
                virtual = f"({row['simulated_bytes_min'] / 1e9:.3f}-{row['simulated_bytes_max'] / 1e9:.3f})"
                print(f"{row['n']:>6} {row['memory_limit_bytes'] // 10**6:>5}MB {row['scheduler']:<12} {row['depth']:>5} {row['engine_bytes'] / 1e9:>10.3f}"
                      f" {spread:>15} {row['simulated_bytes'] / 1e9:>12.3f} {virtual:>15} {row['ratio']:>6.3f} {row['engine_seconds']:>9.2f}"
                      f" {row['simulated_seconds']:>11.2f}", flush=True)


if __name__ == "__main__":
    main()
