#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factors matrices on disk with granary-cholesky under emulated limits, simulates the same with granary-simulate on a platform file that is made of
what the runs measured, and compares the bytes that crossed the disk's link; one CSV line per case. docs/simulate.md says what the comparison rests on.

  bench/simulator/engine_against_simulator.py --bin build/bin --directory /some/disk --output bench/simulator/engine_against_simulator.csv
"""
import argparse
import csv
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "linalg"))
from machine import machine  # noqa: E402

COLUMNS = ["n", "tile", "memory_limit_bytes", "disk_bandwidth", "workers", "scheduler", "eviction", "depth", "runs", "engine_bytes_read",
           "engine_bytes_written", "engine_bytes", "engine_bytes_min", "engine_bytes_max", "engine_seconds", "seeds", "jitter",
           "simulated_bytes_read", "simulated_bytes_written", "simulated_bytes", "simulated_bytes_min", "simulated_bytes_max", "simulated_seconds", "ratio",
           "cpu", "cores", "memory", "kernel"]
DISK_WIDTH = 4  # copies that the runtime has under way on the disk at once, each way
FLOPS = {"potrf": lambda b: b**3 / 3, "trsm": lambda b: b**3, "syrk": lambda b: b * b * (b + 1), "gemm": lambda b: 2 * b**3}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--directory", type=pathlib.Path, default=pathlib.Path("."), help="where matrices and factors lie")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="CSV; lines are appended")
    parser.add_argument("--cases", nargs="+", default=["8192:100", "12288:150"], help="N:MEMORY, the limit in megabytes")
    parser.add_argument("--tile", type=int, default=512)
    parser.add_argument("--schedulers", nargs="+", default=["eager", "dmdas", "darts", "superblock"])
    parser.add_argument("--depth", nargs="+", type=int, default=[2, 4])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--disk-megabytes", type=int, default=600, help="the emulated disk's bandwidth, in MB/s, below the real one's")
    parser.add_argument("--runs", type=int, default=5, help="of the engine; the median of their bytes counts")
    parser.add_argument("--seeds", type=int, default=5, help="of the simulation")
    parser.add_argument("--jitter", type=float, default=0.05)
    return parser.parse_args()


class Engine:
    """Runs granary-cholesky with performance models of its own."""

    def __init__(self, arguments, directory):
        self.arguments = arguments
        self.directory = pathlib.Path(directory)
        self.environment = {**os.environ, "GRANARY_MODELS": str(self.directory / "models")}

    def matrix(self, n):
        path = self.directory / f"A{n}.h5"
        if not path.exists():
            subprocess.run([self.arguments.bin / "granary-matrix", "generate", "spd", str(n), path,
                            "--tile", str(self.arguments.tile)], check=True,
                           stdout=subprocess.DEVNULL)
        return path

    def factor(self, n, megabytes, scheduler, depth):
        factor, summary = self.directory / "L.h5", self.directory / "run.json"
        command = [self.arguments.bin / "granary-cholesky", self.matrix(n), factor, "--memory", f"{megabytes}MB", "--tile", str(self.arguments.tile),
                   "--scheduler", scheduler, "--depth", str(depth), "--workers", str(self.arguments.workers),
                   "--disk-bandwidth", f"{self.arguments.disk_megabytes}MB/s", "--json", summary, "--quiet"]
        subprocess.run(command, check=True, env=self.environment)
        run = json.loads(summary.read_text(encoding="utf-8"))
        factor.unlink()
        summary.unlink()
        return run

    def models(self):
        (path,) = (self.directory / "models").glob("*/models.json")
        return json.loads(path.read_text(encoding="utf-8"))


def kernel_times(models, tile):
    """Seconds by codelet for full tiles: the mean of the class of sizes that they fall in, the nearest one that was measured."""
    times = {}
    for codelet, flops_of in FLOPS.items():
        flops = flops_of(tile)
        known = [k for k in models["kernels"] if k["codelet"] == codelet and k["variant"] == "d" and k["kind"] == "cpu"]
        nearest = min(known, key=lambda k: abs(k["flops"] * 2**(1 / 16) - flops))
        times[codelet] = [[flops, nearest["seconds_per_flop"] * flops]]
    return times


def disk_links(models, megabytes):
    """The runtime's links to and from the disk, in its order: as measured, no faster than the emulated disk."""
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
            "kernels": {"d": {codelet: {"cpu": times} for codelet, times in kernel_times(models, arguments.tile).items()}}}


def simulate(arguments, directory, models, run, megabytes):
    """What this run of the engine would be in virtual time, with the kernel times that it measured."""
    file, result = pathlib.Path(directory) / "platform.json", pathlib.Path(directory) / "simulated.json"
    file.write_text(json.dumps(platform(models, arguments, megabytes), indent=1), encoding="utf-8")
    subprocess.run([arguments.bin / "granary-simulate", "--platform", file, "--algorithm", "cholesky", "--priorities", "library",
                    "--tiles", str(run["n"] // arguments.tile), "--tile", str(arguments.tile), "--precision", "d", "--memory", f"{megabytes}MB",
                    "--depth", str(run["depth"]), "--scheduler", run["scheduler"], "--eviction", run["eviction"],
                    "--seeds", str(arguments.seeds), "--jitter", str(arguments.jitter), "--no-bounds", "--json", result, "--force"],
                   check=True, stdout=subprocess.DEVNULL)
    (simulated,) = json.loads(result.read_text(encoding="utf-8"))
    return simulated


def median(runs, key):
    return statistics.median_low([run[key] for run in runs])


def compare(arguments, engine, case):
    n, megabytes = (int(part) for part in case.split(":"))
    if n % arguments.tile != 0:
        sys.exit(f"{n} is no multiple of the tile {arguments.tile}: kernel times are measured for full tiles")
    engine.factor(n, megabytes, arguments.schedulers[0], arguments.depth[0])  # so that no run that counts starts without models
    for scheduler, depth in itertools.product(arguments.schedulers, arguments.depth):
        real, virtual = [], []
        for _ in range(arguments.runs):
            real.append(engine.factor(n, megabytes, scheduler, depth))
            real[-1]["bytes"] = real[-1]["bytes_read"] + real[-1]["bytes_written"]
            virtual.append(simulate(arguments, engine.directory, engine.models(), real[-1], megabytes))
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
    new = not arguments.output.exists()
    print(f"{'n':>6} {'memory':>7} {'scheduler':<12} {'depth':>5} {'engine GB':>10} {'(least-most)':>15} {'simulated GB':>12} {'(least-most)':>15} {'ratio':>6}"
          f" {'engine s':>9} {'simulated s':>11}")
    with tempfile.TemporaryDirectory(dir=arguments.directory) as directory, arguments.output.open("a", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, COLUMNS)
        if new:
            table.writeheader()
        engine = Engine(arguments, directory)
        for case in arguments.cases:
            for row in compare(arguments, engine, case):
                table.writerow(row)
                stream.flush()
                spread = f"({row['engine_bytes_min'] / 1e9:.3f}-{row['engine_bytes_max'] / 1e9:.3f})"
                virtual = f"({row['simulated_bytes_min'] / 1e9:.3f}-{row['simulated_bytes_max'] / 1e9:.3f})"
                print(f"{row['n']:>6} {row['memory_limit_bytes'] // 10**6:>5}MB {row['scheduler']:<12} {row['depth']:>5} {row['engine_bytes'] / 1e9:>10.3f}"
                      f" {spread:>15} {row['simulated_bytes'] / 1e9:>12.3f} {virtual:>15} {row['ratio']:>6.3f} {row['engine_seconds']:>9.2f}"
                      f" {row['simulated_seconds']:>11.2f}", flush=True)


if __name__ == "__main__":
    main()
