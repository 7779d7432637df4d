#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Section VI of the Memory paper (Sergent, Goudin, Thibault, Aumage 2016) in virtual time: a Cholesky factorization of
tiles that grow, with and without control of what submitted tasks book. One CSV line per simulation.

  bench/distributed/subscription.py --bin build/bin --output bench/distributed/subscription.csv

Stated, and not fitted: the platform `tera100`, whose memory has no limit here; first sizes of a tenth of a dense tile,
which grow by a factor of 1 to 2; the priorities of granary::potrf; the paper's thresholds. Setup 1 is the matrix of 201k
in tiles of 512. Setup 2 is that of 450k, in tiles of 1024 instead of 512: an eighth of the tasks. More sections have
lower thresholds than the paper's, and both matrices in 100 tiles per row, which take seconds. Node 1 is the one that the
paper shows; it has no tile of the diagonal.
"""
import argparse
import csv
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

COLUMNS = ["section", "processes", "tiles", "tile", "booking", "sleep_gb", "wakeup_gb", "seconds", "cpu_hours", "host_gb_most",
           "host_gb_least", "host_gb_node_1", "booked_gb_most", "booked_gb_node_1", "sleeps", "gb_sent", "wall_seconds", "command"]
CORES = 8


def cases():
    """Section, processes, tiles, tile, booking, SLEEP and WAKEUP in GB (0: none)."""
    for booking, sleep, wakeup in (("none", 0, 0), ("paper", 20, 18)):
        yield "setup 1", 9, 393, 512, booking, sleep, wakeup
    for sleep in (12, 10, 8):
        yield "setup 1, lower", 9, 393, 512, "paper", sleep, 0.9 * sleep
    for processes in (16, 25, 36, 49, 64, 81):
        for booking, sleep, wakeup in (("none", 0, 0), ("paper", 18, 16)):
            yield "setup 2", processes, 440, 1024, booking, sleep, wakeup
            if processes <= 36:
                yield "setup 2, 100 tiles", processes, 100, 4500, booking, sleep, wakeup
    for sleep in (0, 20, 12, 10, 8):
        yield "setup 1, 100 tiles", 9, 100, 2010, "paper" if sleep else "none", sleep, 0.9 * sleep
    for sleep in (0, 1.6, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2):
        yield "thresholds", 9, 120, 512, "paper" if sleep else "none", sleep, 0.9 * sleep


def simulate(program, section, processes, tiles, tile, booking, sleep, wakeup):
    options = ["--platform", "tera100", "--algorithm", "cholesky-growing", "--precision", "z", "--processes", processes, "--tiles",
               tiles, "--tile", tile, "--scheduler", "prio", "--no-bounds", "--booking", booking]
    if sleep > 0:
        options += ["--booking-sleep", f"{sleep:g}GB", "--booking-wakeup", f"{wakeup:g}GB"]
    command = ["granary-simulate", *map(str, options)]
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "run.json"
        done = subprocess.run([program, *command[1:], "--json", result], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True)
        if done.returncode != 0:
            sys.exit(f"{shlex.join(command)}: {done.stderr.splitlines()[0]}")
        run = json.loads(result.read_text(encoding="utf-8"))[0]
    host = [process["host_bytes_peak"] / 1e9 for process in run["of_processes"]]
    return {"section": section, "processes": processes, "tiles": tiles, "tile": tile, "booking": booking, "sleep_gb": sleep or "",
            "wakeup_gb": f"{wakeup:g}" if wakeup else "", "seconds": f"{run['seconds']:.1f}",
            "cpu_hours": f"{run['seconds'] * processes * CORES / 3600:.1f}", "host_gb_most": f"{max(host):.2f}",
            "host_gb_least": f"{min(host):.2f}", "host_gb_node_1": f"{host[1]:.2f}", "booked_gb_most": f"{run['booked_bytes_peak'] / 1e9:.2f}",
            "booked_gb_node_1": f"{run['of_processes'][1]['booked_bytes_peak'] / 1e9:.2f}",
            "sleeps": run["submission_sleeps"], "gb_sent": f"{run['bytes_sent'] / 1e9:.0f}",
            "wall_seconds": f"{run['wall_seconds']:.0f}", "command": shlex.join(command)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--output", type=pathlib.Path, required=True, help="CSV; it is replaced")
    parser.add_argument("--only", nargs="+", help="sections")
    arguments = parser.parse_args()
    with arguments.output.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, COLUMNS)
        table.writeheader()
        for case in cases():
            if arguments.only and case[0] not in arguments.only:
                continue
            line = simulate(arguments.bin.resolve() / "granary-simulate", *case)
            table.writerow(line)
            stream.flush()
            print({key: value for key, value in line.items() if key != "command"}, flush=True)


if __name__ == "__main__":
    main()
