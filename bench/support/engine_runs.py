# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Common parts of comparisons of the engine with the simulator: runs of granary-cholesky with separate models, simulations of them with
granary-simulate on a platform from the run's measurements, and a table to which each line is appended immediately."""
import contextlib
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys

DISK_WIDTH = 4  # copies in flight on the disk, in each direction
FLOPS = {"potrf": lambda b: b**3 / 3, "trsm": lambda b: b**3, "syrk": lambda b: b * b * (b + 1), "gemm": lambda b: 2 * b**3}


def add_arguments(parser, *, tile, schedulers, runs):
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--directory", type=pathlib.Path, default=pathlib.Path("."), help="folder of matrices and factors")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="CSV; lines are appended")
    parser.add_argument("--tile", type=int, default=tile)
    parser.add_argument("--schedulers", nargs="+", default=schedulers)
    parser.add_argument("--runs", type=int, default=runs, help="runs of the engine; the medians count")
    parser.add_argument("--seeds", type=int, default=5, help="seeds of the simulation")
    parser.add_argument("--jitter", type=float, default=0.05)


def require_full_tiles(n, tile):
    if n % tile != 0:
        sys.exit(f"{n} is not a multiple of the tile size {tile}: kernel times are measured for full tiles")


class Engine:
    """Runs granary-cholesky."""

    def __init__(self, arguments, directory):
        self.arguments = arguments
        self.directory = pathlib.Path(directory)

    def matrix(self, n):
        """A matrix of order n in a file, which is written once."""
        path = self.directory / f"A{n}.h5"
        if not path.exists():
            subprocess.run([self.arguments.bin / "granary-matrix", "generate", "spd", str(n), path, "--tile", str(self.arguments.tile)], check=True,
                           stdout=subprocess.DEVNULL)
        return path

    def factor(self, n, options, models="models", prefix=()):
        """The run's report, and its CPU time. `models` is the directory of its performance models."""
        factor, summary = self.directory / "L.h5", self.directory / "run.json"
        command = [*prefix, self.arguments.bin / "granary-cholesky", self.matrix(n), factor, "--tile", str(self.arguments.tile),
                   "--disk-bandwidth", f"{self.arguments.disk_megabytes}MB/s", *options, "--json", summary, "--quiet"]
        process = subprocess.Popen(command, env={**os.environ, "GRANARY_MODELS": str(self.directory / models)})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))} failed with {process.returncode}")
        run = json.loads(summary.read_text(encoding="utf-8"))
        factor.unlink()
        summary.unlink()
        return {**run, "cpu_seconds": usage.ru_utime + usage.ru_stime}

    def models(self, models="models"):
        (path,) = (self.directory / models).glob("*/models.json")
        return json.loads(path.read_text(encoding="utf-8"))

    def simulate(self, run, platform, options=()):
        """Simulates this run."""
        arguments = self.arguments
        file, result = self.directory / "platform.json", self.directory / "simulated.json"
        file.write_text(json.dumps(platform, indent=1), encoding="utf-8")
        subprocess.run([arguments.bin / "granary-simulate", "--platform", file, "--algorithm", "cholesky", "--priorities", "library",
                        "--tiles", str(run["n"] // arguments.tile), "--tile", str(arguments.tile), "--precision", "d", *options,
                        "--depth", str(run["depth"]), "--scheduler", run["scheduler"], "--eviction", run["eviction"],
                        "--seeds", str(arguments.seeds), "--jitter", str(arguments.jitter), "--no-bounds", "--json", result, "--force"],
                       check=True, stdout=subprocess.DEVNULL)
        (simulated,) = json.loads(result.read_text(encoding="utf-8"))
        return simulated


def kernel_times(models, tile, kind):
    """Seconds by codelet for full tiles: the mean of the nearest measured class of sizes."""
    times = {}
    for codelet, flops_of in FLOPS.items():
        flops = flops_of(tile)
        known = [k for k in models["kernels"] if k["codelet"] == codelet and k["variant"] == "d" and k["kind"] == kind]
        nearest = min(known, key=lambda k: abs(k["flops"] * 2**(1 / 16) - flops))
        times[codelet] = {kind: [[flops, nearest["seconds_per_flop"] * flops]]}
    return times


def median(runs, key):
    return statistics.median_low([run[key] for run in runs])


@contextlib.contextmanager
def table(path, columns):
    """A function that appends a row to a CSV and flushes it, so that it is kept if a later one fails."""
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, columns)
        if new:
            writer.writeheader()

        def append(row):
            writer.writerow(row)
            stream.flush()
        yield append
